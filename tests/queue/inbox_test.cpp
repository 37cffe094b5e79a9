// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/queue/inbox.h>

#include <memory>
#include <thread>
#include <vector>

#include <weft/detail/park/parker.h>

#include <gtest/gtest.h>

namespace weft::inline v0_1::detail {
namespace {

struct Node {
  InboxLink<Node> inboxNext;
  int producer = 0;
  int number = 0;
};

TEST(InboxTest, PopAllReturnsTheOldestFirst) {
  Inbox<Node> inbox;
  EXPECT_EQ(inbox.popAll(), nullptr);
  Node nodes[3];
  for (Node& node : nodes) {
    EXPECT_FALSE(inbox.push(&node));
  }
  EXPECT_FALSE(inbox.empty());
  Node* node = inbox.popAll();
  for (Node& expected : nodes) {
    ASSERT_EQ(node, &expected);
    node = node->inboxNext.get();
  }
  EXPECT_EQ(node, nullptr);
  EXPECT_TRUE(inbox.empty());
}

TEST(InboxTest, TheFirstPushToAParkedOwnerOwesTheWake) {
  Inbox<Node> inbox;
  Node nodes[2];
  ASSERT_TRUE(inbox.tryPark());
  EXPECT_TRUE(inbox.empty());
  EXPECT_EQ(inbox.popAll(), nullptr);
  EXPECT_TRUE(inbox.push(&nodes[0]));
  EXPECT_FALSE(inbox.push(&nodes[1]));
  EXPECT_FALSE(inbox.cancelPark());
  Node* node = inbox.popAll();
  EXPECT_EQ(node, &nodes[0]);
  EXPECT_EQ(node->inboxNext.get(), &nodes[1]);
  EXPECT_EQ(nodes[1].inboxNext.get(), nullptr);
}

TEST(InboxTest, ParkFailsWhileANodeIsQueued) {
  Inbox<Node> inbox;
  Node node;
  inbox.push(&node);
  EXPECT_FALSE(inbox.tryPark());
  EXPECT_EQ(inbox.popAll(), &node);
  EXPECT_TRUE(inbox.tryPark());
  EXPECT_TRUE(inbox.cancelPark());
  EXPECT_FALSE(inbox.push(&node));
}

TEST(InboxTest, OrderOfEachProducerHoldsAndNoWakeIsLost) {
  constexpr int kProducers = 3;
  constexpr int kNodes = 20'000;
  Inbox<Node> inbox;
  Parker<>& parker = *acquireParker();
  std::vector<Node> nodes(kProducers * kNodes);
  std::vector<std::thread> producers;
  for (int p = 0; p < kProducers; p++) {
    producers.emplace_back([&, p] {
      for (int i = 0; i < kNodes; i++) {
        Node& node = nodes[static_cast<size_t>(p * kNodes + i)];
        node.producer = p;
        node.number = i;
        if (inbox.push(&node)) {
          parker.unpark();
        }
        if (i % 1000 == 0) {
          std::this_thread::yield();
        }
      }
    });
  }
  int next[kProducers] = {};
  for (int taken = 0; taken < kProducers * kNodes;) {
    Node* node = inbox.popAll();
    if (node == nullptr && inbox.tryPark()) {
      parker.park();
    }
    for (; node != nullptr; node = node->inboxNext.get()) {
      ASSERT_EQ(node->number, next[node->producer]++);
      taken++;
    }
  }
  for (auto& producer : producers) {
    producer.join();
  }
  releaseParker(&parker);
}

// The owner frees the inbox as soon as it has the node; ASan and TSan watch the producer's way out.
TEST(InboxTest, MayBeFreedAsSoonAsTheLastNodeIsTaken) {
  for (int i = 0; i < 2'000; i++) {
    auto inbox = std::make_unique<Inbox<Node>>();
    Node node;
    std::thread producer([raw = inbox.get(), &node] { raw->push(&node); });
    uint32_t round = 0;
    while (inbox->popAll() == nullptr) {
      StdSync::relax(round);
    }
    inbox.reset();
    producer.join();
  }
}

}  // namespace
}  // namespace weft::inline v0_1::detail
