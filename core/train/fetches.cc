#include "vigil/core/train/fetches.h"

#include <fmt/format.h>

#include "vigil/core/base/check.h"

namespace vigil {

struct Fetches::Tree {
  enum class Kind { kTensor, kOp, kName, kList, kMap };
  Kind kind = Kind::kTensor;
  Output output;                         // kTensor, kOp
  std::string name;                      // kName
  std::vector<std::string> keys;         // kMap
  std::vector<Fetches> items;            // kList, kMap
  std::vector<std::size_t> first_value;  // of each item, counted in values
  std::size_t num_values = 0;
};

Fetches::Fetches(Output tensor) {
  auto tree = std::make_shared<Tree>();
  tree->output = tensor;
  tree->num_values = 1;
  tree_ = std::move(tree);
}

Fetches Fetches::Op(NodeId op) {
  auto tree = std::make_shared<Tree>();
  tree->kind = Tree::Kind::kOp;
  tree->output = {op, 0};
  return Fetches(std::move(tree));
}

Fetches Fetches::Named(std::string name) {
  auto tree = std::make_shared<Tree>();
  tree->kind = Tree::Kind::kName;
  tree->name = std::move(name);
  tree->num_values = 1;
  return Fetches(std::move(tree));
}

Fetches Fetches::List(std::vector<Fetches> items) {
  auto tree = std::make_shared<Tree>();
  tree->kind = Tree::Kind::kList;
  for (const Fetches& item : items) {
    tree->first_value.push_back(tree->num_values);
    tree->num_values += item.num_values();
  }
  tree->items = std::move(items);
  return Fetches(std::move(tree));
}

Fetches Fetches::Map(std::vector<std::pair<std::string, Fetches>> items) {
  auto tree = std::make_shared<Tree>();
  tree->kind = Tree::Kind::kMap;
  for (auto& [key, item] : items) {
    tree->first_value.push_back(tree->num_values);
    tree->num_values += item.num_values();
    tree->keys.push_back(std::move(key));
    tree->items.push_back(std::move(item));
  }
  return Fetches(std::move(tree));
}

std::size_t Fetches::num_values() const { return tree_ == nullptr ? 0 : tree_->num_values; }

void Fetches::AppendTo(const Graph& graph, RunSpec* spec) const {
  if (tree_ == nullptr) return;
  switch (tree_->kind) {
    case Tree::Kind::kTensor:
      spec->fetches.push_back(tree_->output);
      return;
    case Tree::Kind::kOp:
      spec->targets.push_back(tree_->output.node);
      return;
    case Tree::Kind::kName: {
      const std::optional<Output> found = graph.FindOutput(tree_->name);
      if (!found.has_value()) spec->unresolved.push_back(tree_->name);
      spec->fetches.push_back(found.value_or(Output{}));
      return;
    }
    case Tree::Kind::kList:
    case Tree::Kind::kMap:
      for (const Fetches& item : tree_->items) item.AppendTo(graph, spec);
      return;
  }
}

namespace {

std::string Describe(const Fetches::Tree* tree) {
  if (tree == nullptr) return "no fetches";
  switch (tree->kind) {
    case Fetches::Tree::Kind::kTensor:
    case Fetches::Tree::Kind::kName:
      return "a fetched tensor";
    case Fetches::Tree::Kind::kOp:
      return "an op, which has no value";
    case Fetches::Tree::Kind::kList:
      return fmt::format("a list of {}", tree->items.size());
    case Fetches::Tree::Kind::kMap:
      return fmt::format("a map with the keys '{}'", fmt::join(tree->keys, "', '"));
  }
  return "fetches";
}

[[noreturn]] void WrongUse(const std::string& what) {
  CheckFailed(__FILE__, __LINE__, ("there is no " + what).c_str());
}

}  // namespace

bool FetchedValues::none() const { return tree_ == nullptr || tree_->kind == Fetches::Tree::Kind::kOp; }

std::span<const Tensor> FetchedValues::flat() const {
  return tree_ == nullptr ? std::span<const Tensor>() : std::span<const Tensor>(values_, tree_->num_values);
}

bool FetchedValues::is_tensor() const {
  return tree_ != nullptr && (tree_->kind == Fetches::Tree::Kind::kTensor || tree_->kind == Fetches::Tree::Kind::kName);
}

bool FetchedValues::is_map() const { return tree_ != nullptr && tree_->kind == Fetches::Tree::Kind::kMap; }

std::string_view FetchedValues::key(std::size_t i) const {
  if (!is_map() || i >= size()) WrongUse(fmt::format("key {} of {}", i, Describe(tree_)));
  return tree_->keys[i];
}

const Tensor& FetchedValues::tensor() const& {
  if (!is_tensor()) WrongUse(fmt::format("tensor() of {}", Describe(tree_)));
  return *values_;
}

std::size_t FetchedValues::size() const { return tree_ == nullptr ? 0 : tree_->items.size(); }

FetchedValues FetchedValues::operator[](std::size_t i) const {
  if (i >= size()) WrongUse(fmt::format("item {} of {}", i, Describe(tree_)));
  return {tree_->items[i].tree(), values_ + tree_->first_value[i], owner_};
}

FetchedValues FetchedValues::operator[](std::string_view key) const {
  for (std::size_t i = 0; tree_ != nullptr && i < tree_->keys.size(); ++i) {
    if (tree_->keys[i] == key) return (*this)[i];
  }
  WrongUse(fmt::format("'{}' of {}", key, Describe(tree_)));
}

}  // namespace vigil
