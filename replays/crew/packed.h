// Values as bytes, from one process to another of the same program.
//
//   template <typename Archive> void PackFields(Archive& archive, Thing& thing) { archive(thing.one, thing.other); }
//   std::string bytes = Packed(thing);   Thing same = Unpacked<Thing>(bytes);
//
// Thread safety: pure functions.
#ifndef VIGIL_REPLAYS_CREW_PACKED_H_
#define VIGIL_REPLAYS_CREW_PACKED_H_

#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"

namespace vigil::replays {

// Lies in a vector as it lies in the bytes.
template <typename T>
inline constexpr bool kPlain = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

class Packer {
 public:
  template <typename... Ts>
  void operator()(Ts&... values) {
    (Add(values), ...);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  template <typename T>
  void Add(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      PackFields(*this, value);
    }
  }
  void Add(std::string& value) {
    AddSize(value.size());
    bytes_ += value;
  }
  template <typename Rep, typename Period>
  void Add(std::chrono::duration<Rep, Period>& value) {
    Rep count = value.count();
    Add(count);
  }
  template <typename T>
  void Add(std::optional<T>& value) {
    bool there = value.has_value();
    Add(there);
    if (there) Add(*value);
  }
  template <typename T>
  void Add(std::vector<T>& values) {
    AddSize(values.size());
    if constexpr (kPlain<T>) {
      bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    } else {
      for (T& value : values) Add(value);
    }
  }
  template <typename T>
  void Add(std::set<T>& values) {
    AddSize(values.size());
    for (T value : values) Add(value);
  }
  template <typename K, typename V, typename C>
  void Add(std::map<K, V, C>& values) {
    AddSize(values.size());
    for (auto& [key, value] : values) {
      K copy = key;
      Add(copy);
      Add(value);
    }
  }
  void Add(absl::Status& status) {
    Code code = CodeOf(status);
    std::string text(MessageOf(status));
    (*this)(code, text);
  }
  void AddSize(std::uint64_t size) { Add(size); }

  std::string bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}
  template <typename... Ts>
  void operator()(Ts&... values) {
    (Get(values), ...);
  }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view Next(std::size_t size) {
    VIGIL_CHECK(size <= bytes_.size());
    const std::string_view next = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return next;
  }
  std::uint64_t Size() {
    std::uint64_t size = 0;
    Get(size);
    return size;
  }
  template <typename T>
  void Get(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      std::memcpy(&value, Next(sizeof value).data(), sizeof value);
    } else {
      PackFields(*this, value);
    }
  }
  void Get(std::string& value) { value = Next(Size()); }
  template <typename Rep, typename Period>
  void Get(std::chrono::duration<Rep, Period>& value) {
    Rep count{};
    Get(count);
    value = std::chrono::duration<Rep, Period>(count);
  }
  template <typename T>
  void Get(std::optional<T>& value) {
    bool there = false;
    Get(there);
    value.reset();
    if (there) Get(value.emplace());
  }
  template <typename T>
  void Get(std::vector<T>& values) {
    values.clear();
    if constexpr (kPlain<T>) {
      const std::uint64_t size = Size();
      VIGIL_CHECK(size <= bytes_.size() / sizeof(T));
      values.resize(size);
      if (size > 0) std::memcpy(values.data(), Next(size * sizeof(T)).data(), size * sizeof(T));
    } else {
      for (std::uint64_t left = Size(); left > 0; --left) Get(values.emplace_back());
    }
  }
  template <typename T>
  void Get(std::set<T>& values) {
    values.clear();
    for (std::uint64_t left = Size(); left > 0; --left) {
      T value{};
      Get(value);
      values.insert(values.end(), std::move(value));
    }
  }
  template <typename K, typename V, typename C>
  void Get(std::map<K, V, C>& values) {
    values.clear();
    for (std::uint64_t left = Size(); left > 0; --left) {
      K key{};
      Get(key);
      Get(values[std::move(key)]);
    }
  }
  void Get(absl::Status& status) {
    Code code{};
    std::string text;
    (*this)(code, text);
    status = code == Code::kOk ? absl::OkStatus() : MakeStatus(code, text);
  }

  std::string_view bytes_;
};

template <typename T>
std::string Packed(const T& value) {
  Packer packer;
  packer(const_cast<T&>(value));  // what packs does not change it, but what describes fields serves both ways
  return packer.Take();
}

// REQUIRES: what Packed has made of such a value.
template <typename T>
T Unpacked(std::string_view bytes) {
  Unpacker unpacker(bytes);
  T value{};
  unpacker(value);
  VIGIL_CHECK(unpacker.at_end());
  return value;
}

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_CREW_PACKED_H_
