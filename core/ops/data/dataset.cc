#include "vigil/core/ops/data/dataset.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/record_reader.h"
#include "vigil/core/ops/op_util.h"

namespace vigil {
namespace {

std::vector<DType> TypesOf(const std::vector<Tensor>& components) {
  std::vector<DType> types;
  for (const Tensor& component : components) types.push_back(component.dtype());
  return types;
}

// An iterator made of a function that gives the next element.
template <typename NextFn>
class FunctionIterator : public DatasetIterator {
 public:
  explicit FunctionIterator(NextFn next) : next_(std::move(next)) {}
  absl::StatusOr<bool> Next(DatasetElement* element) override { return next_(element); }

 private:
  NextFn next_;
};

template <typename NextFn>
std::unique_ptr<DatasetIterator> IteratorOf(NextFn next) {
  return std::make_unique<FunctionIterator<NextFn>>(std::move(next));
}

class RangeDataset : public Dataset {
 public:
  RangeDataset(std::int64_t start, std::int64_t stop, std::int64_t step, DType type)
      : start_(start), stop_(stop), step_(step), types_{type} {}

  std::unique_ptr<DatasetIterator> Iterate(const ShuffleSeeds& /*seeds*/) const override {
    return IteratorOf([at = std::optional(start_), stop = stop_, step = step_,
                       type = types_[0]](DatasetElement* element) mutable -> absl::StatusOr<bool> {
      if (!at.has_value() || (step > 0 ? *at >= stop : *at <= stop)) return false;
      *element = {type == DType::kInt32 ? Tensor::Scalar(static_cast<std::int32_t>(*at)) : Tensor::Scalar(*at)};
      std::int64_t next = 0;
      at = __builtin_add_overflow(*at, step, &next) ? std::nullopt : std::optional(next);
      return true;
    });
  }
  const std::vector<DType>& types() const override { return types_; }
  void AppendDrawn(std::vector<DrawnSeeds>*) const override {}

 private:
  const std::int64_t start_, stop_, step_;
  const std::vector<DType> types_;
};

class TensorDataset : public Dataset {
 public:
  TensorDataset(std::vector<Tensor> components, bool sliced)
      : components_(std::move(components)), types_(TypesOf(components_)), sliced_(sliced) {}

  std::unique_ptr<DatasetIterator> Iterate(const ShuffleSeeds& /*seeds*/) const override {
    const std::int64_t rows = sliced_ ? components_[0].shape().dim(0) : 1;
    return IteratorOf([components = components_, sliced = sliced_, rows,
                       row = std::int64_t{0}](DatasetElement* element) mutable -> absl::StatusOr<bool> {
      if (row >= rows) return false;
      element->clear();
      for (const Tensor& component : components) {
        if (!sliced) {
          element->push_back(component);
          continue;
        }
        const std::vector<std::int64_t>& dims = component.shape().dims();
        VIGIL_ASSIGN_OR_RETURN(Tensor part, Tensor::MakeUnwritten(component.dtype(), {dims.begin() + 1, dims.end()}));
        CopyElements(component, row * part.num_elements(), part, 0, part.num_elements());
        element->push_back(std::move(part));
      }
      ++row;
      return true;
    });
  }
  const std::vector<DType>& types() const override { return types_; }
  void AppendDrawn(std::vector<DrawnSeeds>*) const override {}

 private:
  const std::vector<Tensor> components_;
  const std::vector<DType> types_;
  const bool sliced_;
};

// What takes its elements from another dataset, with the same types.
class DatasetOverOne : public Dataset {
 public:
  explicit DatasetOverOne(DatasetPtr input) : input_(std::move(input)) {}
  const std::vector<DType>& types() const override { return input_->types(); }
  void AppendDrawn(std::vector<DrawnSeeds>* drawn) const override { input_->AppendDrawn(drawn); }

 protected:
  const DatasetPtr& input() const { return input_; }

 private:
  const DatasetPtr input_;
};

class RepeatDataset : public DatasetOverOne {
 public:
  RepeatDataset(DatasetPtr input, std::int64_t count) : DatasetOverOne(std::move(input)), count_(count) {}

