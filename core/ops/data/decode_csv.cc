// DecodeCSV: records of comma-separated values, each field a tensor of its own.
//
// A quoted field ends at a quote before a delimiter or at the end; within it, two quotes are one. Line ends are skipped
// between fields and refused within unquoted ones.
// Source: decode_csv_op.cc.
#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "absl/strings/numbers.h"
#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/registration.h"

namespace vigil {
namespace {

struct CsvFormat {
  char delimiter = ',';
  bool quotes = true;
  std::string missing;                 // a field that says this is none
  std::vector<std::int64_t> selected;  // which fields are wanted, ascending; empty: all
};

absl::StatusOr<CsvFormat> CsvFormatOf(const KernelContext& c) {
  CsvFormat format;
  const auto delimiter = c.attr_or<std::string>("field_delim", ",");
  if (delimiter.size() != 1) return InvalidArgument("field_delim should be only 1 char");
  format.delimiter = delimiter[0];
  format.quotes = c.attr_or<bool>("use_quote_delim", true);
  format.missing = c.attr_or<std::string>("na_value", "");
  format.selected = c.attr_or<std::vector<std::int64_t>>("select_cols", {});
  if (format.selected.empty()) return format;
  if (static_cast<int>(format.selected.size()) != c.num_inputs() - 1) {
    return InvalidArgument("select_cols should match output size");
  }
  if (std::ranges::adjacent_find(format.selected, std::ranges::greater_equal{}) != format.selected.end()) {
    return InvalidArgument("select_cols should be strictly increasing indices");
  }
  if (format.selected[0] < 0) return InvalidArgument("select_cols should be non-negative indices");
  return format;
}

class CsvRecord {
 public:
  CsvRecord(const CsvFormat& format, std::string_view text) : format_(format), rest_(text) {}

  // What is behind the last field that is wanted is not looked at.
  absl::Status Split(std::vector<std::string>* fields) {
    fields->clear();
    if (rest_.empty()) return absl::OkStatus();
    const bool ends_open = rest_.back() == format_.delimiter;
    while (!rest_.empty()) {
      if (rest_.front() == '\n' || rest_.front() == '\r') {
        rest_.remove_prefix(1);
        continue;
      }
      std::string field;
      VIGIL_RETURN_IF_ERROR(format_.quotes && rest_.front() == '"' ? TakeQuoted(&field) : TakePlain(&field));
      if (Add(std::move(field), fields)) return absl::OkStatus();
    }
    if (ends_open) Add("", fields);
    return absl::OkStatus();
  }

 private:
  // Whether this was the last one that is wanted.
  bool Add(std::string field, std::vector<std::string>* fields) {
    const std::int64_t number = number_++;
    if (format_.selected.empty()) {
      fields->push_back(std::move(field));
      return false;
    }
    if (format_.selected[fields->size()] != number) return false;
    fields->push_back(std::move(field));
    return fields->size() == format_.selected.size();
  }

  absl::Status TakePlain(std::string* field) {
    const std::size_t end = std::min(rest_.find(format_.delimiter), rest_.size());
    *field = rest_.substr(0, end);
    if (field->find_first_of(format_.quotes ? "\"\n\r" : "\n\r") != std::string::npos) {
      return InvalidArgument("Unquoted fields cannot have quotes/CRLFs inside");
    }
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return absl::OkStatus();
  }

  absl::Status TakeQuoted(std::string* field) {
    std::size_t at = 1;
    while (at + 1 < rest_.size() && (rest_[at] != '"' || rest_[at + 1] != format_.delimiter)) {
      if (rest_[at] == '"') {
        if (rest_[at + 1] != '"') {
          return InvalidArgument("Quote inside a string has to be escaped by another quote");
        }
        ++at;
      }
      field->push_back(rest_[at++]);
    }
    if (at >= rest_.size() || rest_[at] != '"') {
      return InvalidArgument("Quoted field has to end with quote followed by delim or end");
    }
    rest_.remove_prefix(std::min(at + 2, rest_.size()));
    return absl::OkStatus();
  }

