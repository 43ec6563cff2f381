#include "vigil/core/ops/data/dataset_resource.h"

#include <charconv>
#include <optional>
#include <system_error>

#include "vigil/core/ops/op_util.h"

namespace vigil {
namespace {

std::string NamesOf(const std::vector<DType>& types) {
  std::vector<std::string_view> names;
  for (const DType type : types) names.push_back(DTypeName(type));
  return fmt::format("[{}]", fmt::join(names, ", "));
}

struct Saved {
  std::int64_t given = 0;
  std::vector<SeedPair> seeds;
};

// nullopt: it is no state.
std::optional<Saved> Parse(const std::string& state) {
  Saved saved;
  const char* at = state.data();
  const char* const end = at + state.size();
  const auto take = [&](auto* number) {
    const auto [next, error] = std::from_chars(at, end, *number);
    at = next;
    return error == std::errc();
  };
  const auto skip = [&](char wanted) { return at != end && *at++ == wanted; };
  if (!take(&saved.given) || saved.given < 0) return std::nullopt;
  while (at != end) {
    SeedPair& seeds = saved.seeds.emplace_back();
    if (!skip(' ') || !take(&seeds.first) || !skip(',') || !take(&seeds.second)) return std::nullopt;
  }
  return saved;
}

}  // namespace

absl::Status DatasetResource::Fill(KernelContext& c, DatasetPtr dataset) {
  VIGIL_ASSIGN_OR_RETURN(DatasetResource* const mine,
                         c.resource<DatasetResource>([] { return std::make_shared<DatasetResource>(); }));
  c.set_output(0, Tensor());
  const SpinGuard lock(mine->lock_);
  std::swap(mine->dataset_, dataset);  // the old one goes after the lock
  return absl::OkStatus();
}

absl::StatusOr<DatasetPtr> DatasetResource::At(KernelContext& c, int i) {
  VIGIL_ASSIGN_OR_RETURN(const std::shared_ptr<DatasetResource> found,
                         c.resource_at<DatasetResource>(i, [] { return std::make_shared<DatasetResource>(); }));
  const SpinGuard lock(found->lock_);
  if (found->dataset_ != nullptr) return found->dataset_;
  return MakeStatus(Code::kFailedPrecondition, fmt::format("The dataset '{}' was not made.", c.holder_at(i).name));
}

std::shared_ptr<IteratorResource> IteratorResource::Make(const Env& env, const Node& holder) {
  const auto types = holder.attrs.find("output_types");
  return std::make_shared<IteratorResource>(env, std::get<std::vector<DType>>(types->second));
}

absl::StatusOr<IteratorResource*> IteratorResource::Of(KernelContext& c) {
  return c.resource<IteratorResource>([&c] { return Make(c.env(), c.holder()); });
}

absl::StatusOr<std::shared_ptr<IteratorResource>> IteratorResource::At(KernelContext& c, int i) {
  return c.resource_at<IteratorResource>(i, [&c, i] { return Make(c.env(), c.holder_at(i)); });
}

absl::Status IteratorResource::Fits(const Node& holder) const {
  const auto& wanted = std::get<std::vector<DType>>(holder.attrs.find("output_types")->second);
  if (wanted == types_) return absl::OkStatus();
  return InvalidArgument("'{}' gives elements of types {}, but the iterator of that name gives {}", holder.name,
                         NamesOf(wanted), NamesOf(types_));
}

absl::Status IteratorResource::Begin(DatasetPtr dataset) {
  if (dataset->types() != types_) {
    return InvalidArgument("Number or types of components do not match: expected {} but got {}", NamesOf(types_),
                           NamesOf(dataset->types()));
  }
  const MutexLock lock(*mutex_);
  dataset_ = std::move(dataset);
  seeds_ = dataset_->drawn();
  now_ = dataset_->Begin(seeds_);
  given_ = 0;
  return absl::OkStatus();
}

absl::Status IteratorResource::CheckBegun() const {
  if (now_ != nullptr) return absl::OkStatus();
  return MakeStatus(Code::kFailedPrecondition,
                    "GetNext() failed because the iterator has not been initialized. Ensure that you have run the "
                    "initializer operation for this iterator before getting the next element.");
}

absl::Status IteratorResource::Next(DatasetElement* element) {
  const MutexLock lock(*mutex_);
  VIGIL_RETURN_IF_ERROR(CheckBegun());
  VIGIL_ASSIGN_OR_RETURN(const bool more, now_->Next(element));
  if (!more) return MakeStatus(Code::kOutOfRange, "End of sequence");
  ++given_;
  return absl::OkStatus();
}

absl::StatusOr<std::string> IteratorResource::State() {
  const MutexLock lock(*mutex_);
  VIGIL_RETURN_IF_ERROR(CheckBegun());
  std::string state = fmt::format("{}", given_);
  for (const auto& [seed, seed2] : seeds_) state += fmt::format(" {},{}", seed, seed2);
  return state;
}

absl::Status IteratorResource::Restore(const KernelContext& run, const std::string& state) {
  const std::optional<Saved> saved = Parse(state);
  if (!saved.has_value()) return InvalidArgument("'{}' is no state of an iterator.", state);
  const std::int64_t wanted = saved->given;
  const MutexLock lock(*mutex_);
  VIGIL_RETURN_IF_ERROR(CheckBegun());
  if (!saved->seeds.empty() && saved->seeds.size() != seeds_.size()) {
    return InvalidArgument("The state has the seeds of {} datasets that shuffle, but {} were given none.",
                           saved->seeds.size(), seeds_.size());
  }
  const std::vector<SeedPair>& seeds = saved->seeds.empty() ? seeds_ : saved->seeds;  // earlier versions wrote none
  std::unique_ptr<DatasetIterator> there = dataset_->Begin(seeds);
  for (std::int64_t given = 0; given < wanted; ++given) {
    VIGIL_RETURN_IF_ERROR(run.CheckGoesOn());
    DatasetElement skipped;
    VIGIL_ASSIGN_OR_RETURN(const bool more, there->Next(&skipped));
    if (!more) return InvalidArgument("The state is behind element {}, but there are only {}.", wanted, given);
  }
  now_ = std::move(there);
  given_ = wanted;
  if (!saved->seeds.empty()) seeds_ = saved->seeds;
  return absl::OkStatus();
}

}  // namespace vigil
