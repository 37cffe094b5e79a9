// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/stack_pool.h"
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <weft/sanitizers.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

extern "C" [[gnu::weak]] void __lsan_register_root_region(const void* begin, size_t size);

namespace weft::inline v0_1::detail {
namespace {

constexpr size_t kMiB = size_t{1024} * 1024;

// Whether a tool watches memory, and so uses much of its own.
const bool kSanitized = WEFT_ADDRESS_SANITIZER_ENABLED || WEFT_THREAD_SANITIZER_ENABLED ||
                        &__lsan_register_root_region != nullptr || getenv("LD_PRELOAD") != nullptr;

// Each test takes a size of its own, and so a pool that no other test has touched.
size_t ownSize() {
  static size_t pages = 3;
  return static_cast<size_t>(getpagesize()) * ++pages;
}

void touch(const Stack& stack) { *reinterpret_cast<volatile char*>(stack.top() - 64) = 1; }

// Bytes of memory that hold what the process has written, or 0 where the system does not tell. It is counted
// anew, page by page: the counts of statm may lag behind by some pages for each processor that has run the
// process.
size_t writtenBytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  size_t kibibytes = 0;
  for (std::string line; std::getline(file, line);) {
    // The system may move pages out to the swap at any time.
    for (const std::string key : {"Anonymous:", "Swap:"}) {
      if (line.compare(0, key.size(), key) == 0) {
        kibibytes += std::stoul(line.substr(key.size()));
      }
    }
  }
  return kibibytes * 1024;
}

size_t numMappings() {
  std::ifstream file("/proc/self/maps");
  size_t lines = 0;
  for (std::string line; std::getline(file, line);) {
    ++lines;
  }
  return lines;
}

std::vector<Stack> acquireMany(StackPool& pool, size_t count) {
  std::vector<Stack> stacks(count);
  size_t have = 0;
  while (have < count) {
    const auto wanted = static_cast<uint32_t>(std::min<size_t>(64, count - have));
    const uint32_t got = pool.acquireBatch(&stacks[have], wanted);
    if (got == 0) {
      break;
    }
    have += got;
  }
  stacks.resize(have);
  return stacks;
}

void releaseMany(StackPool& pool, const std::vector<Stack>& stacks) {
  pool.releaseBatch(stacks.data(), static_cast<uint32_t>(stacks.size()));
}

// Whether a read at `place` faults: by a system call that reports it, rather than by a crash.
bool isReadable(uintptr_t place) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const bool readable = write(ends[1], reinterpret_cast<const void*>(place), 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return readable;
}

// Lets the pool's n-th system call fail.
struct FailingSystem {
  static inline StackSystem real;
  static inline int callsLeft;
  static inline int numFailed;
  static inline int error;

  static bool fails() {
    if (callsLeft-- != 0) {
      return false;
    }
    ++numFailed;
    errno = error;
    return true;
  }

