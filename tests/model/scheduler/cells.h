// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

#include "../relacy_sync.h"

// Atomics, locks and plain shared variables that the checker sees wherever the library has one: also where
// memory is freed that holds some without a call of their destructors, and in static memory, which the
// checker would take for the first run's.
namespace weft::model {

// What stands for one object: it lives until the object is destroyed, or its memory is freed, or the run
// ends. Its own memory is used again only by the next run, so that a late access finds it.
class Cell {
 public:
  virtual void end() = 0;
  const void* owner = nullptr;
  bool isThere = true;

 protected:
  ~Cell() = default;
};

// The cells of the run that goes on.
class Cells {
 public:
  // Begins a run: forgets those of a run that has ended in an error.
  void begin() {
    ++run_;
    numCells_ = 0;
    numUsed_ = 0;
    stay_ = kStays[rl::rand(sizeof kStays / sizeof *kStays)];
  }
  uint32_t run() const { return run_; }

  // Before each access: lets the checker choose which thread goes on, or not.
  //
  // The checker alone would let each thread go on after each access alike. Then a thread that is held up
  // while others do much, as when it is preempted, is hardly ever seen. So in most runs threads go on without
  // a choice for a number of accesses, on average, and now and then one has to be chosen many times.
  void choose() const {
    if (stay_ == 0) {
      rl::ctx().sched();
    } else if (rl::rand(stay_) == 0) {
      for (int i = rl::rand(kHeldUpOnceIn) == 0 ? kHeldUpFor : 1; i != 0; --i) {
        rl::ctx().sched();
      }
    }
  }

  template <class T, class... Args>
  T* make(const void* owner, Args&&... args) {
    const size_t size = (sizeof(T) + 15) & ~size_t{15};
    if (numUsed_ + size > sizeof(memory_) || numCells_ == kMostCells) {
      std::fputs("weft model: too many atomics in one run. Raise Cells::kBytes and kMostCells\n", stderr);
      std::abort();
    }
    // The first store of an atomic is a step of the checker elsewhere. Nobody knows the atomic yet.
    const rl::preemption_disabler guard(rl::ctx());
    auto* cell = ::new (memory_ + numUsed_) T(std::forward<Args>(args)...);
    numUsed_ += size;
    cells_[numCells_++] = cell;
    cell->owner = owner;
    return cell;
  }

  static void end(Cell& cell) {
    if (cell.isThere) {
      cell.isThere = false;
      cell.end();
    }
  }
  // The memory of [begin, begin + size) is freed.
  void endIn(const void* begin, size_t size) {
    const auto first = reinterpret_cast<uintptr_t>(begin);
    for (size_t i = 0; i < numCells_; ++i) {
      if (reinterpret_cast<uintptr_t>(cells_[i]->owner) - first < size) {
        end(*cells_[i]);
      }
    }
  }
  void endAll() {
    for (size_t i = 0; i < numCells_; ++i) {
      end(*cells_[i]);
    }
  }

 private:
  static constexpr unsigned kStays[] = {0, 4, 16, 64};
  static constexpr unsigned kHeldUpOnceIn = 16;  // choices
  static constexpr int kHeldUpFor = 64;          // choices
  static constexpr size_t kMostCells = 8192;
  static constexpr size_t kBytes = size_t{1} << 20;

  uint32_t run_ = 0;
  unsigned stay_ = 0;
  size_t numCells_ = 0;
  size_t numUsed_ = 0;
  Cell* cells_[kMostCells];
  alignas(16) char memory_[kBytes];
};

inline Cells cells;

// Whether `object` lies in static memory, so that it begins each run with the value it was made with.
bool isStatic(const void* object);

inline void assertThere(const Cell& cell, const char* file, int line) {
  if (!cell.isThere) {
    rl::ctx().fail_test("access to what is gone", rl::test_result_user_assert_failed,
                        Place{file, line}.info());
  }
}

// One access to `cell`, before which the checker may let other threads go on. They may destroy it. An access
// that a seeded bug cuts in two is not one step.
class Step {
 public:
  Step(const Cell& cell, const char* file, int line)
      : isWhole_(Place{file, line}.bug() == SeededBug::Kind::None) {
    cells.choose();
    assertThere(cell, file, line);
    if (isWhole_) {
      rl::ctx().disable_preemption();
    }
  }
  ~Step() {
    if (isWhole_) {
      rl::ctx().enable_preemption();
    }
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

 private:
  const bool isWhole_;
};

// The checker has no pointers to const.
template <class T>
struct StoredAs {
  using Type = T;
  static constexpr Type from(T value) { return value; }
};
template <class T>
struct StoredAs<const T*> {
  using Type = T*;
  static constexpr Type from(const T* value) { return const_cast<T*>(value); }
};

template <class T>
class CellAtomic {
  using Stored = typename StoredAs<T>::Type;
  static constexpr Stored stored(T value) { return StoredAs<T>::from(value); }

