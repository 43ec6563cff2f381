#include "vigil/core/ops/data/dataset_resource.h"

#include <charconv>

#include "vigil/core/ops/op_util.h"

namespace vigil {
namespace {

std::string NamesOf(const std::vector<DType>& types) {
  std::vector<std::string_view> names;
  for (const DType type : types) names.push_back(DTypeName(type));
  return fmt::format("[{}]", fmt::join(names, ", "));
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
  now_ = dataset_->Begin();
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
  return fmt::format("{}", given_);
}

absl::Status IteratorResource::Restore(const std::string& state) {
  std::int64_t wanted = 0;
  const auto [end, error] = std::from_chars(state.data(), state.data() + state.size(), wanted);
  if (error != std::errc() || end != state.data() + state.size() || wanted < 0) {
    return InvalidArgument("'{}' is no state of an iterator.", state);
  }
  const MutexLock lock(*mutex_);
  VIGIL_RETURN_IF_ERROR(CheckBegun());
  now_ = dataset_->Begin();
  for (given_ = 0; given_ < wanted; ++given_) {
    DatasetElement skipped;
    VIGIL_ASSIGN_OR_RETURN(const bool more, now_->Next(&skipped));
    if (!more) return InvalidArgument("The state is behind element {}, but there are only {}.", wanted, given_);
  }
  return absl::OkStatus();
}

}  // namespace vigil
