// tf.data: what elements there are (a dataset) and where in them somebody is (an iterator over it).
//
// A dataset is made of the tensors of the node that stands for it, and of the datasets that it takes from. The same one
// may be gone through many times, by several at once. Thread safety: a dataset is immutable and safe from any task; an
// iterator belongs to one task at a time. Ownership: iterators keep what they go through. Source: TensorFlow's
// kernels/data (what they give for the same seeds is recorded in replays/graphs).
#ifndef VIGIL_CORE_OPS_DATA_DATASET_H_
#define VIGIL_CORE_OPS_DATA_DATASET_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/ops/random/philox.h"
#include "vigil/core/tensor/dtype.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

using DatasetElement = std::vector<Tensor>;

class DatasetIterator {
 public:
  virtual ~DatasetIterator() = default;
  // The next element into *element; false: at the end (and from then on). Errors: what the dataset's source gives, or
  // what an element that does not fit is; the iterator may be asked again.
  virtual absl::StatusOr<bool> Next(DatasetElement* element) = 0;
};

class Dataset;

using SeedPair = std::pair<std::uint64_t, std::uint64_t>;

// What was drawn for a shuffling dataset that was given no seeds.
struct DrawnSeeds {
  const Dataset* of = nullptr;
  SeedPair seeds;
};

// Of the shuffling datasets below one iterator.
struct Shuffles {
  std::map<const Dataset*, PhiloxNumbers> numbers;  // the seeds of their iterators, which come and go with repetitions
  std::map<const Dataset*, SeedPair> seeds;         // in place of those that were drawn
};
using ShuffleSeeds = std::shared_ptr<Shuffles>;

class Dataset {
 public:
  virtual ~Dataset() = default;
  // At the beginning: the same elements each time, and wherever `seeds` are the same. REQUIRES: as many as drawn().
  std::unique_ptr<DatasetIterator> Begin(const std::vector<SeedPair>& seeds) const;
  // The seeds that were drawn for it and for what it takes from, always in the same order.
  std::vector<SeedPair> drawn() const;
  virtual void AppendDrawn(std::vector<DrawnSeeds>* drawn) const = 0;
  // As a part of what goes on with these seeds.
  virtual std::unique_ptr<DatasetIterator> Iterate(const ShuffleSeeds& seeds) const = 0;
  // What an element consists of.
  virtual const std::vector<DType>& types() const = 0;
};
using DatasetPtr = std::shared_ptr<const Dataset>;

// start, start + step, ... up to (but not) stop; `type`: int64 or int32. REQUIRES: step is not 0.
DatasetPtr MakeRangeDataset(std::int64_t start, std::int64_t stop, std::int64_t step, DType type);
// The rows of the components, which go together. REQUIRES: all have the same first dimension, and at least one is.
DatasetPtr MakeTensorSliceDataset(std::vector<Tensor> components);
// The components, once.
DatasetPtr MakeTensorDataset(std::vector<Tensor> components);
// So many times; negative: for ever (what is empty stays so).
DatasetPtr MakeRepeatDataset(DatasetPtr input, std::int64_t count);
DatasetPtr MakeTakeDataset(DatasetPtr input, std::int64_t count);  // negative: all
DatasetPtr MakeSkipDataset(DatasetPtr input, std::int64_t count);  // negative: all of them
// So many elements in one, the rest in a smaller one or not at all. Elements of different shapes are INVALID_ARGUMENT.
// REQUIRES: size > 0.
DatasetPtr MakeBatchDataset(DatasetPtr input, std::int64_t size, bool drop_remainder);
// Each element is one of the next so many, in an order of its own in each repetition or (`reshuffle` false) in the same
// one. `drawn`: nobody gave these seeds. REQUIRES: buffer_size > 0.
DatasetPtr MakeShuffleDataset(DatasetPtr input, std::int64_t buffer_size, std::uint64_t seed, std::uint64_t seed2,
                              bool reshuffle, bool drawn);
// The records of these files (TFRecord), one file after the other. What is damaged is DATA_LOSS, once, and the rest of
// its file is left out.
DatasetPtr MakeRecordDataset(const Env& env, std::vector<std::string> files);

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_DATA_DATASET_H_
