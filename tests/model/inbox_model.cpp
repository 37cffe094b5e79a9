// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The test must fail with each of these in the code (see README.md):
// Seeded bug: queue/inbox.h:1:relaxed
// Seeded bug: queue/inbox.h:1:split
// Seeded bug: queue/inbox.h:2:relaxed
// Seeded bug: queue/inbox.h:2:split
// Seeded bug: queue/inbox.h:3:relaxed
// Seeded bug: queue/inbox.h:3:split

#include <weft/detail/park/parker.h>
#include <weft/detail/queue/inbox.h>

#include "explore.h"

namespace weft::model {
namespace {

struct Node {
  detail::InboxLink<Node, RelacySync> inboxNext;
  RelacySync::Var<int> payload{0};
  int producer = 0;
  int number = 0;
};

using Inbox = detail::Inbox<Node, RelacySync>;

constexpr int kProducers = 2;
constexpr int kNodes = 2;

struct InboxSuite {
  Inbox inbox;
  Node nodes[kProducers][kNodes];
  int nextNumber[kProducers] = {0, 0};
  int numTaken = 0;

  Node* prepare(int producer, int number) {
    Node& node = nodes[producer][number];
    node.producer = producer;
    node.number = number;
    node.payload.set(42);
    return &node;
  }

  // Each producer's nodes come in their order, with what was put into them.
  void takeAll() {
    for (Node* node = inbox.popAll(); node != nullptr;) {
      check(node->payload.get() == 42, "the payload is there");
      check(node->number == nextNumber[node->producer]++, "a producer's order is kept");
      numTaken++;
      Node* next = node->inboxNext.get();
      node->payload.set(0);
      node->inboxNext.set(nullptr);
      node = next;
    }
  }
};

// The owner polls.
struct Polling : rl::test_suite<Polling, 1 + kProducers>, InboxSuite {
  void thread(unsigned index) {
    if (index != 0) {
      for (int i = 0; i < kNodes; i++) {
        check(!inbox.push(prepare(static_cast<int>(index) - 1, i)), "the owner never parks");
      }
      return;
    }
    while (numTaken < kProducers * kNodes) {
      takeAll();
      RelacySync::pause();
    }
    check(inbox.empty(), "nothing is left");
  }
};

// The owner parks; the producer that replaces the mark, and only it, wakes the owner. A lost wake-up is a
// deadlock.
struct Parking : rl::test_suite<Parking, 1 + kProducers>, InboxSuite {
  detail::Parker<RelacySync> parker;
  RelacySync::Var<int> ownerState{0};

  void thread(unsigned index) {
    if (index != 0) {
      for (int i = 0; i < kNodes; i++) {
        if (inbox.push(prepare(static_cast<int>(index) - 1, i))) {
          check(ownerState.get() != 0, "the owner's state before it parked is seen");
          parker.unpark();
        }
      }
      return;
    }
    while (numTaken < kProducers * kNodes) {
      takeAll();
      if (numTaken == kProducers * kNodes) {
        break;
      }
      if (ownerState.get() == 0) {
        ownerState.set(1);
      }
      if (inbox.tryPark()) {
        parker.park();
      }
    }
  }
};

// The owner gives up a wait: either it takes its mark back, or a wake-up comes.
struct Cancelling : rl::test_suite<Cancelling, 2>, InboxSuite {
  detail::Parker<RelacySync> parker;
  bool isOwed = false;

  void thread(unsigned index) {
    if (index != 0) {
      if (inbox.push(prepare(0, 0))) {
        parker.unpark();
      }
      return;
    }
    while (numTaken == 0) {
      if (inbox.tryPark()) {
        if (inbox.cancelPark()) {
          RelacySync::pause();
        } else {
          check(!inbox.empty(), "a node has replaced the mark");
          parker.park();
        }
      }
      takeAll();
    }
  }
};

// The owner frees the inbox as soon as it has the last node, while that node's producer returns from push.
struct Freeing : rl::test_suite<Freeing, 2> {
  alignas(Inbox) unsigned char memory[sizeof(Inbox)];
  Inbox* inbox = nullptr;
  Node node;

  void before() { inbox = ::new (static_cast<void*>(memory)) Inbox(); }
  void thread(unsigned index) {
    if (index != 0) {
      inbox->push(&node);
      return;
    }
    while (inbox->popAll() == nullptr) {
      RelacySync::pause();
    }
    inbox->~Inbox();
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return exploreFinite<Polling>("polling", 300'000) && exploreFinite<Parking>("parking", 300'000) &&
           exploreFinite<Cancelling>("cancelling", 300'000) && exploreFinite<Freeing>("freeing", 300'000);
  });
}