  const CsvFormat& format_;
  std::string_view rest_;
  std::int64_t number_ = 0;
};

template <typename T>
bool ParseCsvField(const std::string& text, T* value) {
  if constexpr (std::is_same_v<T, std::string>) {
    *value = text;
    return true;
  } else if constexpr (std::is_same_v<T, float>) {
    return absl::SimpleAtof(text, value);
  } else if constexpr (std::is_same_v<T, double>) {
    return absl::SimpleAtod(text, value);
  } else {
    return absl::SimpleAtoi(text, value);
  }
}

// Writes field f of record i.
template <typename T>
absl::Status PutCsvField(const std::string& text, bool missing, const Tensor& otherwise, std::size_t f, std::size_t i,
                         Tensor& out) {
  T& element = out.mutable_flat<T>()[i];
  if (missing) {
    if (otherwise.num_elements() != 1) return InvalidArgument("Field {} is required but missing in record {}!", f, i);
    element = otherwise.flat<T>()[0];
  } else if (!ParseCsvField(text, &element)) {
    return InvalidArgument("Field {} in record {} is not a valid {}: {}", f, i, DTypeName(out.dtype()), text);
  }
  return absl::OkStatus();
}

absl::Status PutAnyCsvField(const std::string& text, bool missing, const Tensor& otherwise, std::size_t f,
                            std::size_t i, Tensor& out) {
  absl::Status status;
  if (out.dtype() == DType::kString) return PutCsvField<std::string>(text, missing, otherwise, f, i, out);
  ForNumeric(out.dtype(), [&]<typename T>() { status = PutCsvField<T>(text, missing, otherwise, f, i, out); });
  return status;
}

absl::Status DecodeCsv(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const CsvFormat format, CsvFormatOf(c));
  std::vector<Tensor> out;
  for (int i = 1; i < c.num_inputs(); ++i) {
    const Tensor& otherwise = c.input(i);
    if (otherwise.shape().rank() > 1) return InvalidArgument("Each record default should be at most rank 1");
    if (otherwise.num_elements() > 1) {
      return InvalidArgument("There should only be 1 default per field but field {} has {}", i - 1,
                             otherwise.num_elements());
    }
    VIGIL_ASSIGN_OR_RETURN(Tensor values, Tensor::Make(otherwise.dtype(), c.input(0).shape().dims()));
    out.push_back(std::move(values));
  }
  std::vector<std::string> fields;
  const auto records = c.input(0).flat<std::string>();
  for (std::size_t i = 0; i < records.size(); ++i) {
    VIGIL_RETURN_IF_ERROR(CsvRecord(format, records[i]).Split(&fields));
    if (fields.size() != out.size()) {
      return InvalidArgument("Expect {} fields but have {} in record {}", out.size(), fields.size(), i);
    }
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const bool missing = fields[f].empty() || fields[f] == format.missing;
      VIGIL_RETURN_IF_ERROR(PutAnyCsvField(fields[f], missing, c.input(static_cast<int>(f) + 1), f, i, out[f]));
    }
  }
  for (std::size_t f = 0; f < out.size(); ++f) c.set_output(static_cast<int>(f), std::move(out[f]));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DType>> DecodeCsvTypes(const Node& node, const std::vector<DType>& inputs) {
  if (inputs.size() < 2) return UsageError("'DecodeCSV' Op needs records and at least one default.");
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kString}));
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, static_cast<int>(i),
                                      {DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64, DType::kString}));
  }
  for (const std::string_view text : {"field_delim", "na_value"}) {
    VIGIL_RETURN_IF_ERROR(AllowAttr<std::string>(node, text));
  }
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, "use_quote_delim"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::vector<std::int64_t>>(node, "select_cols"));
  return std::vector<DType>(inputs.begin() + 1, inputs.end());
}

}  // namespace

void RegisterCsvOps(OpRegistry& registry) {
  registry.Register({.name = "DecodeCSV", .inputs = -1, .output_types = DecodeCsvTypes, .compute = DecodeCsv});
  registry.Imply("DecodeCSV", {{"OUT_TYPE", ImpliedAttr::Kind::kInputTypes, 1}});
}

}  // namespace vigil
