// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

// The member `inboxNext` of a node of an Inbox: the next node.
template <class Node, class Sync = StdSync>
class InboxLink {
 public:
  // For the thread that has the node; relaxed: they order nothing.
  Node* get() const { return node_.load(std::memory_order_relaxed); }
  void set(Node* node) { node_.store(node, std::memory_order_relaxed); }

 private:
  template <class, class>
  friend class Inbox;

  typename Sync::template Atomic<Node*> node_{nullptr};
};

// An unbounded intrusive queue with any number of producers and one consumer, the owner. The list is a stack
// that is only taken whole, so it has no ABA problem: no thread follows a link of a node that another thread
// may take. Treiber's stack (IBM RJ 5118, 1986) links a node before it is the newest, by a compare-exchange
// that may fail. Here an exchange makes the node the newest, and the link follows, as in D. Vyukov's queue
// (1024cores, 2010; there is no paper).
//
// State: `head_` is null (empty), a mark (empty, and the owner sleeps or is about to), or the newest node.
// The older nodes follow through `inboxNext`, which is an odd number until its producer has written it. A
// mark is an odd number too. If several threads are the owner in turn, the mark says which of them to wake.
//
//   null -> mark    the owner, tryPark
//   mark -> null    the owner, cancelPark
//   any -> node     a producer, push; if it replaced a mark, it must wake the owner
//   node -> null    the owner, popAll
//
// What must not happen:
//     owner                        producer
//     popAll: nothing
//                                  push; nobody is parked: no wake-up
//     parks, and sleeps with a node queued
// It cannot happen: parking is a compare-exchange of the same word from null, so it fails after the push.
//
// The exchange is the producer's last access to the inbox. The link is its last access to the node, and the
// owner waits for that. Then the owner may take the node, finish, and free the inbox. A wake-up that the
// producer owes goes to a Parker, whose memory outlives all threads.
//
// Rejected: a separate "parked" flag. It costs both sides a full fence, and the producer a cache line.
//
// Rejected: a compare-exchange in push. It would be lock-free; now a producer that is preempted between
// exchange and link holds up the owner, which yields its processor meanwhile. But on some processors it costs
// twice as much alone, and three times beside producers; on AMD EPYC 2 ns more for each of 100 in a row.
template <class Node, class Sync = StdSync>
class Inbox {
 public:
  // Any thread: appends `node`, which belongs to the inbox until popAll returns it.
  // Returns: the mark of the parked owner, which the caller must wake, or 0.
  // Memory ordering: the owner sees, after the popAll that returns `node`, what came before push. A caller
  // that gets a mark sees what the owner did before tryPark.
  uintptr_t push(Node* node) { return pushChain(node, node); }

  // Any thread: appends several nodes, linked through inboxNext from the newest, popped last, to the oldest.
  uintptr_t pushChain(Node* newest, Node* oldest) {
    // relaxed: published by the exchange.
    oldest->inboxNext.node_.store(unlinked(), std::memory_order_relaxed);
    // (1) acq_rel: publishes the node to (2); sees what the owner did before it parked (3).
    Node* old = head_.exchange(newest, std::memory_order_acq_rel);
    // (4) release: the producer is done with the node; pairs with (5).
    oldest->inboxNext.node_.store(isMark(old) ? nullptr : old, std::memory_order_release);
    return isMark(old) ? reinterpret_cast<uintptr_t>(old) : 0;
  }

  // Owner: removes all nodes. Returns: the oldest, or null. The others follow through inboxNext.
  Node* popAll() {
    Node* node = popAllNewestFirst();
    Node* oldestFirst = nullptr;
    while (node != nullptr) {
      Node* next = older(*node);
      node->inboxNext.set(oldestFirst);
      oldestFirst = node;
      node = next;
    }
    return oldestFirst;
  }

  // Owner: removes all nodes. Returns: the newest, or null. The others follow by older().
  Node* popAllNewestFirst() {
    if (empty()) {
      return nullptr;
    }
    // (2) acquire: sees all nodes, as pushes are read-modify-writes, and what came before; pairs with (1).
    return head_.exchange(nullptr, std::memory_order_acquire);
  }

  // Owner: the node that was pushed before `node`, or null. Waits until the producer of `node` has linked it.
  static Node* older(Node& node) {
    uint32_t round = 0;
    for (;;) {
      // (5) acquire: the producer's last access comes before the end of the node; pairs with (4).
      Node* next = node.inboxNext.node_.load(std::memory_order_acquire);
      if (next != unlinked()) [[likely]] {
        return next;
      }
      Sync::relax(round);
    }
  }

  // Owner: leaves `mark`. Returns: false if a node is queued (then do not sleep), or if a mark is there.
  bool tryPark(uintptr_t mark = kParked) {
    Node* expected = nullptr;
    // (3) release: a producer that replaces the mark sees what the owner did before; pairs with (1).
    return head_.compare_exchange_strong(expected, toNode(mark), std::memory_order_release,
                                         std::memory_order_relaxed);
  }

  // Owner: removes `mark`, unless a producer has replaced it. That producer then owes a wake-up, which may
  // come late: the owner's parker gets a permit that nobody waits for. Returns: whether it did.
  bool cancelPark(uintptr_t mark = kParked) {
    Node* expected = toNode(mark);
    // relaxed: takes back the owner's own mark.
    return head_.compare_exchange_strong(expected, nullptr, std::memory_order_relaxed,
                                         std::memory_order_relaxed);
  }

  // Any thread: whether no node was queued at some recent moment. A parked owner's inbox is empty.
  bool empty() const {
    // relaxed: an estimate for others; the owner takes the nodes by (2).
    const Node* head = head_.load(std::memory_order_relaxed);
    return head == nullptr || isMark(head);
  }

  // Any thread: whether a mark was there at some recent moment.
  bool isParked() const {
    return isMark(head_.load(std::memory_order_relaxed));  // relaxed: as empty()
  }

 private:
  static constexpr uintptr_t kParked = 1;
  static Node* unlinked() { return toNode(1); }
  static Node* toNode(uintptr_t mark) { return reinterpret_cast<Node*>(mark); }
  static bool isMark(const Node* head) { return (reinterpret_cast<uintptr_t>(head) & 1) != 0; }

  typename Sync::template Atomic<Node*> head_{nullptr};
};

}  // namespace weft::inline v0_1::detail
