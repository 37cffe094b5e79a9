// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/memory.h>
#include <weft/sanitizers.h>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "live_objects.h"
#include "with_scheduler.h"

namespace {

using weft::Allocation;
using weft::Allocator;
using weft::TrackedAllocator;
using weft::tests::LiveObject;
using Usage = weft::Allocation::Usage;

bool isAligned(const volatile void* pointer, size_t alignment) {
  return reinterpret_cast<uintptr_t>(pointer) % alignment == 0;
}

Allocation::Request request(size_t size, size_t alignment = 0, bool useGuards = false) {
  return {size, alignment, useGuards, Usage::Undefined};
}

// Uses the default allocator before main() and after it.
struct EarlyAndLate {
  Allocator::unique_ptr<std::string> text = Allocator::Default->make_unique<std::string>("early");
} earlyAndLate;

// Every test ends with nothing allocated.
class MemoryTest : public testing::Test {
 protected:
  void TearDown() override {
    const TrackedAllocator::Stats stats = allocator.stats();
    EXPECT_EQ(stats.numAllocations(), 0U);
    EXPECT_EQ(stats.bytesAllocated(), 0U);
  }

  TrackedAllocator::UsageStats usage(Usage of) { return allocator.stats().byUsage[static_cast<size_t>(of)]; }

  TrackedAllocator allocator{Allocator::Default};
};

TEST_F(MemoryTest, PageSizeIsTheSystems) {
  EXPECT_EQ(weft::pageSize(), static_cast<size_t>(sysconf(_SC_PAGESIZE)));
}

TEST_F(MemoryTest, AlignUpRoundsUp) {
  static_assert(weft::alignUp(0, 8) == 0 && weft::alignUp(1, 8) == 8 && weft::alignUp(8, 8) == 8);
  EXPECT_EQ(weft::alignUp(10, 3), 12);
  EXPECT_EQ(weft::alignUp<uint8_t>(250, 5), 250);
  EXPECT_EQ(weft::alignUp<uint64_t>(~uint64_t{0} - 20, 16), ~uint64_t{15});  // no overflow on the way
}

TEST_F(MemoryTest, AlignedStorageHasItsSizeAndAlignment) {
  using Storage = weft::aligned_storage<48, 16>::type;
  static_assert(sizeof(Storage) == 48 && alignof(Storage) == 16);
}

TEST_F(MemoryTest, TheDefaultAllocatorWorksBeforeMain) { EXPECT_EQ(*earlyAndLate.text, "early"); }

TEST_F(MemoryTest, AllocatesEverySizeAndAlignment) {
  for (size_t alignment : {size_t{0}, size_t{1}, size_t{8}, size_t{64}, size_t{4096}, size_t{65536}}) {
    for (bool useGuards : {false, true}) {
      for (size_t size :
           {size_t{0}, size_t{1}, size_t{15}, size_t{64}, size_t{4096}, size_t{4097}, size_t{100000}}) {
        Allocation allocation = allocator.allocate(request(size, alignment, useGuards));
        ASSERT_NE(allocation.ptr, nullptr);
        EXPECT_EQ(allocation.request, request(size, alignment, useGuards));
        EXPECT_TRUE(isAligned(allocation.ptr, alignment == 0 ? alignof(std::max_align_t) : alignment));
        std::memset(allocation.ptr, 0xAA, size);
        EXPECT_EQ(allocator.stats().bytesAllocated(), size);
        allocator.free(allocation);
      }
    }
  }
}

TEST_F(MemoryTest, FreeingNullDoesNothing) {
  allocator.free({});
  Allocator::Default->free({});
}

#if !WEFT_THREAD_SANITIZER_ENABLED  // its handler for SIGSEGV is slow to die
TEST_F(MemoryTest, GuardsFaultOnBothSidesDeathTest) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (size_t size : {size_t{1}, weft::pageSize(), 3 * weft::pageSize() + 1}) {
    Allocation allocation = allocator.allocate(request(size, 0, true));
    auto* const bytes = static_cast<volatile char*>(allocation.ptr);
    const size_t end = weft::alignUp(size, weft::pageSize());
    bytes[0] = 1;
    bytes[size - 1] = 1;
    EXPECT_DEATH(bytes[-1] = 1, "");
    EXPECT_DEATH(bytes[end] = 1, "");
    EXPECT_DEATH(static_cast<void>(bytes[-1]), "");
    EXPECT_DEATH(static_cast<void>(bytes[end]), "");
    allocator.free(allocation);
  }
}
#endif

