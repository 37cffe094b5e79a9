// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stop_token>  // here, since Relacy's macros break it

#include <weft/detail/base/sync.h>

#include <relacy/relacy.hpp>

// Relacy renames half of C by macros. Without them, its proxies are not needed: the wrappers below pass on
// the place of each access.
#undef assert
#undef calloc
#undef delete
#undef errno
#undef free
#undef futex
#undef malloc
#undef memory_order_acq_rel
#undef memory_order_acquire
#undef memory_order_consume
#undef memory_order_relaxed
#undef memory_order_release
#undef memory_order_seq_cst
#undef new
#undef realloc
#undef sched_yield
#undef EAGAIN
#undef EBUSY
#undef EINTR
#undef EINVAL
#undef ETIMEDOUT
#undef EWOULDBLOCK

namespace weft::model {

// A bug that a run puts into the code under test, to see whether the test finds it: at the statement that
// follows note `NOTE` of `FILE`, an access is relaxed and a fence is missing (`relaxed`), a sequentially
// consistent one is merely acquire and release (`acq_rel`), only the acquire or only the release of it is
// left (`acquire`, `release`), a read-modify-write is a load and a store (`split`), or it is not the last
// access to its word (`touch`).
struct SeededBug {
  enum class Kind { None, Relaxed, AcqRel, Acquire, Release, Split, Touch };
  Kind kind = Kind::None;
  char file[64] = "";
  int firstLine = 0;
  int lastLine = 0;
};
inline SeededBug seededBug;

// See RelacySync::lightFence.
inline bool areFencesAsymmetric = false;

// Where an access is, by the default arguments of the call.
struct Place {
  const char* file;
  int line;

  SeededBug::Kind bug() const {
    if (seededBug.kind == SeededBug::Kind::None || line < seededBug.firstLine || line > seededBug.lastLine) {
      return SeededBug::Kind::None;
    }
    const char* slash = std::strrchr(file, '/');
    return std::strcmp(slash == nullptr ? file : slash + 1, seededBug.file) == 0 ? seededBug.kind
                                                                                 : SeededBug::Kind::None;
  }
  rl::debug_info info() const { return rl::debug_info("", file, static_cast<unsigned>(line)); }
};

inline rl::memory_order relacyOrder(std::memory_order order, const Place& place) {
  const SeededBug::Kind bug = place.bug();
  if (bug == SeededBug::Kind::Relaxed) {
    return rl::mo_relaxed;
  }
  switch (order) {
    case std::memory_order_relaxed:
      return rl::mo_relaxed;
    case std::memory_order_consume:
      return rl::mo_consume;
    case std::memory_order_acquire:
      return bug == SeededBug::Kind::Release ? rl::mo_relaxed : rl::mo_acquire;
    case std::memory_order_release:
      return bug == SeededBug::Kind::Acquire ? rl::mo_relaxed : rl::mo_release;
    case std::memory_order_acq_rel:
    case std::memory_order_seq_cst:
      break;
  }
  if (bug == SeededBug::Kind::Acquire || bug == SeededBug::Kind::Release) {
    return bug == SeededBug::Kind::Acquire ? rl::mo_acquire : rl::mo_release;
  }
  return order == std::memory_order_acq_rel || bug == SeededBug::Kind::AcqRel ? rl::mo_acq_rel
                                                                              : rl::mo_seq_cst;
}

#define WEFT_MODEL_PLACE const char *file = __builtin_FILE(), int line = __builtin_LINE()

// What detail::StdSync is to production code, over Relacy: it explores interleavings and stale values, and
// reports data races, deadlocks, endless loops, leaks, and accesses to what has been destroyed.
//
// Relacy knows the release sequences of C++17, in which later plain stores of the same thread take part; so
// it does not miss a release order on such a store. It knows no loads that see stores of the future, so it
// does not miss an order that only keeps a load from moving down. A failed compare-exchange reads the
// newest value.
struct RelacySync {
  template <class T>
  class Atomic {
   public:
    Atomic() = default;
    Atomic(T value) : atomic_(value) {}
    ~Atomic() { isThere_ = false; }