  std::unique_ptr<DatasetIterator> Iterate(const ShuffleSeeds& seeds) const override {
    return IteratorOf([seeds, from = input(), left = count_, now = std::shared_ptr<DatasetIterator>(),
                       empty = true](DatasetElement* element) mutable -> absl::StatusOr<bool> {
      while (left != 0) {
        if (now == nullptr) {
          now = from->Iterate(seeds);
          empty = true;
        }
        VIGIL_ASSIGN_OR_RETURN(const bool more, now->Next(element));
        if (more) {
          empty = false;
          return true;
        }
        now = nullptr;
        if (left > 0) --left;
        if (empty) left = 0;
      }
      return false;
    });
  }

 private:
  const std::int64_t count_;
};

class TakeDataset : public DatasetOverOne {
 public:
  TakeDataset(DatasetPtr input, std::int64_t count) : DatasetOverOne(std::move(input)), count_(count) {}

  std::unique_ptr<DatasetIterator> Iterate(const ShuffleSeeds& seeds) const override {
    return IteratorOf([now = std::shared_ptr<DatasetIterator>(input()->Iterate(seeds)),
                       left = count_](DatasetElement* element) mutable -> absl::StatusOr<bool> {
      if (left == 0) return false;
      VIGIL_ASSIGN_OR_RETURN(const bool more, now->Next(element));
      if (more && left > 0) --left;
      return more;
    });
  }

 private:
  const std::int64_t count_;
};

class SkipDataset : public DatasetOverOne {
 public:
  SkipDataset(DatasetPtr input, std::int64_t count) : DatasetOverOne(std::move(input)), count_(count) {}

  std::unique_ptr<DatasetIterator> Iterate(const ShuffleSeeds& seeds) const override {
    return IteratorOf([now = std::shared_ptr<DatasetIterator>(input()->Iterate(seeds)),
                       left = count_](DatasetElement* element) mutable -> absl::StatusOr<bool> {
      if (left < 0) return false;
      for (; left > 0; --left) {
        VIGIL_ASSIGN_OR_RETURN(const bool more, now->Next(element));
        if (!more) return false;
      }
      return now->Next(element);
    });
  }

 private:
  const std::int64_t count_;
};

// The elements as rows of one.
absl::StatusOr<DatasetElement> Stacked(const std::vector<DatasetElement>& elements) {
  DatasetElement out;
  for (std::size_t i = 0; i < elements[0].size(); ++i) {
    const Tensor& first = elements[0][i];
    std::vector<std::int64_t> dims = first.shape().dims();
    dims.insert(dims.begin(), static_cast<std::int64_t>(elements.size()));
    VIGIL_ASSIGN_OR_RETURN(Tensor all, Tensor::MakeUnwritten(first.dtype(), std::move(dims)));
    for (std::size_t row = 0; row < elements.size(); ++row) {
      const Tensor& each = elements[row][i];
      if (each.shape() != first.shape()) {
        return InvalidArgument(
            "Cannot batch tensors with different shapes in component {}. First element had shape {} and element {} had "
            "shape {}.",
            i, first.shape().ToString(), row, each.shape().ToString());
      }
      CopyElements(each, 0, all, static_cast<std::int64_t>(row) * first.num_elements(), first.num_elements());
    }
    out.push_back(std::move(all));
  }
  return out;
}

class BatchDataset : public DatasetOverOne {
 public:
  BatchDataset(DatasetPtr input, std::int64_t size, bool drop_remainder)
      : DatasetOverOne(std::move(input)), size_(size), drop_remainder_(drop_remainder) {}

  std::unique_ptr<DatasetIterator> Iterate(const ShuffleSeeds& seeds) const override {
    return IteratorOf([now = std::shared_ptr<DatasetIterator>(input()->Iterate(seeds)),
                       size = static_cast<std::size_t>(size_), drop = drop_remainder_,
                       taken = std::vector<DatasetElement>()](DatasetElement* element) mutable -> absl::StatusOr<bool> {
      while (now != nullptr && taken.size() < size) {
        DatasetElement one;
        VIGIL_ASSIGN_OR_RETURN(const bool more, now->Next(&one));
        if (more) {
          taken.push_back(std::move(one));
        } else {
          now = nullptr;
        }
      }
      const std::vector<DatasetElement> batch = std::exchange(taken, {});  // an error of the input has left it here
      if (batch.empty() || (drop && batch.size() < size)) return false;
      VIGIL_ASSIGN_OR_RETURN(*element, Stacked(batch));
      return true;
    });
  }

