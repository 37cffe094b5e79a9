// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/debug.h>
#include <weft/sanitizers.h>
#include <weft/thread.h>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "temporary_folder.h"

namespace {

using weft::Allocator;
using weft::Thread;
using weft::TrackedAllocator;
using weft::detail::NativeThread;
using Affinity = weft::Thread::Affinity;
using Policy = weft::Thread::Affinity::Policy;

Thread::Core core(int index) {
  Thread::Core c;
  c.pthread.index = static_cast<uint16_t>(index);
  return c;
}

std::vector<int> indices(const Affinity& affinity) {
  std::vector<int> result;
  for (size_t i = 0; i < affinity.count(); ++i) {
    result.push_back(affinity[i].pthread.index);
  }
  return result;
}

void restrictThisThreadTo(const Affinity& affinity) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int index : indices(affinity)) {
    CPU_SET(static_cast<size_t>(index), &set);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

std::string nameOfThisThread() {
  char name[64] = {};
  pthread_getname_np(pthread_self(), name, sizeof(name));
  return name;
}

// Every test ends with nothing allocated.
class AffinityTest : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(allocator.stats().numAllocations(), 0U); }

  Affinity make(std::initializer_list<Thread::Core> cores) { return {cores, &allocator}; }

  TrackedAllocator allocator{Allocator::Default};
};

TEST_F(AffinityTest, IsSortedAndHoldsEachProcessorOnce) {
  EXPECT_EQ(indices(make({core(20), core(10), core(30), core(10)})), (std::vector<int>{10, 20, 30}));
  EXPECT_EQ(Affinity({}, &allocator).count(), 0U);
  EXPECT_EQ(Affinity(&allocator).count(), 0U);
  EXPECT_EQ(Affinity().count(), 0U);
}

TEST_F(AffinityTest, CanBeMadeFromAVector) {
  const std::vector<Thread::Core> cores{core(3), core(1)};
  EXPECT_EQ(indices(Affinity(cores, &allocator)), (std::vector<int>{1, 3}));
}

TEST_F(AffinityTest, CopiesAndMoves) {
  Affinity original = make({core(1), core(2)});
  Affinity copy(original, &allocator);
  EXPECT_TRUE(copy == original);
  Affinity moved(std::move(original));
  EXPECT_EQ(indices(moved), (std::vector<int>{1, 2}));
  moved = make({core(5)});
  EXPECT_EQ(indices(moved), (std::vector<int>{5}));
  static_assert(!std::is_copy_constructible_v<Affinity> && std::is_nothrow_move_constructible_v<Affinity>);
}

TEST_F(AffinityTest, AddMakesTheUnion) {
  Affinity affinity = make({core(10), core(20)});
  affinity.add(make({core(15), core(20), core(5)})).add(affinity);
  EXPECT_EQ(indices(affinity), (std::vector<int>{5, 10, 15, 20}));
}

TEST_F(AffinityTest, RemoveTakesAway) {
  Affinity affinity = make({core(10), core(20), core(30)});
  affinity.remove(make({core(20), core(99)}));
  EXPECT_EQ(indices(affinity), (std::vector<int>{10, 30}));
  affinity.remove(affinity);
  EXPECT_EQ(affinity.count(), 0U);
}

TEST_F(AffinityTest, HoldsFarMoreThan64Processors) {
  std::vector<Thread::Core> cores;
  for (int i = 999; i >= 0; --i) {
    cores.push_back(core(i));
  }
  Affinity affinity(cores, &allocator);
  EXPECT_EQ(affinity.count(), 1000U);
  EXPECT_EQ(affinity[999], core(999));
}

