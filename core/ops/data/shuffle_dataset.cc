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
  ShuffleDataset(DatasetPtr input, std::int64_t buffer_size, SeedPair seeds, bool reshuffle, bool drawn)
      : input_(std::move(input)), buffer_size_(buffer_size), seeds_(seeds), reshuffle_(reshuffle), drawn_(drawn) {}

  std::unique_ptr<DatasetIterator> Iterate(const ShuffleSeeds& seeds) const override {
    const auto instead = seeds->seeds.find(this);
    auto [seed, seed2] = instead == seeds->seeds.end() ? seeds_ : instead->second;
    if (reshuffle_) {
      PhiloxNumbers& numbers = seeds->numbers.try_emplace(this, Philox(seed, seed2)).first->second;
      seed = numbers.Next();
      seed2 = numbers.Next();
    }
    return std::make_unique<ShuffleIterator>(input_->Iterate(seeds), buffer_size_, seed, seed2);
  }
  const std::vector<DType>& types() const override { return input_->types(); }
  void AppendDrawn(std::vector<DrawnSeeds>* drawn) const override {
    if (drawn_) drawn->push_back({this, seeds_});
    input_->AppendDrawn(drawn);
  }

 private:
  const DatasetPtr input_;
  const std::int64_t buffer_size_;
  const SeedPair seeds_;
  const bool reshuffle_;
  const bool drawn_;
};

}  // namespace

DatasetPtr MakeShuffleDataset(DatasetPtr input, std::int64_t buffer_size, std::uint64_t seed, std::uint64_t seed2,
                              bool reshuffle, bool drawn) {
  return std::make_shared<ShuffleDataset>(std::move(input), buffer_size, SeedPair(seed, seed2), reshuffle, drawn);
}

}  // namespace vigil