  FailingSystem(int failingCall, int failingErrno) {
    real = stackSystem;
    callsLeft = failingCall;
    numFailed = 0;
    error = failingErrno;
    stackSystem.map = [](size_t bytes) { return fails() ? nullptr : real.map(bytes); };
    stackSystem.unmap = [](void* m, size_t bytes) { return fails() ? -1 : real.unmap(m, bytes); };
    stackSystem.advise = [](void* m, size_t bytes, int how) {
      return fails() ? -1 : real.advise(m, bytes, how);
    };
    stackSystem.protect = [](void* m, size_t bytes, int how) {
      return fails() ? -1 : real.protect(m, bytes, how);
    };
    stackSystem.adviseMany = [](const iovec* pieces, size_t count, int how) {
      return fails() ? ssize_t{-1} : real.adviseMany(pieces, count, how);
    };
  }
  ~FailingSystem() { stackSystem = real; }
};

// Forces a kind of guard while it lives.
struct ForcedGuards {
  GuardKind before = stackGuardKind();
  explicit ForcedGuards(GuardKind kind, size_t maxProtected = 0) { setStackGuards(kind, maxProtected); }
  ~ForcedGuards() { setStackGuards(before, 0); }
};

// Marks are left alone where tools would not get along with them.
bool mayInstallGuards() {
  static const bool result = [] {
    StackPool::forSize(ownSize()).acquire();
    return stackGuardKind() == GuardKind::Install;
  }();
  return result;
}

TEST(StackPoolTest, SizesAreRoundedToPagesAndShareAPool) {
  const auto page = static_cast<size_t>(getpagesize());
  EXPECT_EQ(StackPool::forSize(1).stackSize(), page);
  EXPECT_EQ(&StackPool::forSize(page), &StackPool::forSize(page - 1));
  EXPECT_NE(&StackPool::forSize(page), &StackPool::forSize(page + 1));
}

TEST(StackPoolDeathTest, ASizeThatMakesNoSenseIsFatal) {
  EXPECT_DEATH(StackPool::forSize(0), "cannot have 0 bytes");
  EXPECT_DEATH(StackPool::forSize(StackPool::kMaxStackSize + 1), "cannot have");
}

TEST(StackPoolTest, StacksAreWritableAndDoNotOverlap) {
  StackPool& pool = StackPool::forSize(ownSize());
  std::vector<Stack> stacks = acquireMany(pool, 300);
  ASSERT_EQ(stacks.size(), 300u);
  for (const Stack& stack : stacks) {
    EXPECT_EQ(stack.size, pool.stackSize());
    memset(stack.base, 1, stack.size);
  }
  std::sort(stacks.begin(), stacks.end(), [](const Stack& a, const Stack& b) { return a.base < b.base; });
  for (size_t i = 1; i < stacks.size(); ++i) {
    EXPECT_LE(stacks[i - 1].top() + StackPool::guardSize(), stacks[i].bottom());
  }
  releaseMany(pool, stacks);
}

TEST(StackPoolTest, StacksAreGuardedWhenNewRecycledAndTrimmed) {
  for (const GuardKind kind : {GuardKind::Install, GuardKind::Protect}) {
    if (kind == GuardKind::Install && !mayInstallGuards()) {
      continue;
    }
    ForcedGuards forced(kind);
    StackPool& pool = StackPool::forSize(ownSize());
    for (int round = 0; round < 3; ++round) {
      const std::vector<Stack> stacks = acquireMany(pool, 40);
      for (const Stack& stack : stacks) {
        touch(stack);
        EXPECT_TRUE(isReadable(stack.bottom()));
        EXPECT_FALSE(isReadable(stack.bottom() - 1));
        EXPECT_FALSE(isReadable(stack.bottom() - StackPool::guardSize()));
      }
      EXPECT_EQ(pool.stats().numUnguarded, 0u);
      releaseMany(pool, stacks);
      if (round == 1) {
        const Stack held = pool.acquire();
        pool.trim(0);
        pool.release(held);
      }
    }
    pool.trim(0);
  }
}

// An object file without .note.GNU-stack would make the stacks of threads executable.
TEST(StackPoolTest, NoMemoryIsWritableAndExecutable) {
  StackPool& pool = StackPool::forSize(ownSize());
  const Stack stack = pool.acquire();
  touch(stack);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    EXPECT_EQ(line.find(" rwx"), std::string::npos) << line;
  }
  pool.release(stack);
}

TEST(StackPoolTest, AReleasedStackIsHandedOutAgainWithItsPages) {
  StackPool& pool = StackPool::forSize(ownSize());
  const Stack stack = pool.acquire();
  touch(stack);
  pool.release(stack);
  EXPECT_EQ(pool.stats().numWarm, 1u);
  const Stack again = pool.acquire();
  EXPECT_EQ(again.base, stack.base);
  EXPECT_EQ(*reinterpret_cast<char*>(again.top() - 64), 1);
  pool.release(again);
}

TEST(StackPoolTest, ATrimmedStackIsZeroAgain) {
  StackPool& pool = StackPool::forSize(ownSize());
  const std::vector<Stack> stacks = acquireMany(pool, 2);
  touch(stacks[0]);
  pool.release(stacks[0]);
  pool.trim(0);
  EXPECT_EQ(pool.stats().numWarm, 0u);
  EXPECT_EQ(pool.stats().numCold, 1u);
  const Stack again = pool.acquire();
  EXPECT_EQ(again.base, stacks[0].base);
  EXPECT_EQ(*reinterpret_cast<char*>(again.top() - 64), 0);
  pool.release(again);
  pool.release(stacks[1]);
}