TEST_F(MemoryTest, GuardedMemoryIsReachableForLeakCheckers) {
  static Allocation allocation;
  allocation = Allocator::Default->allocate(request(sizeof(void*), 0, true));
  *static_cast<void**>(allocation.ptr) = ::operator new(16);  // reachable through the guarded memory only
}

TEST(MemoryDeathTest, MemoryThatCannotBeHadIsReported) {
  constexpr size_t kTooMuch = sizeof(size_t) == 4 ? size_t{3} << 30 : SIZE_MAX / 4 + 1;
  EXPECT_DEATH(Allocator::Default->allocate(request(kTooMuch, 0, true)), "weft: fatal: out of memory");
  EXPECT_DEATH(Allocator::Default->allocate(request(~size_t{0}, 0, true)), "weft: fatal: out of memory");
#if !WEFT_ADDRESS_SANITIZER_ENABLED && !WEFT_THREAD_SANITIZER_ENABLED  // they end the program themselves
  EXPECT_DEATH(Allocator::Default->allocate(request(kTooMuch)), "weft: fatal: out of memory");
#endif
  weft::StlAllocator<uint64_t> stl(Allocator::Default);
  EXPECT_DEATH(static_cast<void>(stl.allocate(~size_t{0} / 4)),
               "weft: fatal: out of memory: .* objects of 8 bytes");
}

TEST(MemoryDeathTest, AnAlignmentThatIsNoPowerOfTwoIsReported) {
  EXPECT_DEATH(Allocator::Default->allocate(request(8, 24)), "weft: fatal: .*24 is no power of two");
}

TEST(MemoryDeathTest, FreeingMoreThanWasAllocatedIsReported) {
  TrackedAllocator allocator(Allocator::Default);
  Allocation allocation = allocator.allocate(request(8));
  Allocation other = allocation;
  other.request.usage = Usage::Stack;
  EXPECT_DEATH(allocator.free(other), "weft: fatal: TrackedAllocator: .*was not allocated here");
  other = allocation;
  other.request.size = 9;
  EXPECT_DEATH(allocator.free(other), "weft: fatal: TrackedAllocator: .*\\(9 bytes");
  other.request.usage = Usage::Count;
  EXPECT_DEATH(allocator.free(other), "weft: fatal: TrackedAllocator: there is no usage");
  allocator.free(allocation);
}

TEST(MemoryDeathTest, AllocatingForAUsageThatThereIsNotIsReported) {
  TrackedAllocator allocator(Allocator::Default);
  EXPECT_DEATH(allocator.allocate({8, 0, false, Usage::Count}),
               "weft: fatal: TrackedAllocator: there is no usage");
}

TEST(MemoryDeathTest, FreeingGuardedMemoryThatWasNotAllocatedIsReported) {
  if (weft::tests::kUnderAsan) {
    GTEST_SKIP() << "LeakSanitizer reports it first";
  }
  Allocation allocation = Allocator::Default->allocate(request(8, 0, true));
  Allocation other = allocation;
  other.ptr = static_cast<char*>(allocation.ptr) + 1;
  EXPECT_DEATH(Allocator::Default->free(other), "weft: fatal: Allocator: .* with guards cannot be unmapped");
  Allocator::Default->free(allocation);
}

TEST_F(MemoryTest, CreateAndDestroy) {
  auto* object = allocator.create<LiveObject>(7);
  EXPECT_EQ(object->value, 7);
  EXPECT_EQ(usage(Usage::Create).count, 1U);
  EXPECT_EQ(usage(Usage::Create).bytes, sizeof(LiveObject));
  allocator.destroy(object);
  EXPECT_EQ(LiveObject::numAlive, 0);
}

TEST_F(MemoryTest, CreateRespectsLargeAlignments) {
  struct alignas(1024) Wide {
    char c = 'w';
  };
  auto* object = allocator.create<Wide>();
  auto shared = allocator.make_shared<Wide>();
  EXPECT_TRUE(isAligned(object, 1024));
  EXPECT_TRUE(isAligned(shared.get(), 1024));
  allocator.destroy(object);
}

TEST_F(MemoryTest, MakeUniqueForwardsMoveOnlyArguments) {
  struct Owner {
    explicit Owner(std::unique_ptr<int> given) : pointer(std::move(given)) {}
    std::unique_ptr<int> pointer;
  };
  auto owner = allocator.make_unique<Owner>(std::make_unique<int>(5));
  EXPECT_EQ(*owner->pointer, 5);
}