 public:
  static constexpr bool is_always_lock_free = true;

  constexpr CellAtomic() : CellAtomic(T()) {}
  constexpr CellAtomic(T value) : first_(stored(value)) {
    if (!std::is_constant_evaluated() && !isStatic(this)) {
      cell_ = cells.make<Content>(this, first_);
    }
  }
  ~CellAtomic() {
    if (cell_ != nullptr) {
      Cells::end(*cell_);
    }
  }
  CellAtomic(const CellAtomic&) = delete;
  CellAtomic& operator=(const CellAtomic&) = delete;

  // For a futex.
  RelacySync::Atomic<Stored>& checked(const char* file, int line) const {
    Content& content = cell();
    assertThere(content, file, line);
    return content.atomic;
  }

  T load(std::memory_order order = std::memory_order_seq_cst, WEFT_MODEL_PLACE) const {
    const Access access(cell(), file, line);
    return access->load(order, file, line);
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst, WEFT_MODEL_PLACE) {
    const Access access(cell(), file, line);
    access->store(stored(value), order, file, line);
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst, WEFT_MODEL_PLACE) {
    const Access access(cell(), file, line);
    return access->exchange(stored(value), order, file, line);
  }
  template <class U>
  T fetch_add(U value, std::memory_order order = std::memory_order_seq_cst, WEFT_MODEL_PLACE) {
    const Access access(cell(), file, line);
    return access->fetch_add(value, order, file, line);
  }
  template <class U>
  T fetch_sub(U value, std::memory_order order = std::memory_order_seq_cst, WEFT_MODEL_PLACE) {
    const Access access(cell(), file, line);
    return access->fetch_sub(value, order, file, line);
  }
  T fetch_or(T value, std::memory_order order = std::memory_order_seq_cst, WEFT_MODEL_PLACE) {
    const Access access(cell(), file, line);
    return access->fetch_or(value, order, file, line);
  }
  T fetch_and(T value, std::memory_order order = std::memory_order_seq_cst, WEFT_MODEL_PLACE) {
    const Access access(cell(), file, line);
    return access->fetch_and(value, order, file, line);
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order success, std::memory_order failure,
                             WEFT_MODEL_PLACE) {
    const Access access(cell(), file, line);
    Stored found = stored(expected);
    const bool isDone = access->compare_exchange_weak(found, stored(value), success, failure, file, line);
    expected = found;
    return isDone;
  }
  bool compare_exchange_strong(T& expected, T value, std::memory_order success, std::memory_order failure,
                               WEFT_MODEL_PLACE) {
    const Access access(cell(), file, line);
    Stored found = stored(expected);
    const bool isDone = access->compare_exchange_strong(found, stored(value), success, failure, file, line);
    expected = found;
    return isDone;
  }

 private:
  struct Content final : Cell {
    explicit Content(Stored value) : atomic(value) {}
    void end() override { atomic.~Atomic(); }
    union {
      RelacySync::Atomic<Stored> atomic;
    };
  };
  // One access, as a Step.
  struct Access {
    Access(Content& its, const char* file, int line) : content(its), step(its, file, line) {}
    auto* operator->() const { return &content.atomic; }

    Content& content;
    const Step step;
  };
  // Of an atomic in static memory. It lies elsewhere, made with the first access.
  struct Static {
    uint32_t run = 0;
    Content* cell = nullptr;
  };