 private:
  const std::int64_t size_;
  const bool drop_remainder_;
};

class RecordDataset : public Dataset {
 public:
  RecordDataset(const Env& env, std::vector<std::string> files) : env_(env), files_(std::move(files)) {}

  std::unique_ptr<DatasetIterator> Iterate(const ShuffleSeeds& /*seeds*/) const override {
    return std::make_unique<Iterator>(env_, files_);
  }
  const std::vector<DType>& types() const override { return types_; }
  void AppendDrawn(std::vector<DrawnSeeds>*) const override {}

 private:
  class Iterator : public DatasetIterator {
   public:
    Iterator(const Env& env, std::vector<std::string> files) : env_(env), files_(std::move(files)) {}

    absl::StatusOr<bool> Next(DatasetElement* element) override {
      while (true) {
        if (!reader_.has_value()) {
          if (next_ == files_.size()) return false;
          VIGIL_ASSIGN_OR_RETURN(bytes_, ReadAll(*env_.files, files_[next_]));
          ++next_;
          reader_.emplace(bytes_);
        }
        const absl::StatusOr<std::optional<std::string_view>> record = reader_->Next();
        if (record.ok() && record->has_value()) {
          *element = {Tensor::Scalar(std::string(**record))};
          return true;
        }
        const bool ended = record.ok() || reader_->header_cut_off();  // as TensorFlow's
        reader_.reset();
        if (!ended) return record.status();  // who asks again gets what the next file has
      }
    }

   private:
    const Env env_;
    const std::vector<std::string> files_;
    std::size_t next_ = 0;
    std::string bytes_;  // of the file that is read
    std::optional<RecordReader> reader_;
  };

  const Env env_;
  const std::vector<std::string> files_;
  const std::vector<DType> types_{DType::kString};
};

}  // namespace

std::unique_ptr<DatasetIterator> Dataset::Begin(const std::vector<SeedPair>& seeds) const {
  std::vector<DrawnSeeds> drawn;
  AppendDrawn(&drawn);
  VIGIL_CHECK(drawn.size() == seeds.size());
  const auto shuffles = std::make_shared<Shuffles>();
  for (std::size_t i = 0; i < seeds.size(); ++i) shuffles->seeds.emplace(drawn[i].of, seeds[i]);
  return Iterate(shuffles);
}

std::vector<SeedPair> Dataset::drawn() const {
  std::vector<DrawnSeeds> drawn;
  AppendDrawn(&drawn);
  std::vector<SeedPair> seeds;
  for (const DrawnSeeds& each : drawn) seeds.push_back(each.seeds);
  return seeds;
}

DatasetPtr MakeRangeDataset(std::int64_t start, std::int64_t stop, std::int64_t step, DType type) {
  return std::make_shared<RangeDataset>(start, stop, step, type);
}
DatasetPtr MakeTensorSliceDataset(std::vector<Tensor> components) {
  return std::make_shared<TensorDataset>(std::move(components), /*sliced=*/true);
}
DatasetPtr MakeTensorDataset(std::vector<Tensor> components) {
  return std::make_shared<TensorDataset>(std::move(components), /*sliced=*/false);
}
DatasetPtr MakeRepeatDataset(DatasetPtr input, std::int64_t count) {
  return std::make_shared<RepeatDataset>(std::move(input), count);
}
DatasetPtr MakeTakeDataset(DatasetPtr input, std::int64_t count) {
  return std::make_shared<TakeDataset>(std::move(input), count);
}
DatasetPtr MakeSkipDataset(DatasetPtr input, std::int64_t count) {
  return std::make_shared<SkipDataset>(std::move(input), count);
}
DatasetPtr MakeBatchDataset(DatasetPtr input, std::int64_t size, bool drop_remainder) {
  return std::make_shared<BatchDataset>(std::move(input), size, drop_remainder);
}
DatasetPtr MakeRecordDataset(const Env& env, std::vector<std::string> files) {
  return std::make_shared<RecordDataset>(env, std::move(files));
}

}  // namespace vigil