    T load(std::memory_order order, WEFT_MODEL_PLACE) const {
      const Place place{file, line};
      return atomic_.load(relacyOrder(order, place), place.info());
    }
    void store(T value, std::memory_order order, WEFT_MODEL_PLACE) {
      const Place place{file, line};
      atomic_.store(value, relacyOrder(order, place), place.info());
      touch(place);
    }
    T exchange(T value, std::memory_order order, WEFT_MODEL_PLACE) {
      return update<rl::rmw_type_swap>(value, order, {file, line}, [](T, T to) { return to; });
    }
    template <class U>
    T fetch_add(U value, std::memory_order order, WEFT_MODEL_PLACE) {
      return update<rl::rmw_type_add>(static_cast<T>(value), order, {file, line},
                                      [](T old, T by) { return static_cast<T>(old + by); });
    }
    template <class U>
    T fetch_sub(U value, std::memory_order order, WEFT_MODEL_PLACE) {
      return update<rl::rmw_type_sub>(static_cast<T>(value), order, {file, line},
                                      [](T old, T by) { return static_cast<T>(old - by); });
    }
    T fetch_or(T value, std::memory_order order, WEFT_MODEL_PLACE) {
      return update<rl::rmw_type_or>(value, order, {file, line},
                                     [](T old, T by) { return static_cast<T>(old | by); });
    }
    T fetch_and(T value, std::memory_order order, WEFT_MODEL_PLACE) {
      return update<rl::rmw_type_and>(value, order, {file, line},
                                      [](T old, T by) { return static_cast<T>(old & by); });
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order success, std::memory_order failure,
                               WEFT_MODEL_PLACE) {
      return compareExchange<true>(expected, value, success, failure, {file, line});
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order success, std::memory_order failure,
                                 WEFT_MODEL_PLACE) {
      return compareExchange<false>(expected, value, success, failure, {file, line});
    }

    // For futexes: the newest value, as the kernel sees it.
    T newest() const { return atomic_.debug_value(); }
    rl::atomic<T>& relacy() { return atomic_; }
    // False after the destruction, in memory that is still there.
    bool isThere() const { return isThere_; }

   private:
    template <rl::rmw_type_e kType, class F>
    T update(T value, std::memory_order order, Place place, F f) {
      if (place.bug() == SeededBug::Kind::Split) {
        const T old = atomic_.load(rl::mo_acquire, place.info());
        atomic_.store(f(old, value), rl::mo_release, place.info());
        return old;
      }
      const T old = atomic_.rmw(rl::rmw_type_t<kType>(), value, relacyOrder(order, place), place.info());
      touch(place);
      return old;
    }

    void touch(const Place& place) {
      if (place.bug() == SeededBug::Kind::Touch) {
        rl::ctx().sched();
        if (!isThere_) {
          rl::ctx().fail_test("access to what is gone", rl::test_result_user_assert_failed, place.info());
        }
      }
    }

    template <bool kSpurious>
    bool compareExchange(T& expected, T value, std::memory_order success, std::memory_order failure,
                         Place place) {
      if (place.bug() == SeededBug::Kind::Split) {
        const T old = atomic_.load(rl::mo_acquire, place.info());
        if (old == expected) {
          atomic_.store(value, rl::mo_release, place.info());
          return true;
        }
        expected = old;
        return false;
      }
      rl::memory_order onSuccess = relacyOrder(success, place);
      const rl::memory_order onFailure = relacyOrder(failure, place);
      // Relacy, as C++11, wants a failure no stronger than the success.
      if (onFailure == rl::mo_acquire && onSuccess == rl::mo_release) {
        onSuccess = rl::mo_acq_rel;
      }
      if (onFailure == rl::mo_acquire && onSuccess == rl::mo_relaxed) {
        onSuccess = rl::mo_acquire;
      }
      const bool isDone = atomic_.compare_exchange(rl::bool_t<kSpurious>(), expected, value, onSuccess,
                                                   onFailure, place.info());
      touch(place);
      return isDone;
    }

    rl::atomic<T> atomic_;
    volatile bool isThere_ = true;
  };

  template <class T>
  class Var {
   public:
    Var() : var_(T()) {}
    explicit Var(T value) : var_(value) {}
    T get(WEFT_MODEL_PLACE) const { return var_(Place{file, line}.info()).load(); }
    void set(T value, WEFT_MODEL_PLACE) { var_(Place{file, line}.info()).store(value); }