TEST(StackPoolTest, WarmStacksGoBeforeColdOnesAndLowSlabsBeforeHighOnes) {
  StackPool& pool = StackPool::forSize(ownSize());
  const std::vector<Stack> stacks = acquireMany(pool, 100);
  pool.release(stacks[5]);
  pool.trim(0);
  pool.release(stacks[90]);
  pool.release(stacks[10]);
  EXPECT_EQ(pool.acquire().id, stacks[10].id);
  EXPECT_EQ(pool.acquire().id, stacks[90].id);
  EXPECT_EQ(pool.acquire().id, stacks[5].id);
  releaseMany(pool, stacks);
}

TEST(StackPoolTest, ABatchMayMixWarmAndColdStacks) {
  StackPool& pool = StackPool::forSize(ownSize());
  const std::vector<Stack> stacks = acquireMany(pool, 20);
  pool.releaseBatch(&stacks[0], 3);
  pool.trim(0);
  pool.releaseBatch(&stacks[10], 3);
  Stack batch[8];
  EXPECT_EQ(pool.acquireBatch(batch, 8), 6u);
  EXPECT_EQ(pool.acquireBatch(batch, 0), 0u);
  EXPECT_EQ(pool.stats().numInUse, 20u);
  releaseMany(pool, stacks);
}

TEST(StackPoolTest, TrimKeepsWhatItIsToldToKeep) {
  StackPool& pool = StackPool::forSize(ownSize());
  const std::vector<Stack> stacks = acquireMany(pool, 3000);
  releaseMany(pool, stacks);
  pool.trim(100);
  const StackPool::Stats stats = pool.stats();
  EXPECT_EQ(stats.numWarm, 100u);
  EXPECT_GE(stats.numWarm + stats.numCold, 100u);
  EXPECT_LT(stats.numWarm + stats.numCold, 100u + StackPool::kStacksPerSlab);
  pool.trim(0);
  EXPECT_EQ(pool.stats().numSlabs, 0u);
  EXPECT_EQ(pool.stats().mappedBytes, 0u);
}

TEST(StackPoolTest, SlabsInUseAreKept) {
  StackPool& pool = StackPool::forSize(ownSize());
  std::vector<Stack> stacks = acquireMany(pool, 2000);
  const Stack held = stacks[1500];
  touch(held);
  stacks.erase(stacks.begin() + 1500);
  releaseMany(pool, stacks);
  pool.trim(0);
  EXPECT_EQ(pool.stats().numSlabs, 1u);
  EXPECT_EQ(*reinterpret_cast<char*>(held.top() - 64), 1);
  pool.release(held);
  const Stack next = pool.acquire();
  EXPECT_EQ(next.base, held.base);
  pool.release(next);
  pool.trim(0);
  EXPECT_EQ(pool.stats().numSlabs, 0u);
}

TEST(StackPoolTest, SurplusIsGivenBackAfterAQuietPeriodAndNotBefore) {
  StackPool& pool = StackPool::forSize(ownSize());
  TimePoint now{std::chrono::hours(1)};
  EXPECT_EQ(pool.giveBackSurplus(now), TimePoint::max());
  std::vector<Stack> stacks = acquireMany(pool, 500);
  releaseMany(pool, stacks);

  // The period that saw the peak keeps it all.
  EXPECT_EQ(pool.giveBackSurplus(now), now + StackPool::kPeriod);
  EXPECT_EQ(pool.stats().numWarm, 500u);

  // The next period uses 100 of them.
  stacks = acquireMany(pool, 100);
  releaseMany(pool, stacks);
  EXPECT_EQ(pool.giveBackSurplus(now + std::chrono::milliseconds(1)), now + StackPool::kPeriod);
  EXPECT_EQ(pool.stats().numWarm, 500u);
  now += StackPool::kPeriod;
  EXPECT_EQ(pool.giveBackSurplus(now), now + StackPool::kPeriod);
  EXPECT_EQ(pool.stats().numWarm, 100u);

  // The last one none.
  now += StackPool::kPeriod;
  EXPECT_EQ(pool.giveBackSurplus(now), TimePoint::max());
  EXPECT_EQ(pool.stats().mostInUse, 500u);
  EXPECT_EQ(pool.stats().numSlabs, 0u);
  EXPECT_EQ(pool.giveBackSurplus(now), TimePoint::max());
}

