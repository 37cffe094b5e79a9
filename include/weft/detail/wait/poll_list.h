// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "weft/detail/base/sync.h"
#include "weft/detail/wait/select_node.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// The most requests that are tested in one call.
inline constexpr size_t kMostPolled = 512;

// A request of a poll source. It lies in the frame of who waits for it, or is allocated.
template <class Sync = StdSync>
struct PollNode : SelectNode<Sync> {
  enum class Place : uint8_t { None, Listed, Tested, Done };

  void* handle = nullptr;
  // Of a request for which nobody waits: called once it is done, as the last access to the node.
  void (*complete)(PollNode&) noexcept = nullptr;
  PollNode* nextDone = nullptr;
  Place place = Place::None;  // guarded by the list's lock
};

// The requests of one poll source. They are tested from the front, and those that are not done go to the end.
//
//   start      L  the node joins the list
//   test       L  takes a window of nodes out: Tested; nobody else tests meanwhile
//                 asks the source about them, without the lock
//              L  those that are done: Done, and claimed for their waiters; the others join the list again.
//                 Those that wait to withdraw are claimed.
//                 wakes those that were claimed
//   withdraw   L  Listed: takes the node out. Done: nothing. Tested: waits for the end of the test, and looks
//                 again.
//
// L: under the lock. The deadline, a stop and the test claim a waiter by its SelectChoice. A waiter that was
// claimed by one of the first two withdraws its node before it goes on, so that nobody uses the node or the
// handle later. If the test has found it done meanwhile, it is done: the result wins.
//
// What must not happen: a tester uses the list after the last request has let its waiter go on, who may
// destroy the list. The unlock at the end of a test is the tester's last access; it wakes waiters afterwards.
template <class Sync = StdSync>
class PollList {
 public:
  using Node = PollNode<Sync>;
  using Place = typename Node::Place;

  // What a test has ended, to be woken or called without the lock.
  struct Ended {
    WaitList claimed;
    Node* first = nullptr;  // with `complete`, linked by nextDone
    size_t numDone = 0;
  };

  explicit PollList(size_t most) : most_(most) {}
  PollList(const PollList&) = delete;

  // Makes room for one more request. Returns: false if there is none: then `self` is queued for it, and has
  // it once it is woken.
  bool takeRoom(Waiter& self) {
    const std::lock_guard<typename Sync::Lock> guard(lock_);
    if (size_ < most_) {
      ++size_;
      return true;
    }
    queued_.pushBack(self);
    return false;
  }
  // Makes room, also where there is none.
  void forceRoom() {
    const std::lock_guard<typename Sync::Lock> guard(lock_);
    ++size_;
  }
  // Returns: whether `self` was queued still; if not, a wake is owed.
  bool giveUp(Waiter& self) { return detail::unlinkIfLinked(self, lock_, queued_); }

  // Calls atStart() under the lock. Requires: room was made for it.
  template <class AtStart>
  void start(Node& node, const AtStart& atStart) {
    const std::lock_guard<typename Sync::Lock> guard(lock_);
    node.place = Place::Listed;
    listed_.pushBack(node);
    isFresh_ = true;
    atStart();
  }

  // Begins a test of at most most() nodes, which is called under the lock.
  // Returns: how many nodes are in `window`; 0, if another test is under way, or none is here.
  template <class Most>
  size_t beginTest(Node** window, const Most& most) {
    const std::lock_guard<typename Sync::Lock> guard(lock_);
    const size_t size = isTesting_ ? 0 : most();
    size_t count = 0;
    while (count < size && !listed_.isEmpty()) {
      Node& node = static_cast<Node&>(*listed_.popFront());
      node.place = Place::Tested;
      window[count++] = &node;
    }
    isTesting_ = isTesting_ || count != 0;
    return count;
  }
  // Begins a test of what is not in the list. Returns: false if another test is under way.
  bool beginTest() {
    const std::lock_guard<typename Sync::Lock> guard(lock_);
    return !std::exchange(isTesting_, true);
  }

  // Ends a test. isDone(i) tells of window[i]. atEnd(isFresh, size) is called under the lock: whether
  // requests were started since it was called last, and how many are left. Then wakeAll(ended.claimed)
  // follows.
  template <class IsDone, class AtEnd>
  void endTest(Node* const* window, size_t count, const IsDone& isDone, const AtEnd& atEnd, Ended& ended) {
    const std::lock_guard<typename Sync::Lock> guard(lock_);
    for (size_t i = 0; i < count; ++i) {
      Node& node = *window[i];
      if (isDone(i)) {
        take(node, ended);
      } else {
        node.place = Place::Listed;
        listed_.pushBack(node);
      }
    }
    giveRoom(ended.numDone, ended.claimed);
    end(ended.claimed);
    atEnd(std::exchange(isFresh_, false), size_);
  }
  // Ends a test of what is not in the list.
  void endTest(WaitList& claimed) {
    const std::lock_guard<typename Sync::Lock> guard(lock_);
    end(claimed);
  }

  enum class Withdrawn : uint8_t { Out, Done, Later };

  // Takes `node` out. Returns: Later, if it is tested just now: `self` will be woken after that.
  Withdrawn withdraw(Node& node, Waiter& self, WaitList& claimed) {
    const std::lock_guard<typename Sync::Lock> guard(lock_);
    switch (node.place) {
      case Place::Listed:
        listed_.remove(node);
        node.place = Place::None;
        giveRoom(1, claimed);
        return Withdrawn::Out;
      case Place::Tested:
        leaving_.pushBack(self);
        return Withdrawn::Later;
      case Place::None:
      case Place::Done:
        break;
    }
    return Withdrawn::Done;
  }

  // How many were started and are not done, those included for which room was made.
  size_t size() {
    const std::lock_guard<typename Sync::Lock> guard(lock_);
    return size_;
  }

 private:
  void take(Node& node, Ended& ended) {
    node.place = Place::Done;
    ++ended.numDone;
    if (node.complete != nullptr) {
      node.nextDone = std::exchange(ended.first, &node);
    } else if (detail::claim<Sync>(node)) {
      ended.claimed.pushClaimed(detail::ownerOf<Sync>(node));
    }
  }

  void end(WaitList& claimed) {
    claimed.claimAll(leaving_);
    isTesting_ = false;
  }

  // Those that queue have the room of those that are done.
  void giveRoom(size_t count, WaitList& claimed) {
    for (; count != 0 && !queued_.isEmpty(); --count) {
      queued_.claimFront(claimed);
    }
    size_ -= count;
  }

  typename Sync::Lock lock_;
  const size_t most_;
  size_t size_ = 0;
  bool isTesting_ = false;
  bool isFresh_ = false;  // a request was started since the last test
  WaitList listed_;
  WaitList leaving_;  // wait for the end of the test, to withdraw
  WaitList queued_;   // wait for room
};

}  // namespace weft::inline v0_1::detail
