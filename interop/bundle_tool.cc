// Writes and reads checkpoints as it is told on standard input, so that interop/bundles.py can hold them against
// TensorFlow's. Standard output has one line for each command. Words are separated by spaces; names and values are hex
// digits (strings: one word of digits each, joined by commas), "-" is nothing.
//
//   item NAME TYPE DIMS SLICE VALUE      one tensor of the next save; SLICE as in shape_and_slice, its spaces as "_"
//   save PREFIX | part PREFIX            "OK", or the error
//   merge PREFIX PART...                 likewise
//   load PREFIX NAME SLICE               "TYPE DIMS VALUE", or the error
//   verify PREFIX                        likewise
//   copy FROM TO                         reads all, writes the same in the same order
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/interop/words.h"

namespace vigil::interop {
namespace {

std::string SliceOf(std::string word) {
  if (word == "-") return "";
  std::ranges::replace(word, '_', ' ');
  return word;
}

absl::StatusOr<Tensor> TensorOf(int type, const std::string& dims, const std::string& value) {
  std::vector<std::int64_t> sizes;
  if (dims != "-") {
    for (const std::string& each : Split(dims, ',')) sizes.push_back(std::stoll(each));
  }
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::Make(static_cast<DType>(type), std::move(sizes)));
  if (out.num_elements() == 0) return out;
  if (out.dtype() == DType::kString) {
    const std::vector<std::string> words = Split(value, ',');
    std::ranges::transform(words, out.mutable_flat<std::string>().begin(), FromHex);
  } else {
    std::ranges::copy(FromHex(value), out.mutable_bytes().begin());
  }
  return out;
}

std::string TextOf(const Tensor& tensor) {
  std::string value = "-";
  if (tensor.dtype() != DType::kString) {
    value = ToHex(tensor.bytes());
  } else if (tensor.num_elements() > 0) {
    std::vector<std::string> words;
    for (const std::string& each : tensor.flat<std::string>()) words.push_back(ToHex(each));
    value = fmt::format("{}", fmt::join(words, ","));
  }
  const std::vector<std::int64_t>& dims = tensor.shape().dims();
  return fmt::format("{} {} {}", static_cast<int>(tensor.dtype()),
                     dims.empty() ? "-" : fmt::format("{}", fmt::join(dims, ",")), value);
}

class BundleTool {
 public:
  BundleTool() : env_(real_.env()) {}

  absl::StatusOr<std::string> Do(const std::vector<std::string>& words) {
    const std::string& command = words.at(0);
    if (command == "item") return Item(words);
    if (command == "load") return Load(words);
    if (command == "verify") return Said(VerifyBundle(*env_.files, words.at(1)));
    if (command == "merge") return Said(MergeBundles(env_, {words.begin() + 2, words.end()}, words.at(1)));
    if (command == "copy") return Said(Copy(words.at(1), words.at(2)));
    const BundleItems items = std::exchange(items_, {});
    if (command == "save") return Said(WriteBundleItems(env_, words.at(1), items));
    if (command == "part") return Said(WriteBundlePartItems(env_, words.at(1), items));
    return MakeStatus(Code::kInvalidArgument, fmt::format("no command '{}'", command));
  }

 private:
  static absl::StatusOr<std::string> Said(const absl::Status& status) {
    if (status.ok()) return "OK";
    return status;
  }

  absl::StatusOr<std::string> Item(const std::vector<std::string>& words) {
    BundleItem item{.name = FromHex(words.at(1))};
    VIGIL_ASSIGN_OR_RETURN(item.value, TensorOf(std::stoi(words.at(2)), words.at(3), words.at(5)));
    if (words.at(4) != "-") {
      VIGIL_ASSIGN_OR_RETURN(item.piece, ParseShapeAndSlice(SliceOf(words.at(4))));
    }
    items_.push_back(std::move(item));
    return "OK";
  }

  absl::StatusOr<std::string> Load(const std::vector<std::string>& words) {
    if (!reader_.has_value() || loaded_ != words.at(1)) {
      VIGIL_ASSIGN_OR_RETURN(reader_, BundleReader::Open(*env_.files, words.at(1)));
      loaded_ = words.at(1);
    }
    if (words.at(3) == "-") {
      VIGIL_ASSIGN_OR_RETURN(const Tensor whole, reader_->Read(FromHex(words.at(2))));
      return TextOf(whole);
    }
    VIGIL_ASSIGN_OR_RETURN(const TensorPiece piece, ParseShapeAndSlice(SliceOf(words.at(3))));
    VIGIL_ASSIGN_OR_RETURN(const Tensor part, reader_->Read(FromHex(words.at(2)), piece));
    return TextOf(part);
  }

  // REQUIRES: one shard, no pieces.
  absl::Status Copy(const std::string& from, const std::string& to) {
    VIGIL_ASSIGN_OR_RETURN(BundleReader reader, BundleReader::Open(*env_.files, from));
    std::vector<std::pair<std::uint64_t, std::string>> order;
    for (const auto& [key, entry] : reader.entries()) order.emplace_back(entry.offset, key);
    std::ranges::sort(order);
    BundleItems items;
    for (const auto& [offset, key] : order) {
      VIGIL_ASSIGN_OR_RETURN(Tensor value, reader.Read(key));
      items.push_back({.name = key, .value = std::move(value)});
    }
    return WriteBundleItems(env_, to, items);
  }

  RealEnv real_;
  Env env_;
  BundleItems items_;
  std::optional<BundleReader> reader_;  // of what was loaded last: nobody writes that again
  std::string loaded_;
};

}  // namespace
}  // namespace vigil::interop

int main() {
  vigil::interop::BundleTool tool;
  for (std::string line; std::getline(std::cin, line);) {
    const std::vector<std::string> words = vigil::interop::Split(line, ' ');
    const absl::StatusOr<std::string> said = tool.Do(words);
    std::string text = said.ok() ? *said
                                 : fmt::format("{}: {}", vigil::CodeName(vigil::CodeOf(said.status())),
                                               vigil::MessageOf(said.status()));
    std::ranges::replace(text, '\n', ' ');
    std::cout << text << '\n' << std::flush;
  }
  return 0;
}