// A worker that gives stacks back before it sleeps cannot be woken meanwhile, so it must not do very much at
// once.
TEST(StackPoolTest, StacksOfABurstAreGivenBackInSteps) {
  StackPool& pool = StackPool::forSize(ownSize());
  std::vector<Stack> stacks;
  for (Stack batch[64]; stacks.size() < 10000;) {
    const uint32_t taken = pool.acquireBatch(batch, 64);
    ASSERT_GT(taken, 0u);
    stacks.insert(stacks.end(), batch, batch + taken);
  }
  const size_t count = stacks.size();
  pool.releaseBatch(stacks.data(), static_cast<uint32_t>(count));
  TimePoint now{std::chrono::hours(1)};
  TimePoint next = pool.giveBackSurplus(now);
  EXPECT_EQ(next, now + StackPool::kPeriod);
  size_t numSteps = 0;
  for (size_t left = count; next != TimePoint::max() && numSteps < 100; ++numSteps) {
    now = next;
    next = pool.giveBackSurplus(now);
    const size_t leftNow = pool.stats().numWarm;
    EXPECT_LE(left, leftNow + StackPool::kTrimmedAtOnce + StackPool::kStacksPerSlab);
    left = leftNow;
  }
  EXPECT_GE(numSteps, count / (StackPool::kTrimmedAtOnce + StackPool::kStacksPerSlab));
  EXPECT_EQ(pool.stats().numWarm, 0u);
  EXPECT_EQ(pool.stats().numSlabs, 0u);
}

TEST(StackPoolTest, MemoryIsGivenBackAfterABurst) {
  if (kSanitized) {
    GTEST_SKIP() << "the sanitizer's own memory would be counted";
  }
  StackPool& pool = StackPool::forSize(ownSize());
  const size_t before = writtenBytes();
  if (before == 0) {
    GTEST_SKIP() << "/proc/self/smaps_rollup cannot be read";
  }
  std::vector<Stack> stacks = acquireMany(pool, 20000);
  EXPECT_LT(writtenBytes(), before + 4 * kMiB) << "stacks cost memory before they are touched";
  for (const Stack& stack : stacks) {
    touch(stack);
  }
  EXPECT_GT(writtenBytes(), before + 20000 * 4096);
  EXPECT_LT(writtenBytes(), before + 20000 * 4200 + kMiB);
  const Stack held = stacks.back();
  stacks.pop_back();
  releaseMany(pool, stacks);
  EXPECT_GT(writtenBytes(), before + 20000 * 4096);
  pool.trim(0);
  EXPECT_LT(writtenBytes(), before + 4 * kMiB);
  EXPECT_EQ(pool.stats().numSlabs, 1u);
  pool.release(held);
}

TEST(StackPoolTest, AMillionStacksOfOneMebibyteFitIntoFewMappings) {
  const size_t count = !mayInstallGuards() || kSanitized ? 8000 : 1000000;
  StackPool& pool = StackPool::forSize(kMiB);
  const size_t mappings = numMappings();
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Stack> stacks = acquireMany(pool, count);
  const auto took = std::chrono::steady_clock::now() - start;
  ASSERT_EQ(stacks.size(), count);
  EXPECT_EQ(pool.stats().numUnguarded, 0u);
  for (size_t i = 0; i < count; i += 97) {
    touch(stacks[i]);
  }
  if (stackGuardKind() == GuardKind::Install) {
    EXPECT_LT(numMappings(), mappings + 100);
  }
  EXPECT_FALSE(isReadable(stacks[count / 2].bottom() - 1));
  std::printf("%zu new guarded stacks: %.0f ns each, %zu slabs, %zu mappings\n", count,
              std::chrono::duration<double, std::nano>(took).count() / static_cast<double>(count),
              pool.stats().numSlabs, numMappings());
  releaseMany(pool, stacks);
  pool.trim(0);
  EXPECT_EQ(pool.stats().mappedBytes, 0u);
}

