// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "weft/export.h"
#include "weft/memory.h"

namespace weft::inline v0_1 {

// A thread of the system that runs on chosen processors. Programs need it for threads of their own: tasks and
// workers do without.
//
//   auto affinity = weft::Thread::Affinity::all();
//   weft::Thread thread(std::move(affinity), [] { weft::Thread::setName("reader"); read(); });
//   thread.join();
class WEFT_EXPORT Thread {
 public:
  // What a thread runs.
  using Func = std::function<void()>;

  // A logical processor. `pthread` is used, except on Windows.
  struct Core {
    // The number of a processor on Windows.
    struct Windows {
      uint8_t group;  // group of processors
      uint8_t index;  // number within the group
    };
    // The number of a processor on other systems.
    struct Pthread {
      uint16_t index;  // the system's number
    };

    union {
      Pthread pthread = {};
      Windows windows;
    };

    // Compare the numbers of two processors.
    bool operator==(Core other) const noexcept { return pthread.index == other.pthread.index; }
    bool operator<(Core other) const noexcept { return pthread.index < other.pthread.index; }
  };

  // A set of processors, in ascending order. As a thread's affinity the empty set means its starter's.
  struct WEFT_EXPORT Affinity {
    // Whether threads can be bound to processors on this system: true on Linux, which weft needs.
    static constexpr bool supported = true;

    // Decides the affinity of each of a scheduler's threads.
    class WEFT_EXPORT Policy {
     public:
      // Returns: a policy that lets every thread run on all of `affinity`.
      static std::shared_ptr<Policy> anyOf(Affinity&& affinity, Allocator* allocator = Allocator::Default);

      // Returns: a policy that gives each thread one processor of `affinity`, in turn.
      static std::shared_ptr<Policy> oneOf(Affinity&& affinity, Allocator* allocator = Allocator::Default);

      // Returns: a policy that gives each thread all processors of `affinity` that share one last-level cache
      // within a NUMA node. Threads take the caches of all nodes in turn; a cache gets no more than it has
      // processors before the others are full. Reads /sys now: see docs/topology.md.
      static std::shared_ptr<Policy> spread(const Affinity& affinity,
                                            Allocator* allocator = Allocator::Default);

      // Some threads, and who decides their affinities.
      struct Group {
        std::shared_ptr<Policy> policy;  // asked by the threads' numbers within the group
        int numThreads = 0;              // 0: none
      };

      // Returns: a policy for the threads of one group after the other. Further threads begin anew.
      // Requires: each group has a policy, and no negative number; otherwise a message ends the program.
      static std::shared_ptr<Policy> groups(const std::vector<Group>& groups,
                                            Allocator* allocator = Allocator::Default);

      virtual ~Policy();

      // Returns: the affinity of thread `threadId`. Called by any thread, at any time.
      virtual Affinity get(uint32_t threadId, Allocator* allocator) const = 0;
    };

    // Makes an empty set, a set of `cores` (in any order), or a copy. Its memory comes from `allocator`.
    explicit Affinity(Allocator* allocator = Allocator::Default);
    Affinity(std::initializer_list<Core> cores, Allocator* allocator = Allocator::Default);
    Affinity(std::span<const Core> cores, Allocator* allocator = Allocator::Default);
    Affinity(const Affinity& other, Allocator* allocator);
    Affinity(Affinity&& other) noexcept;
    Affinity& operator=(Affinity&& other) noexcept;

    // Returns: the processors on which the calling thread may run: all that the process may use, unless the
    // thread was bound to fewer.
    static Affinity all(Allocator* allocator = Allocator::Default);

    // Returns: the processors of all() that are performance cores, on a machine that has efficiency cores
    // too; all() where the calling thread may use one kind only, or the system tells of none. Reads /sys.
    static Affinity performanceCores(Allocator* allocator = Allocator::Default);

    // Returns: how many processors are in the set.
    size_t count() const noexcept { return cores_.size(); }

    // Returns: the processor at `index`, which is below count(), in ascending order.
    Core operator[](size_t index) const;

    // Adds the processors of `other`. Returns this set.
    Affinity& add(const Affinity& other);

    // Removes the processors of `other`. Returns this set.
    Affinity& remove(const Affinity& other);

    bool operator==(const Affinity& other) const noexcept { return cores_ == other.cores_; }

   private:
    void normalize();

    std::vector<Core, StlAllocator<Core>> cores_;  // ascending, each once
  };

  Thread() noexcept;

  // Starts a thread that runs `function` on the processors of `affinity`. Prints a warning and ignores the
  // set if the system binds it to none of them. A message ends the program if the system grants no thread.
  Thread(Affinity&& affinity, Func&& function);

  Thread(Thread&& other) noexcept;

  // Takes over the thread of `other`.
  // Requires: this thread was joined, or never started; otherwise a message ends the program.
  Thread& operator=(Thread&& other) noexcept;

  // Ends the object. The thread must have ended before.
  // Requires: this thread was joined, or never started; otherwise a message ends the program.
  ~Thread();

  // Blocks the calling thread until this thread has ended.
  // Requires: this thread was started, and was not joined yet; otherwise a message ends the program.
  void join();

  // Names the calling thread for debuggers and the system. Linux keeps 15 bytes. Arguments as for printf.
  [[gnu::format(printf, 1, 2)]] static void setName(const char* format, ...);

  // Returns: the number of processors that are online, usable by this process or not.
  static unsigned int numLogicalCPUs();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

namespace detail {

// A system thread. Throws nothing, and reports failure as an error code.
class WEFT_EXPORT NativeThread {
 public:
  struct Options {
    const char* name = nullptr;                  // its first 15 bytes name the thread
    size_t stackSize = 0;                        // bytes, 0 for the system's default
    const Thread::Affinity* affinity = nullptr;  // as Thread's; used during start() only
  };

  NativeThread() noexcept = default;
  NativeThread(const NativeThread&) = delete;
  NativeThread& operator=(const NativeThread&) = delete;
  ~NativeThread();  // Requires: not joinable

  // Starts a thread that calls entry(argument) and sees what this thread wrote before.
  // Requires: the thread is not joinable.
  // Returns: 0, or the error number, as EAGAIN if the system grants no thread. Then nothing has changed.
  // Lifetime: this object must stay where it is until join() returns.
  [[nodiscard]] int start(void (*entry)(void*), void* argument, const Options& options) noexcept;

  bool joinable() const noexcept { return joinable_; }

  // Blocks the calling thread until the thread has ended, and sees what it wrote.
  // Requires: the thread is joinable.
  void join() noexcept;

 private:
  static void* run(void* self);

  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  pthread_t handle_{};
  bool joinable_ = false;
  char name_[16] = {};
};

// Returns: how many threads this process can keep busy: the processors that the calling thread may use, or
// the CPU quota of its cgroups, rounded up, if that is less. WEFT_NUM_THREADS (1 to 4096) overrides both.
WEFT_EXPORT unsigned int numUsableCpus();
// As numUsableCpus(), with so many processors in place of all that the calling thread may use.
WEFT_EXPORT unsigned int numUsableCpus(size_t numAvailable);

// Returns: the strictest CPU quota of this process's cgroup (v1 or v2) and those above, in processors,
// rounded up; 0 if there is none. `root` is put before every path that is read.
WEFT_EXPORT unsigned int cgroupCpuQuota(const char* root);

}  // namespace detail
}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