  Content& cell() const {
    if (cell_ != nullptr) {
      return *cell_;
    }
    if (static_ == nullptr) {
      static_ = ::new (std::malloc(sizeof(Static))) Static;
    }
    if (static_->run != cells.run()) {
      static_->run = cells.run();
      static_->cell = cells.make<Content>(this, first_);
    }
    return *static_->cell;
  }

  const Stored first_;
  Content* cell_ = nullptr;
  mutable Static* static_ = nullptr;
};

// Data that is shared without being atomic: two accesses that nothing orders are an error.
template <class T>
class CellVar {
 public:
  CellVar() : CellVar(T()) {}
  explicit CellVar(T value) : cell_(cells.make<Content>(this, value)) {}
  ~CellVar() { Cells::end(*cell_); }
  CellVar(const CellVar&) = delete;
  CellVar& operator=(const CellVar&) = delete;

  T get(WEFT_MODEL_PLACE) const {
    assertThere(*cell_, file, line);
    return cell_->var.get(file, line);
  }
  void set(T value, WEFT_MODEL_PLACE) {
    assertThere(*cell_, file, line);
    cell_->var.set(value, file, line);
  }

 private:
  struct Content final : Cell {
    explicit Content(T value) : var(value) {}
    void end() override { var.~Var(); }
    union {
      RelacySync::Var<T> var;
    };
  };

  Content* const cell_;
};

class CellLock {
 public:
  CellLock() : cell_(cells.make<Content>(this)) {}
  ~CellLock() { Cells::end(*cell_); }
  CellLock(const CellLock&) = delete;
  CellLock& operator=(const CellLock&) = delete;

  void lock(WEFT_MODEL_PLACE) {
    assertThere(*cell_, file, line);
    cell_->mutex.lock(file, line);
  }
  bool try_lock(WEFT_MODEL_PLACE) {
    assertThere(*cell_, file, line);
    return cell_->mutex.try_lock(file, line);
  }
  void unlock(WEFT_MODEL_PLACE) {
    assertThere(*cell_, file, line);
    cell_->mutex.unlock(file, line);
  }

 private:
  struct Content final : Cell {
    Content() : mutex() {}
    void end() override { mutex.~Lock(); }
    union {
      RelacySync::Lock mutex;
    };
  };

  Content* const cell_;
};

// Its waits have no end but a notification: what a scheduler does when it has waited for long is a message.
class CellCondition {
 public:
  CellCondition() : cell_(cells.make<Content>(this)) {}
  ~CellCondition() { Cells::end(*cell_); }
  CellCondition(const CellCondition&) = delete;
  CellCondition& operator=(const CellCondition&) = delete;

  template <class Condition>
  void wait(std::unique_lock<CellLock>& guard, Condition isMet, WEFT_MODEL_PLACE) {
    Locked locked{*guard.mutex()};
    while (!isMet()) {
      assertThere(*cell_, file, line);
      cell_->condition.wait(locked, Place{file, line}.info());
    }
  }
  // Here no time comes before what is waited for.
  template <class Duration, class Condition>
  bool wait_for(std::unique_lock<CellLock>& guard, const Duration&, Condition isMet, WEFT_MODEL_PLACE) {
    wait(guard, isMet, file, line);
    return true;
  }
  template <class Time, class Condition>
  bool wait_until(std::unique_lock<CellLock>& guard, const Time&, Condition isMet, WEFT_MODEL_PLACE) {
    wait(guard, isMet, file, line);
    return true;
  }
  void notify_all(WEFT_MODEL_PLACE) {
    assertThere(*cell_, file, line);
    cell_->condition.notify_all(Place{file, line}.info());
  }

 private:
  // As the checker's condition variable wants a mutex.
  struct Locked {
    void lock(rl::debug_info_param) { mutex.lock(); }
    void unlock(rl::debug_info_param) { mutex.unlock(); }
    CellLock& mutex;
  };
  struct Content final : Cell {
    Content() : condition() {}
    void end() override { condition.~condition_variable_std(); }
    union {
      rl::condition_variable condition;
    };
  };

  Content* const cell_;
};

}  // namespace weft::model
