// Shuffling as TensorFlow does it: a buffer that is kept full, of which a random element is given, and the first one
// takes its place.
#include <utility>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/ops/data/dataset.h"

namespace vigil {
namespace {

class ShuffleIterator : public DatasetIterator {
 public:
  ShuffleIterator(std::unique_ptr<DatasetIterator> input, std::int64_t buffer_size, std::uint64_t seed,
                  std::uint64_t seed2)
      : input_(std::move(input)), size_(static_cast<std::uint64_t>(buffer_size)), numbers_(Philox(seed, seed2)) {}

  absl::StatusOr<bool> Next(DatasetElement* element) override {
    while (input_ != nullptr && end_ - start_ < size_) {
      DatasetElement one;
      VIGIL_ASSIGN_OR_RETURN(const bool more, input_->Next(&one));
      if (!more) {
        input_ = nullptr;
        break;
      }
      const std::uint64_t place = end_++ % size_;
      if (place == buffer_.size()) {
        buffer_.push_back(std::move(one));
      } else {
        buffer_[place] = std::move(one);
      }
    }
    if (start_ == end_) return false;
    const std::uint64_t index = (start_ + numbers_.Next() % (end_ - start_)) % size_;
    *element = std::move(buffer_[index]);
    std::swap(buffer_[index], buffer_[start_++ % size_]);
    return true;
  }

 private:
  std::unique_ptr<DatasetIterator> input_;  // null: at its end
  const std::uint64_t size_;
  PhiloxNumbers numbers_;
  // A ring; as large as it was needed so far. What stands in it are the elements from start_ to end_.
  std::vector<DatasetElement> buffer_;
  std::uint64_t start_ = 0;
  std::uint64_t end_ = 0;
};

class ShuffleDataset : public Dataset {
 public:
  ShuffleDataset(DatasetPtr input, std::int64_t buffer_size, std::uint64_t seed, std::uint64_t seed2, bool reshuffle)
      : input_(std::move(input)), buffer_size_(buffer_size), seed_(seed), seed2_(seed2), reshuffle_(reshuffle) {}

  std::unique_ptr<DatasetIterator> Iterate(const ShuffleSeeds& seeds) const override {
    std::uint64_t seed = seed_;
    std::uint64_t seed2 = seed2_;
    if (reshuffle_) {
      PhiloxNumbers& numbers = seeds->try_emplace(this, Philox(seed_, seed2_)).first->second;
      seed = numbers.Next();
      seed2 = numbers.Next();
    }
    return std::make_unique<ShuffleIterator>(input_->Iterate(seeds), buffer_size_, seed, seed2);
  }
  const std::vector<DType>& types() const override { return input_->types(); }

 private:
  const DatasetPtr input_;
  const std::int64_t buffer_size_;
  const std::uint64_t seed_;
  const std::uint64_t seed2_;
  const bool reshuffle_;
};

}  // namespace

DatasetPtr MakeShuffleDataset(DatasetPtr input, std::int64_t buffer_size, std::uint64_t seed, std::uint64_t seed2,
                              bool reshuffle) {
  return std::make_shared<ShuffleDataset>(std::move(input), buffer_size, seed, seed2, reshuffle);
}

}  // namespace vigil