// A cpu_set_t ends at 1,024.
TEST_F(AffinityTest, HoldsMoreProcessorsThanThereAreInACpuSet) {
  std::vector<Thread::Core> cores;
  for (int i = 0; i < 65'536; i += 13) {
    cores.push_back(core(i));
  }
  Affinity affinity(cores, &allocator);
  EXPECT_EQ(affinity.count(), 5'042U);
  const auto each = Affinity::Policy::oneOf(Affinity(affinity, &allocator), &allocator);
  EXPECT_EQ(each->get(5'042 + 5'000, &allocator)[0], core(65'000));
  affinity.remove(Affinity(cores, &allocator)).add(Affinity({core(1'024)}, &allocator));
  EXPECT_EQ(indices(affinity), std::vector<int>{1'024});
}

TEST_F(AffinityTest, AllIsWhatTheThreadMayUse) {
  const Affinity all = Affinity::all(&allocator);
  ASSERT_GE(all.count(), 1U);
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  EXPECT_EQ(all.count(), static_cast<size_t>(CPU_COUNT(&set)));
  for (int index : indices(all)) {
    EXPECT_TRUE(CPU_ISSET(static_cast<size_t>(index), &set));
  }
}

TEST_F(AffinityTest, AllRespectsTheMask) {
  std::thread([&] {
    const Affinity all = Affinity::all(&allocator);
    const Affinity last({all[all.count() - 1]}, &allocator);
    restrictThisThreadTo(last);
    EXPECT_TRUE(Affinity::all(&allocator) == last);
  }).join();
}

TEST_F(AffinityTest, AnyOfGivesEveryThreadAll) {
  auto policy = Policy::anyOf(make({core(10), core(20), core(30)}), &allocator);
  for (uint32_t id : {0U, 1U, 1000U}) {
    EXPECT_EQ(indices(policy->get(id, &allocator)), (std::vector<int>{10, 20, 30}));
  }
}

TEST_F(AffinityTest, OneOfGivesEachThreadOneInTurn) {
  auto policy = Policy::oneOf(make({core(10), core(20), core(30)}), &allocator);
  EXPECT_EQ(indices(policy->get(0, &allocator)), (std::vector<int>{10}));
  EXPECT_EQ(indices(policy->get(1, &allocator)), (std::vector<int>{20}));
  EXPECT_EQ(indices(policy->get(2, &allocator)), (std::vector<int>{30}));
  EXPECT_EQ(indices(policy->get(3, &allocator)), (std::vector<int>{10}));
}

TEST_F(AffinityTest, OneOfNothingIsNothing) {
  EXPECT_EQ(Policy::oneOf(make({}), &allocator)->get(5, &allocator).count(), 0U);
}

TEST_F(AffinityTest, ProgramsMayDecideThemselves) {
  struct EvenOnly : Policy {
    Affinity get(uint32_t id, Allocator* from) const override {
      return {{core(static_cast<int>(id) * 2)}, from};
    }
  };
  const std::shared_ptr<Policy> policy = allocator.make_shared<EvenOnly>();
  EXPECT_EQ(indices(policy->get(3, &allocator)), (std::vector<int>{6}));
}

TEST(AffinityDeathTest, AnIndexOutOfRangeIsReported) {
  Affinity affinity({core(1)});
  EXPECT_DEATH(static_cast<void>(affinity[1]), "weft: fatal: Thread::Affinity: there is no processor 1 of 1");
}

TEST(CoreTest, CoresAreOrdered) {
  static_assert(std::is_trivially_copyable_v<Thread::Core>);
  EXPECT_TRUE(core(1) == core(1));
  EXPECT_TRUE(core(1) != core(2));
  EXPECT_TRUE(core(1) < core(2));
  EXPECT_FALSE(core(2) < core(1));
  EXPECT_EQ(Thread::Core{}.pthread.index, 0);
}

TEST(ThreadTest, RunsItsFunction) {
  std::thread::id id;
  Thread thread(Affinity::all(), [&] { id = std::this_thread::get_id(); });
  thread.join();
  EXPECT_NE(id, std::thread::id());
  EXPECT_NE(id, std::this_thread::get_id());
}

TEST(ThreadTest, RunsOnTheProcessorsOfItsAffinity) {
  if (!Affinity::supported) {
    GTEST_SKIP();
  }
  const Affinity all = Affinity::all();
  for (size_t i = 0; i < all.count(); ++i) {
    const Affinity one({all[i]});
    bool isThere = false;
    Thread thread(Affinity(one, Allocator::Default),
                  [&] { isThere = Affinity::all() == one && sched_getcpu() == one[0].pthread.index; });
    thread.join();
    EXPECT_TRUE(isThere);
  }
  EXPECT_TRUE(Affinity::all() == all) << "the affinity of the starting thread has changed";
}

TEST(ThreadTest, AnEmptyAffinityIsNoWish) {
  bool isAll = false;
  const Affinity all = Affinity::all();
  Thread thread(Affinity(), [&] { isAll = Affinity::all() == all; });
  thread.join();
  EXPECT_TRUE(isAll);
}

TEST(ThreadTest, AnEmptyAffinityIsThatOfTheStartingThread) {
  const Affinity all = Affinity::all();
  const Affinity last({all[all.count() - 1]});
  bool isLast = false;
  Thread bound(Affinity(last, Allocator::Default), [&] {
    Thread inner(Affinity(), [&] { isLast = Affinity::all() == last; });
    inner.join();
  });
  bound.join();
  EXPECT_TRUE(isLast);
}

TEST(ThreadTest, ProcessorsBeyondACpuSetLeaveThoseThatExist) {
  const Affinity all = Affinity::all();
  const Affinity last({all[all.count() - 1]});
  Affinity wanted({core(1'024), core(1'500), core(8'191)});
  wanted.add(last);
  bool isLast = false;
  Thread thread(std::move(wanted), [&] { isLast = Affinity::all() == last; });
  thread.join();
  EXPECT_TRUE(isLast);
}

TEST(ThreadTest, AnImpossibleAffinityIsWarnedOfAndIgnored) {
  for (int index : {8000, 8192, 65535}) {
    std::atomic<bool> ran{false};
    testing::internal::CaptureStderr();
    Thread thread(Affinity({core(index)}), [&] { ran = true; });
    thread.join();
    EXPECT_NE(testing::internal::GetCapturedStderr().find("weft: warning: "), std::string::npos);
    EXPECT_TRUE(ran);
  }
}

TEST(ThreadTest, MovesAndDefaultsToNothing) {
  int runs = 0;
  Thread none;
  {
    Thread first(Affinity::all(), [&] { ++runs; });
    Thread second(std::move(first));
    none = std::move(second);
  }
  none.join();
  EXPECT_EQ(runs, 1);
  none = Thread(Affinity::all(), [&] { ++runs; });
  none.join();
  EXPECT_EQ(runs, 2);
}

TEST(ThreadTest, NamesAreCutToWhatTheSystemKeeps) {
  std::string names[2];
  Thread thread(Affinity::all(), [&] {
    Thread::setName("Worker %d", 12);
    names[0] = nameOfThisThread();
    Thread::setName("%s", "a name that is too long");
    names[1] = nameOfThisThread();
  });
  thread.join();
  EXPECT_EQ(names[0], "Worker 12");
  EXPECT_EQ(names[1], "a name that is ");
}

TEST(ThreadTest, NumLogicalCPUsIsTheMachines) {
  EXPECT_GE(Thread::numLogicalCPUs(), 1U);
  EXPECT_GE(Thread::numLogicalCPUs(), Affinity::all().count());
}

TEST(ThreadDeathTest, MisuseIsReported) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(Thread().join(), "weft: fatal: Thread: join\\(\\) without a thread");
  EXPECT_DEATH(
      { Thread thread(Affinity(), [] {}); },
      "weft: fatal: Thread: a thread was destroyed before it was joined");
  EXPECT_DEATH(
      {
        Thread thread(Affinity(), [] {});
        thread = Thread();
      },
      "weft: fatal: Thread: a thread that was not joined was assigned to");
  EXPECT_DEATH(Thread(Affinity(), Thread::Func()), "weft: fatal: Thread: the function is empty");
  EXPECT_DEATH(
      {
        Thread thread;
        std::atomic<bool> isAssigned{false};
        thread = Thread(Affinity(), [&] {
          while (!isAssigned) {
            std::this_thread::yield();
          }
          thread.join();
        });
        isAssigned = true;
        for (;;) {
          pause();
        }
      },
      "weft: fatal: a thread cannot be joined");
}

struct Probe {
  std::string name;
  size_t stackSize = 0;
  size_t guardSize = 0;
  bool isBound = false;
  const Affinity* affinity = nullptr;

  static void run(void* self) {
    auto* probe = static_cast<Probe*>(self);
    probe->name = nameOfThisThread();
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstacksize(&attributes, &probe->stackSize);
    pthread_attr_getguardsize(&attributes, &probe->guardSize);
    pthread_attr_destroy(&attributes);
    probe->isBound = probe->affinity != nullptr && Affinity::all() == *probe->affinity;
  }
};

TEST(NativeThreadTest, StartsWithNameStackAndAffinity) {
  const Affinity all = Affinity::all();
  const Affinity last({all[all.count() - 1]});
  Probe probe;
  probe.affinity = &last;
  NativeThread thread;
  EXPECT_FALSE(thread.joinable());
  NativeThread::Options options;
  options.name = "worker 7 of the scheduler";
  options.stackSize = 1'000'000;
  options.affinity = &last;
  ASSERT_EQ(thread.start(Probe::run, &probe, options), 0);
  EXPECT_TRUE(thread.joinable());
  thread.join();
  EXPECT_FALSE(thread.joinable());
  EXPECT_EQ(probe.name, "worker 7 of the");
  EXPECT_GE(probe.stackSize, 1'000'000U);
  EXPECT_LE(probe.stackSize, 1'200'000U);
  EXPECT_GE(probe.guardSize, 64U * 1024);
  EXPECT_TRUE(probe.isBound);
}

TEST(NativeThreadTest, CanBeStartedAgain) {
  NativeThread thread;
  for (int i = 0; i < 100; ++i) {
    Probe probe;
    ASSERT_EQ(thread.start(Probe::run, &probe, {}), 0);
    thread.join();
    EXPECT_GE(probe.stackSize, 256U * 1024);
  }
}

#if !WEFT_ADDRESS_SANITIZER_ENABLED && \
    !WEFT_THREAD_SANITIZER_ENABLED  // they map the stack themselves, or need more
TEST(NativeThreadTest, AFailureIsAnErrorCodeAndChangesNothing) {
  NativeThread thread;
  NativeThread::Options options;
  options.stackSize = size_t{1} << 60;
  Probe probe;
  EXPECT_EQ(thread.start(Probe::run, &probe, options), EAGAIN);
  EXPECT_FALSE(thread.joinable());
  ASSERT_EQ(thread.start(Probe::run, &probe, {}), 0);
  thread.join();
}

TEST(NativeThreadTest, AMessageFitsTheSmallestStack) {
  testing::internal::CaptureStderr();
  NativeThread thread;
  NativeThread::Options options;
  options.stackSize = 1;
  ASSERT_EQ(thread.start([](void*) { weft::warn("%s %f", "small", 1.5); }, nullptr, options), 0);
  thread.join();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "weft: warning: small 1.500000\n");
}
#endif

TEST(NativeThreadDeathTest, MisuseIsReported) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(NativeThread().join(), "weft: fatal: join\\(\\) without a thread");
  EXPECT_DEATH(
      {
        NativeThread thread;
        static_cast<void>(thread.start([](void*) {}, nullptr, {}));
      },
      "weft: fatal: a thread was destroyed before it was joined");
  EXPECT_DEATH(
      {
        NativeThread thread;
        static_cast<void>(thread.start([](void*) {}, nullptr, {}));
        static_cast<void>(thread.start([](void*) {}, nullptr, {}));
      },
      "weft: fatal: a thread was started that runs already");
}

// A tree of files that stands for the system's.
class CgroupTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) { weft::tests::writeFile(root + path, text); }
  void writeV2(const std::string& group, const std::string& mountRoot = "/") {
    write("/proc/self/cgroup", "0::" + group + "\n");
    write("/proc/self/mountinfo",
          "22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n"
          "33 22 0:27 " +
              mountRoot + " /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  unsigned int quota() const { return weft::detail::cgroupCpuQuota(root.c_str()); }

  const weft::tests::TemporaryFolder folder;
  const std::string& root = folder.path();
};

TEST_F(CgroupTest, NoFilesMeanNoLimit) { EXPECT_EQ(quota(), 0U); }

TEST_F(CgroupTest, V2QuotaIsRoundedUp) {
  writeV2("/app");
  for (const auto& [text, expected] :
       std::vector<std::pair<std::string, unsigned int>>{{"200000 100000\n", 2},
                                                         {"150000 100000\n", 2},
                                                         {"10000 100000\n", 1},
                                                         {"max 100000\n", 0},
                                                         {"", 0},
                                                         {"200000", 0},
                                                         {"200000 0\n", 0},
                                                         {"-1 100000\n", 0},
                                                         {"nonsense\n", 0}}) {
    write("/sys/fs/cgroup/app/cpu.max", text);
    EXPECT_EQ(quota(), expected) << text;
  }
}

TEST_F(CgroupTest, V2TakesTheStrictestOfTheGroupsAbove) {
  writeV2("/a/b/c");
  write("/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n");
  EXPECT_EQ(quota(), 8U);
  write("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3U);
  write("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), 3U);
  write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(quota(), 1U);
}

TEST_F(CgroupTest, V2InAContainerWithItsOwnNamespace) {
  writeV2("/");
  write("/sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(quota(), 4U);
}

TEST_F(CgroupTest, V2InAContainerThatSeesTheMachinesPaths) {
  writeV2("/docker/abc/inner", "/docker/abc");
  write("/sys/fs/cgroup/inner/cpu.max", "500000 100000\n");
  EXPECT_EQ(quota(), 5U);
  write("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2U);
  writeV2("/docker/abc", "/docker/abc");
  EXPECT_EQ(quota(), 2U);
}

TEST_F(CgroupTest, V2GroupsOutOfSightLeaveTheMountsOwn) {
  write("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  writeV2("/docker/abcdef", "/docker/abc");
  EXPECT_EQ(quota(), 2U);
  writeV2("/../../outside");
  EXPECT_EQ(quota(), 2U);
}

TEST_F(CgroupTest, V1QuotaIsRoundedUp) {
  write("/proc/self/cgroup", "5:memory:/other\n4:cpu,cpuacct:/app\n3:cpuset:/\n0::/\n");
  write("/proc/self/mountinfo",
        "30 22 0:26 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "31 22 0:27 / /sys/fs/cgroup/cpu\\040time rw shared:1 master:2 - cgroup cgroup rw,cpu,cpuacct\n");
  write("/sys/fs/cgroup/cpu time/app/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/cpu time/app/cpu.cfs_quota_us", "250000\n");
  EXPECT_EQ(quota(), 3U);
  write("/sys/fs/cgroup/cpu time/app/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(quota(), 0U);
}

TEST_F(CgroupTest, BothVersionsTogetherGiveTheStricter) {
  write("/proc/self/cgroup", "4:cpu:/\n0::/app\n");
  write("/proc/self/mountinfo",
        "31 22 0:27 / /cg/cpu rw - cgroup cgroup rw,cpu\n32 22 0:28 / /cg/unified rw - cgroup2 none rw\n");
  write("/cg/cpu/cpu.cfs_period_us", "100000\n");
  write("/cg/cpu/cpu.cfs_quota_us", "600000\n");
  EXPECT_EQ(quota(), 6U);
  write("/cg/unified/app/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2U);
}

TEST_F(CgroupTest, BrokenFilesMeanNoLimit) {
  write("/proc/self/cgroup", "\n::\n0\n0:\n:cpu");
  write("/proc/self/mountinfo",
        "\n - \n1 2 3 - cgroup2\n1 2 3 / - cgroup2 x cpu\n\\\\ \\0 \\04 \\9 \\999 - cgroup x cpu");
  EXPECT_EQ(quota(), 0U);
}

class UsableCpusTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* value = getenv("WEFT_NUM_THREADS"); value != nullptr) {
      saved = value;
      wasSet = true;
    }
    unsetenv("WEFT_NUM_THREADS");
  }
  void TearDown() override {
    if (wasSet) {
      setenv("WEFT_NUM_THREADS", saved.c_str(), 1);
    } else {
      unsetenv("WEFT_NUM_THREADS");
    }
  }

  std::string saved;
  bool wasSet = false;
};

TEST_F(UsableCpusTest, IsTheMaskOrTheQuota) {
  const auto mask = static_cast<unsigned int>(Affinity::all().count());
  const unsigned int quota = weft::detail::cgroupCpuQuota("");
  EXPECT_EQ(weft::detail::numUsableCpus(), quota == 0 ? mask : std::min(mask, quota));
}

TEST_F(UsableCpusTest, RespectsTheMask) {
  std::thread([] {
    restrictThisThreadTo(Affinity({Affinity::all()[0]}));
    EXPECT_EQ(weft::detail::numUsableCpus(), 1U);
  }).join();
}

TEST_F(UsableCpusTest, TheEnvironmentOverrides) {
  for (unsigned int n : {1U, 3U, 300U, 4096U}) {
    setenv("WEFT_NUM_THREADS", std::to_string(n).c_str(), 1);
    EXPECT_EQ(weft::detail::numUsableCpus(), n);
  }
}

TEST_F(UsableCpusTest, AnEmptyTextInTheEnvironmentIsNone) {
  const unsigned int usual = weft::detail::numUsableCpus();
  setenv("WEFT_NUM_THREADS", "", 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(weft::detail::numUsableCpus(), usual);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(UsableCpusTest, NonsenseInTheEnvironmentIsWarnedOfAndIgnored) {
  const unsigned int usual = weft::detail::numUsableCpus();
  for (const char* text :
       {"0", "-1", "4097", "4 ", " 4", "+4", "four", "0x4", "4.0", "99999999999999999999"}) {
    setenv("WEFT_NUM_THREADS", text, 1);
    testing::internal::CaptureStderr();
    EXPECT_EQ(weft::detail::numUsableCpus(), usual) << text;
    EXPECT_NE(testing::internal::GetCapturedStderr().find("weft: warning: "), std::string::npos) << text;
  }
}

}  // namespace
