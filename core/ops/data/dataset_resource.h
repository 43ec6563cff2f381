// Where a node that stands for a dataset keeps it, and an iterator with what it goes through.
// Thread safety: safe from any task.
#ifndef VIGIL_CORE_OPS_DATA_DATASET_RESOURCE_H_
#define VIGIL_CORE_OPS_DATA_DATASET_RESOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/graph/resource.h"
#include "vigil/core/ops/data/dataset.h"

namespace vigil {

class DatasetResource : public Resource {
 public:
  static constexpr std::string_view kKind = "dataset";

  // What the node that runs stands for from now on.
  static absl::Status Fill(KernelContext& c, DatasetPtr dataset);
  // What input i refers to. INVALID_ARGUMENT for what is no dataset; FAILED_PRECONDITION if its node has not run.
  static absl::StatusOr<DatasetPtr> At(KernelContext& c, int i);

 private:
  SpinLock lock_;
  DatasetPtr dataset_;  // guarded by lock_
};

// Behind IteratorV2. Its state is how many elements it has given, and with which seeds those that were given none have
// shuffled ("12", "12 5,7 3,4"): who restores it goes through its dataset again, up to there.
class IteratorResource : public Resource {
 public:
  static constexpr std::string_view kKind = "dataset iterator";

  IteratorResource(const Env& env, std::vector<DType> types)
      : types_(std::move(types)), mutex_(env.tasks->NewMutex("iterator")) {}
  // The one that the first reference, or input i, refers to.
  static absl::StatusOr<IteratorResource*> Of(KernelContext& c);
  static absl::StatusOr<std::shared_ptr<IteratorResource>> At(KernelContext& c, int i);

  absl::Status Fits(const Node& holder) const override;

  // Begins. INVALID_ARGUMENT for elements of other types than the iterator's.
  absl::Status Begin(DatasetPtr dataset);
  // OUT_OF_RANGE at the end; FAILED_PRECONDITION if it was not begun.
  absl::Status Next(DatasetElement* element);
  // FAILED_PRECONDITION if it was not begun; INVALID_ARGUMENT for a state that is none, or is behind the end.
  absl::StatusOr<std::string> State();
  // May take as long as it took to come so far. An error leaves it where it was; CANCELLED and DEADLINE_EXCEEDED are
  // the run's.
  absl::Status Restore(const KernelContext& run, const std::string& state);

 private:
  static std::shared_ptr<IteratorResource> Make(const Env& env, const Node& holder);
  absl::Status CheckBegun() const;

  const std::vector<DType> types_;
  const std::unique_ptr<Mutex> mutex_;
  // Guarded by *mutex_.
  DatasetPtr dataset_;
  std::vector<SeedPair> seeds_;  // in place of those that were drawn for it
  std::unique_ptr<DatasetIterator> now_;
  std::int64_t given_ = 0;
};

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_DATA_DATASET_RESOURCE_H_