TEST_F(MemoryTest, MakeUniqueNMakesAndDestroysEveryObject) {
  {
    auto objects = allocator.make_unique_n<LiveObject>(10, 3);
    EXPECT_EQ(LiveObject::numAlive, 10);
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(objects.get()[i].value, 3);
    }
    EXPECT_EQ(usage(Usage::Create).bytes, 10 * sizeof(LiveObject));
  }
  EXPECT_EQ(LiveObject::numAlive, 0);
  EXPECT_EQ(allocator.make_unique_n<LiveObject>(0), nullptr);
}

TEST_F(MemoryTest, MakeUniqueNGivesEachObjectTheSameArguments) {
  std::string text(100, 't');
  auto texts = allocator.make_unique_n<std::string>(3, std::move(text));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(texts.get()[i], std::string(100, 't'));
  }
}

struct Left {
  virtual ~Left() = default;
  int left = 1;
};
struct Right {
  virtual ~Right() = default;
  int right = 2;
};
struct Both : Left, Right {
  LiveObject counted;
  char more[100] = {};
};

TEST_F(MemoryTest, APointerToABaseGivesBackTheWholeObject) {
  Allocator::unique_ptr<Right> right = allocator.make_unique<Both>();
  EXPECT_EQ(right->right, 2);
  right.reset();
  EXPECT_EQ(LiveObject::numAlive, 0);
  Allocator::unique_ptr<Left> left = allocator.make_unique<Both>();
  left = allocator.make_unique<Left>();
}

TEST_F(MemoryTest, AUniquePtrToConstWorks) {
  Allocator::unique_ptr<const LiveObject> object = allocator.make_unique<LiveObject>(4);
  EXPECT_EQ(object->value, 4);
  Allocator::unique_ptr<const Left> left = allocator.make_unique<Both>();
  EXPECT_EQ(left->left, 1);
}

struct Node {
  Allocator::unique_ptr<Node> next;
};

TEST_F(MemoryTest, AnObjectMayOwnItsLikes) {
  auto head = allocator.make_unique<Node>();
  head->next = allocator.make_unique<Node>();
  auto next = std::move(head->next);
  head = std::move(next);
  EXPECT_EQ(allocator.stats().numAllocations(), 1U);
}

TEST_F(MemoryTest, MakeSharedIsOneAllocation) {
  auto shared = allocator.make_shared<LiveObject>(9);
  EXPECT_EQ(usage(Usage::Create).count, 1U);
  EXPECT_GT(usage(Usage::Create).bytes, sizeof(LiveObject));
  std::weak_ptr<LiveObject> weak = shared;
  shared.reset();
  EXPECT_EQ(LiveObject::numAlive, 0);
  EXPECT_TRUE(weak.expired());
}

#if defined(__cpp_exceptions)
struct ThrowsAtThree {
  ThrowsAtThree() {
    if (counted.numAlive == 3) {
      throw std::runtime_error("three");
    }
  }
  LiveObject counted;
};

TEST_F(MemoryTest, AConstructorThatThrowsLeavesNothingBehind) {
  EXPECT_THROW(static_cast<void>(allocator.make_unique_n<ThrowsAtThree>(5)), std::runtime_error);
  EXPECT_EQ(LiveObject::numAlive, 0);
  struct Throws {
    Throws() { throw std::runtime_error("always"); }
  };
  EXPECT_THROW(static_cast<void>(allocator.create<Throws>()), std::runtime_error);
  EXPECT_THROW(static_cast<void>(allocator.make_unique<Throws>()), std::runtime_error);
  EXPECT_THROW(static_cast<void>(allocator.make_shared<Throws>()), std::runtime_error);
}
#endif

TEST_F(MemoryTest, UsagesAreCountedApart) {
  Allocation stack = allocator.allocate({100, 0, false, Usage::Stack});
  Allocation list = allocator.allocate({50, 0, false, Usage::List});
  auto object = allocator.make_unique<int>(1);
  EXPECT_EQ(usage(Usage::Stack).count, 1U);
  EXPECT_EQ(usage(Usage::Stack).bytes, 100U);
  EXPECT_EQ(usage(Usage::List).bytes, 50U);
  EXPECT_EQ(usage(Usage::Create).bytes, sizeof(int));
  EXPECT_EQ(usage(Usage::Vector).count, 0U);
  EXPECT_EQ(allocator.stats().numAllocations(), 3U);
  EXPECT_EQ(allocator.stats().bytesAllocated(), 150 + sizeof(int));
  allocator.free(list);
  allocator.free(stack);
}

