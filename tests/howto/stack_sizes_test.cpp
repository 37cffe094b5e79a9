// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The code of docs/howto/stack_sizes.md.

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include <weft/scheduler.h>
#include <weft/waitgroup.h>

namespace {

weft::Scheduler::Config manySmallStacks() {
  return weft::Scheduler::Config::allCores().setFiberStackSize(size_t{64} * 1024);
}

struct Node {
  std::vector<std::unique_ptr<Node>> children;
};

int countNodes(const Node& root) {
  std::vector<const Node*> left = {&root};  // on the heap, however deep the tree is
  int count = 0;
  while (!left.empty()) {
    const Node* node = left.back();
    left.pop_back();
    ++count;
    for (const auto& child : node->children) {
      left.push_back(child.get());
    }
  }
  return count;
}

TEST(StackSizesHowtoTest, ALoopWithAListCountsADeepTreeOnASmallStack) {
  constexpr int kDepth = 10'000;
  std::vector<Node*> chain;
  Node root;
  chain.push_back(&root);
  for (int i = 0; i < kDepth; ++i) {
    chain.push_back(chain.back()->children.emplace_back(std::make_unique<Node>()).get());
  }
  {
    weft::Scheduler scheduler(manySmallStacks());
    const weft::Scheduler::Binding bound(scheduler);
    const weft::WaitGroup done(1);
    weft::schedule([&root, done] {
      EXPECT_EQ(countNodes(root), kDepth + 1);
      done.done();
    });
    done.wait();
  }
  while (!chain.empty()) {  // the children first, so that no destructor recurses
    chain.back()->children.clear();
    chain.pop_back();
  }
}

}  // namespace
