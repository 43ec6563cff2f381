// What a run is asked for, nested as the caller likes, and the values that come back in the same shape.
//
//   Fetches wanted = Fetches::Map({{"step", train}, {"ops", Fetches::List({Fetches::Op(update), loss})}});
//   ... result.values()["step"].scalar<std::int64_t>();
//
// A value type that shares its immutable tree: copying allocates nothing. Thread safety: as a value.
// Source: tf.Session.run's fetches (tensor, op = no value, list, dictionary).
#ifndef VIGIL_CORE_TRAIN_FETCHES_H_
#define VIGIL_CORE_TRAIN_FETCHES_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/graph/graph.h"
#include "vigil/core/session/session.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

class Fetches {
 public:
  Fetches() = default;                     // nothing
  Fetches(Output tensor);                  // NOLINT: a tensor is a fetch
  static Fetches Op(NodeId op);            // run for its effect; its value is none
  static Fetches Named(std::string name);  // "name:index", looked up when it is run
  static Fetches List(std::vector<Fetches> items);
  static Fetches Map(std::vector<std::pair<std::string, Fetches>> items);

  bool empty() const { return tree_ == nullptr; }
  // Adds what must be fetched and run to `spec`. Names that the graph does not have become unresolved.
  void AppendTo(const Graph& graph, RunSpec* spec) const;
  // How many values AppendTo asks for.
  std::size_t num_values() const;
  friend bool operator==(const Fetches& a, const Fetches& b) { return a.tree_ == b.tree_; }  // the same object

  struct Tree;
  const Tree* tree() const { return tree_.get(); }

 private:
  explicit Fetches(std::shared_ptr<const Tree> tree) : tree_(std::move(tree)) {}
  std::shared_ptr<const Tree> tree_;
};

// A look at the values of a run, in the shape of its Fetches. What RunResult::values() gives keeps them alive; what
// hooks are given is valid as long as the run's call lasts.
class FetchedValues {
 public:
  FetchedValues() = default;  // none
  FetchedValues(const Fetches& fetches, const Tensor* values, std::shared_ptr<const void> owner = nullptr)
      : tree_(fetches.tree()), values_(values), owner_(std::move(owner)) {}

  // Nothing was asked for, or an op.
  bool none() const;
  // Whether that very object (a copy is the same one) was asked for: so a hook knows what it has asked of the run that
  // it is called for. Others may have been made since.
  bool IsOf(const Fetches& fetches) const { return tree_ == fetches.tree(); }
  // All of them, one after the other.
  std::span<const Tensor> flat() const;
  // REQUIRES: a single fetched tensor. Of a temporary (session.Run(x)->values().tensor()) it is a tensor of its own.
  const Tensor& tensor() const&;
  Tensor tensor() && { return std::as_const(*this).tensor(); }
  template <typename T>
  const T& scalar() const& {
    return tensor().template scalar<T>();
  }
  template <typename T>
  T scalar() && {
    return std::as_const(*this).template scalar<T>();
  }
  bool is_tensor() const;
  bool is_map() const;
  // Of a list or a map. REQUIRES: there is such an item (a wrong key or type ends the program, and is named).
  std::size_t size() const;
  FetchedValues operator[](std::size_t i) const;
  FetchedValues operator[](std::string_view key) const;
  // Of a map. REQUIRES: as above.
  std::string_view key(std::size_t i) const;

 private:
  FetchedValues(const Fetches::Tree* tree, const Tensor* values, std::shared_ptr<const void> owner)
      : tree_(tree), values_(values), owner_(std::move(owner)) {}
  const Fetches::Tree* tree_ = nullptr;
  const Tensor* values_ = nullptr;
  std::shared_ptr<const void> owner_;  // of both; null: somebody else sees to it
};

struct Feed {
  Output tensor;
  Tensor value;
};
using Feeds = std::vector<Feed>;

// What a run returned. Reusing one for further runs of the same fetches allocates nothing, unless somebody still looks
// at the values (they stay what they are).
class RunResult {
 public:
  // Keeps the values alive: session.Run(x)->values() may outlive the result.
  FetchedValues values() const {
    return kept_ == nullptr ? FetchedValues() : FetchedValues(kept_->fetches, kept_->values.data(), kept_);
  }
  const RunMetadata& metadata() const { return metadata_; }

  // For the session layers.
  void Set(const Fetches& fetches) { Own().fetches = fetches; }
  std::vector<Tensor>& tensors() { return Own().values; }
  RunMetadata& mutable_metadata() { return metadata_; }

 private:
  struct Kept {
    Fetches fetches;
    std::vector<Tensor> values;
  };
  Kept& Own() {
    if (kept_ == nullptr || kept_.use_count() > 1) kept_ = std::make_shared<Kept>(kept_ == nullptr ? Kept() : *kept_);
    return *kept_;
  }

  std::shared_ptr<Kept> kept_;
  RunMetadata metadata_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_FETCHES_H_