   private:
    rl::var<T> var_;
  };

  template <class T, size_t N>
  class LazyArray {
   public:
    Atomic<T>& operator[](size_t i) { return atoms_[i]; }

   private:
    Atomic<T> atoms_[N];
  };

  class Lock {
   public:
    void lock(WEFT_MODEL_PLACE) { mutex_.lock(Place{file, line}.info()); }
    bool try_lock(WEFT_MODEL_PLACE) { return mutex_.try_lock(Place{file, line}.info()); }
    void unlock(WEFT_MODEL_PLACE) { mutex_.unlock(Place{file, line}.info()); }

   private:
    rl::mutex mutex_;
  };

  static void fence(std::memory_order order, WEFT_MODEL_PLACE) {
    const Place place{file, line};
    const rl::memory_order weakened = relacyOrder(order, place);
    if (weakened != rl::mo_relaxed) {
      rl::atomic_thread_fence(weakened, place.info());
    }
  }
  // As StdSync, either of two ways, chosen anew for each interleaving: both are full fences, or the light one
  // is nothing and the heavy one reaches into all threads, as a membarrier does.
  static void lightFence(WEFT_MODEL_PLACE) {
    if (!areFencesAsymmetric) {
      fence(std::memory_order_seq_cst, file, line);
    }
  }
  static bool isLightFenceFree() { return areFencesAsymmetric; }
  static void lightFenceWhereFree() {}
  static void heavyFence(WEFT_MODEL_PLACE) {
    const Place place{file, line};
    fence(std::memory_order_seq_cst, file, line);
    if (areFencesAsymmetric && place.bug() != SeededBug::Kind::Relaxed) {
      rl::systemwide_fence(place.info());
    }
  }

  static void pause(WEFT_MODEL_PLACE) { rl::yield(1, Place{file, line}.info()); }
  static void backOff(uint32_t& fails, WEFT_MODEL_PLACE) {
    fails++;
    pause(file, line);
  }
  static void relax(uint32_t& round, WEFT_MODEL_PLACE) {
    round++;
    pause(file, line);
  }

  // A deadline passes, and a wait ends for no reason, whenever the checker likes.
  static bool futexWait(Atomic<uint32_t>& word, uint32_t expected, const detail::TimePoint* deadline,
                        WEFT_MODEL_PLACE) {
    rl::context& context = rl::ctx();
    context.sched();
    if (word.newest() != expected) {
      return true;
    }
    const rl::debug_info info = Place{file, line}.info();
    return word.relacy().wait(context, deadline != nullptr, true, info) != rl::unpark_reason_timeout;
  }

  static void futexWake(Atomic<uint32_t>& word, int count, WEFT_MODEL_PLACE) {
    rl::context& context = rl::ctx();
    context.sched();
    // For the kernel the word is but an address, at which nobody sleeps any more.
    if (!word.isThere()) {
      return;
    }
    word.relacy().wake(context, static_cast<rl::thread_id_t>(count), Place{file, line}.info());
  }

  // A descriptor that stays rung until a sleep with it has seen that. It orders nothing.
  struct WakeFdState {
    Atomic<uint32_t> isRung{0};

    // The sleep of a thread, which may also end for no reason, or because of another descriptor.
    void sleep(const detail::TimePoint* deadline, WEFT_MODEL_PLACE) {
      futexWait(isRung, 0, deadline, file, line);
      isRung.store(0, std::memory_order_relaxed, file, line);
    }
  };
  using WakeFd = WakeFdState*;
  static constexpr WakeFd kNoWakeFd = nullptr;
  static void signal(WakeFd wakeFd, WEFT_MODEL_PLACE) {
    wakeFd->isRung.store(1, std::memory_order_relaxed, file, line);
    futexWake(wakeFd->isRung, 1, file, line);
  }
};

// Ends the run with a report unless `condition` holds.
inline void check(bool condition, const char* what, WEFT_MODEL_PLACE) {
  if (!condition) {
    rl::ctx().fail_test(what, rl::test_result_user_assert_failed, Place{file, line}.info());
  }
}

}  // namespace weft::model
