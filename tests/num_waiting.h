// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>

#include <weft/conditionvariable.h>
#include <weft/event.h>
#include <weft/mutex.h>
#include <weft/semaphore.h>
#include <weft/waitgroup.h>

// How many wait for a primitive.
namespace weft::tests {

// Lets tests look at how many wait: a test that must know that somebody waits need then not guess by
// sleeping. An explicit instantiation may name private members.
template <class Tag, auto kMember>
struct Expose {
  friend constexpr auto member(Tag) { return kMember; }
};

template <class Int>
int countListed(detail::WaitWord<Int>& word) {
  if (!word.lockIfAwaited()) {
    return 0;
  }
  int count = 0;
  for (const detail::Waiter* waiter = word.list.front(); waiter != nullptr; waiter = waiter->next) {
    ++count;
  }
  // Not unlock(): there may be a waiter that is in no list yet.
  word.bits.fetch_and(~word.kLocked, std::memory_order_release);
  return count;
}

// Defines numWaiting(Class&), which is to be declared before, for a class that has a detail::WaitWord as a
// member.
template <class Class, auto kWord>
struct ExposeWord {
  friend int numWaiting(Class& object) { return countListed(object.*kWord); }
};

// Defines numWaiting(Class&), which is to be declared before, for a class that has as a member a class with a
// detail::WaitWord.
template <class Class, auto kCore, auto kWord>
struct ExposeCore {
  friend int numWaiting(Class& object) { return countListed((object.*kCore).*kWord); }
};

struct EventState {
  friend constexpr auto member(EventState);
};
struct WaitGroupState {
  friend constexpr auto member(WaitGroupState);
};
struct SemaphoreState {
  friend constexpr auto member(SemaphoreState);
};
template struct Expose<EventState, &Event::state_>;
template struct Expose<WaitGroupState, &WaitGroup::state_>;
template struct Expose<SemaphoreState, &Semaphore::state_>;

struct EventWord {
  friend constexpr auto member(EventWord);
};
template struct Expose<EventWord, &detail::EventCore<>::word_>;

// Return: how many wait.
inline int numWaiting(const Event& event) {
  auto& word = (event.*member(EventState{}))->core.*member(EventWord{});
  return countListed(word) + (word.bits.load(std::memory_order_relaxed) > 7 ? 1 : 0);
}
struct WaitGroupWord {
  friend constexpr auto member(WaitGroupWord);
};
struct WaitGroupFirst {
  friend constexpr auto member(WaitGroupFirst);
};
template struct Expose<WaitGroupWord, &detail::WaitGroupCore<>::word_>;
template struct Expose<WaitGroupFirst, &detail::WaitGroupCore<>::first_>;
inline int numWaiting(const WaitGroup& group) {
  auto& state = *(group.*member(WaitGroupState{}));
  const auto& first = state.core.*member(WaitGroupFirst{});
  return countListed(state.core.*member(WaitGroupWord{})) +
         (first.load(std::memory_order_relaxed) != nullptr ? 1 : 0);
}
inline int numWaiting(detail::SemaphoreCore<>& core);
template struct ExposeWord<detail::SemaphoreCore<>, &detail::SemaphoreCore<>::word_>;
inline int numWaiting(const Semaphore& semaphore) {
  return numWaiting((semaphore.*member(SemaphoreState{}))->core);
}
inline int numWaiting(ConditionVariable& variable);
template struct ExposeCore<ConditionVariable, &ConditionVariable::core_, &detail::ConditionCore<>::word_>;
inline int numWaiting(mutex& mutex);
template struct ExposeCore<mutex, &mutex::core_, &detail::MutexCore<>::word_>;

}  // namespace weft::tests