TEST_F(MemoryTest, CountsOfManyThreadsAddUp) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < 2000; ++i) {
        allocator.free(allocator.allocate(request(32)));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

template <class T>
using Stl = weft::StlAllocator<T>;

TEST_F(MemoryTest, ContainersOfTheStandardLibraryUseIt) {
  Stl<int> stl(&allocator);
  std::vector<int, Stl<int>> vector({1, 2, 3}, stl);
  std::deque<int, Stl<int>> deque({1, 2, 3}, stl);
  std::list<int, Stl<int>> list({1, 2, 3}, stl);
  std::map<int, int, std::less<>, Stl<std::pair<const int, int>>> map(stl);
  std::unordered_map<int, int, std::hash<int>, std::equal_to<>, Stl<std::pair<const int, int>>> hashMap(stl);
  std::unordered_set<int, std::hash<int>, std::equal_to<>, Stl<int>> hashSet(stl);
  for (int i = 0; i < 100; ++i) {
    vector.push_back(i);
    map[i] = hashMap[i] = i;
    hashSet.insert(i);
  }
  EXPECT_EQ(vector.size(), 103U);
  EXPECT_GT(usage(Usage::Stl).count, 300U);
  EXPECT_EQ(usage(Usage::Stl).count, allocator.stats().numAllocations());
}

TEST_F(MemoryTest, StlAllocatorsCompareByTheirSource) {
  TrackedAllocator another(Allocator::Default);
  EXPECT_TRUE(Stl<int>(&allocator) == Stl<int>(&allocator));
  EXPECT_TRUE(Stl<int>(&allocator) == Stl<char>(&allocator));
  EXPECT_TRUE(Stl<int>(&allocator) != Stl<int>(&another));
  EXPECT_EQ(Stl<char>(Stl<int>(&another)).allocator, &another);
}

TEST_F(MemoryTest, ContainersMoveAndSwapTheirAllocator) {
  TrackedAllocator another(Allocator::Default);
  {
    std::vector<int, Stl<int>> a({1, 2, 3}, &allocator);
    std::vector<int, Stl<int>> b({4}, &another);
    const int* const data = a.data();
    swap(a, b);
    EXPECT_EQ(b.data(), data);
    EXPECT_EQ(a.get_allocator().allocator, &another);
    a = std::move(b);
    EXPECT_EQ(a.data(), data);
    a = std::vector<int, Stl<int>>({5}, &another);
    EXPECT_EQ(another.stats().numAllocations(), 1U);
  }
  EXPECT_EQ(another.stats().numAllocations(), 0U);
}

TEST_F(MemoryTest, StlAllocatorHasItsOldMembers) {
  Stl<LiveObject> stl(&allocator);
  Stl<LiveObject>::pointer objects = stl.allocate(2);
  stl.construct(objects, LiveObject(3));
  stl.construct(objects + 1, 4);
  EXPECT_EQ(objects[0].value + objects[1].value, 7);
  EXPECT_EQ(stl.address(*objects), objects);
  EXPECT_EQ(stl.address(std::as_const(*objects)), objects);
  EXPECT_EQ(stl.max_size(), ~size_t{0} / sizeof(LiveObject));
  stl.destroy(objects);
  stl.destroy<LiveObject>(objects + 1);
  stl.deallocate(objects, 2);
  static_assert(std::is_same_v<Stl<int>::rebind<char>::other, Stl<char>>);
  EXPECT_EQ(LiveObject::numAlive, 0);
}

// The example of the class comment of Allocator.
struct Counting : weft::Allocator {
  weft::Allocation allocate(const weft::Allocation::Request& asked) override {
    ++count;
    return weft::Allocator::Default->allocate(asked);
  }
  void free(const weft::Allocation& allocation) override { weft::Allocator::Default->free(allocation); }
  std::atomic<int> count = 0;
};

TEST_F(MemoryTest, AProgramMaySupplyItsOwn) {
  Counting counting;
  {
    auto object = counting.make_unique<int>(1);
  }
  EXPECT_EQ(counting.count, 1);
}

}  // namespace