TEST(StackPoolTest, AFreeStackIsFoundBehindManySlabsWithoutOne) {
  if (kSanitized) {
    GTEST_SKIP() << "sanitizers need address space";
  }
  StackPool& pool = StackPool::forSize(size_t{1} << 30);  // few in a slab
  std::vector<Stack> stacks;
  do {
    stacks.push_back(pool.acquire());
    ASSERT_NE(stacks.back().base, nullptr);
  } while (pool.stats().numSlabs <= 64);
  pool.release(stacks.back());
  EXPECT_EQ(pool.acquire().base, stacks.back().base);
  releaseMany(pool, stacks);
  pool.trim(0);
  EXPECT_EQ(pool.stats().mappedBytes, 0u);
}

TEST(StackPoolTest, PastTheLimitOfMappingsStacksHaveNoGuardAndOneWarningSaysSo) {
  ForcedGuards forced(GuardKind::Protect, 50);
  StackPool& pool = StackPool::forSize(ownSize());
  testing::internal::CaptureStderr();
  const std::vector<Stack> stacks = acquireMany(pool, 80);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(stacks.size(), 80u);
  const size_t unguarded = pool.stats().numUnguarded;
  EXPECT_GE(unguarded, 30u);  // more where earlier tests left guards
  EXPECT_LE(unguarded, 80u);
  const size_t first = text.find("vm.max_map_count");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("vm.max_map_count", first + 1), std::string::npos) << text;
  for (const Stack& stack : stacks) {
    memset(stack.base, 1, stack.size);
  }
  releaseMany(pool, stacks);

  // Unmapping slabs makes room for guards again.
  pool.trim(0);
  const Stack guarded = pool.acquire();
  EXPECT_FALSE(isReadable(guarded.bottom() - 1) && unguarded < 80);
  pool.release(guarded);
  pool.trim(0);
}

