#include "vigil/fakes/allocations/allocations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

namespace vigil::fakes {
namespace {

struct alignas(64) Wide {
  char bytes[64];
};

// Makes a T by the form of `new` that `make` uses; how many allocations that was.
template <typename Make>
std::uint64_t Count(Make make) {
  const std::uint64_t before = Allocations();
  make();
  return Allocations() - before;
}

TEST(AllocationsTest, EveryFormCounts) {
  void* kept = nullptr;  // a compiler may leave out a new that nobody sees
  EXPECT_EQ(Count([&] { kept = ::operator new(8); }), 1u);
  ::operator delete(kept);
  EXPECT_EQ(Count([&] { kept = ::operator new[](8); }), 1u);
  ::operator delete[](kept);
  EXPECT_EQ(Count([&] { kept = ::operator new(8, std::nothrow); }), 1u);
  ::operator delete(kept, std::nothrow);
  EXPECT_EQ(Count([&] { kept = ::operator new[](8, std::nothrow); }), 1u);
  ::operator delete[](kept, std::nothrow);
  EXPECT_EQ(Count([&] { kept = ::operator new(8, std::align_val_t(64)); }), 1u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(kept) % 64, 0u);
  ::operator delete(kept, std::align_val_t(64));
  EXPECT_EQ(Count([&] { kept = ::operator new[](0, std::align_val_t(64), std::nothrow); }), 1u);
  EXPECT_NE(kept, nullptr);
  ::operator delete[](kept, std::align_val_t(64), std::nothrow);
}

TEST(AllocationsTest, WhatTheLibraryAllocatesCounts) {
  std::vector<int> numbers(100);
  EXPECT_EQ(Count([] {}), 0u);
  EXPECT_EQ(Count([&] { numbers.reserve(1000); }), 1u);
  EXPECT_EQ(Count([&] { std::stable_sort(numbers.begin(), numbers.end()); }), 1u) << "its buffer";
  std::vector<Wide> wide;
  EXPECT_EQ(Count([&] { wide.reserve(3); }), 1u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide.data()) % 64, 0u);
}

TEST(AllocationsTest, WhereThereIsNoMemoryItIsSaid) {
  const std::size_t too_much = std::size_t{1} << 62;
  EXPECT_EQ(::operator new(too_much, std::nothrow), nullptr);
  EXPECT_THROW(::operator delete(::operator new(too_much)), std::bad_alloc);
}

}  // namespace
}  // namespace vigil::fakes