TEST(StackPoolTest, TheRealLimitOfMappingsIsRespected) {
  if (kSanitized) {
    GTEST_SKIP() << "slow there";
  }
  ForcedGuards forced(GuardKind::Protect);
  StackPool& pool = StackPool::forSize(ownSize());
  testing::internal::CaptureStderr();
  const std::vector<Stack> stacks = acquireMany(pool, 40000);
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(stacks.size(), 40000u);
  // Room is left for others.
  const size_t page = static_cast<size_t>(getpagesize());
  std::vector<void*> others(1000);
  for (void*& other : others) {
    other = mmap(nullptr, 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(other, MAP_FAILED);
    ASSERT_EQ(mprotect(other, page, PROT_NONE), 0);
  }
  for (void* other : others) {
    munmap(other, 2 * page);
  }
  releaseMany(pool, stacks);
  pool.trim(0);
  EXPECT_EQ(pool.stats().numSlabs, 0u);
}

TEST(StackPoolTest, AFailureOfAnySystemCallIsClean) {
  for (const int error : {ENOMEM, EINVAL, EAGAIN}) {
    int cleanRounds = 0;
    for (int call = 0; cleanRounds < 2; ++call) {
      ForcedGuards forced(mayInstallGuards() ? GuardKind::Install : GuardKind::Protect);
      StackPool& pool = StackPool::forSize(7 * kMiB);
      testing::internal::CaptureStderr();
      {
        FailingSystem system(call, error);
        std::vector<Stack> stacks = acquireMany(pool, 40);
        for (const Stack& stack : stacks) {
          touch(stack);
        }
        // A single failure costs at most the rest of one slab.
        EXPECT_GE(stacks.size() + 16, 40u);
        if (stacks.size() > 30) {
          const Stack held = stacks[30];
          stacks.erase(stacks.begin() + 30);
          releaseMany(pool, stacks);
          pool.trim(0);
          pool.release(held);
        } else {
          releaseMany(pool, stacks);
        }
        pool.trim(0);
        cleanRounds = FailingSystem::numFailed == 0 ? cleanRounds + 1 : 0;
      }
      testing::internal::GetCapturedStderr();
      EXPECT_EQ(pool.stats().numInUse, 0u);
      pool.trim(0);
      EXPECT_EQ(pool.stats().numSlabs, 0u) << "call " << call;
    }
  }
}

TEST(StackPoolTest, WithoutMemoryAnEmptyStackComesBackAndLaterAFullOne) {
  StackPool& pool = StackPool::forSize(5 * kMiB);
  {
    FailingSystem system(-1, ENOMEM);
    stackSystem.map = [](size_t) -> void* { return nullptr; };
    EXPECT_FALSE(pool.acquire());
    Stack batch[4];
    EXPECT_EQ(pool.acquireBatch(batch, 4), 0u);
    EXPECT_EQ(pool.stats().numInUse, 0u);
  }
  const Stack stack = pool.acquire();
  EXPECT_TRUE(stack);
  pool.release(stack);
}

TEST(StackPoolTest, UnderALimitOfAddressSpaceSmallerSlabsServe) {
  static size_t bytesLeft = 500 * kMiB;
  StackPool& pool = StackPool::forSize(9 * kMiB);
  std::vector<Stack> stacks;
  {
    FailingSystem system(-1, ENOMEM);
    stackSystem.map = [](size_t bytes) -> void* {
      if (bytes > bytesLeft) {
        errno = ENOMEM;
        return nullptr;
      }
      bytesLeft -= bytes;
      return FailingSystem::real.map(bytes);
    };
    stackSystem.unmap = [](void* memory, size_t bytes) {
      bytesLeft += bytes;
      return FailingSystem::real.unmap(memory, bytes);
    };
    stacks = acquireMany(pool, 64);
    for (const Stack& stack : stacks) {
      touch(stack);
    }
  }
  EXPECT_GE(stacks.size(), 40u);
  EXPECT_LT(stacks.size(), 64u);
  releaseMany(pool, stacks);
}

TEST(StackPoolTest, ManyThreadsShareAPool) {
  StackPool& pool = StackPool::forSize(ownSize());
  std::atomic<size_t> faults{0};
  std::atomic<bool> done{false};
  std::thread trimmer([&] {
    TimePoint now{std::chrono::hours(1)};
    while (!done.load(std::memory_order_relaxed)) {
      pool.trim(50);
      pool.giveBackSurplus(now += StackPool::kPeriod);
    }
  });
  std::vector<std::thread> threads;
  for (size_t t = 1; t <= 4; ++t) {
    threads.emplace_back([&pool, &faults, t] {
      std::vector<Stack> stacks;
      for (size_t round = 0; round < (kSanitized ? 300 : 3000); ++round) {
        const size_t count = (round * 7 + t * 13) % 90;
        stacks = acquireMany(pool, count);
        for (const Stack& stack : stacks) {
          *reinterpret_cast<size_t*>(stack.top() - 64) = t;
        }
        for (const Stack& stack : stacks) {
          faults += *reinterpret_cast<size_t*>(stack.top() - 64) != t;
        }
        faults += stacks.size() != count;
        releaseMany(pool, stacks);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  done.store(true, std::memory_order_relaxed);
  trimmer.join();
  EXPECT_EQ(faults.load(std::memory_order_relaxed), 0u);
  EXPECT_EQ(pool.stats().numInUse, 0u);
  pool.trim(0);
  EXPECT_EQ(pool.stats().numSlabs, 0u);
}

// What only a stack points at is no leak; run under a leak checker this test fails at exit otherwise.
TEST(StackPoolTest, StacksAreRootsForLeakCheckers) {
  static uintptr_t hidden;
  StackPool& pool = StackPool::forSize(ownSize());
  const Stack stack = pool.acquire();
  *reinterpret_cast<void**>(stack.top() - 128) = malloc(100);
  hidden = ~stack.top();
  EXPECT_NE(hidden, 0u);
}

}  // namespace
}  // namespace weft::inline v0_1::detail
