// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/weft.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

std::string load(const std::string& name) { return "the text of " + name; }

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  // The result of one task.
  weft::Future<std::string> text = weft::async([] { return load("a.txt"); });
  std::printf("%s\n", text.get().c_str());

  // A second task that begins when the first one has its result.
  weft::Future<size_t> size =
      weft::async([] { return load("b.txt"); }).then([](std::string loaded) { return loaded.size(); });
  std::printf("b.txt has %zu characters\n", size.get());

  // Several tasks at once.
  std::vector<weft::Future<int>> squares;
  for (int i = 1; i <= 4; ++i) {
    squares.push_back(weft::async([i] { return i * i; }));
  }
  int sum = 0;
  for (weft::Future<int>& square : weft::whenAll(std::move(squares)).get()) {
    sum += square.get();
  }
  std::printf("the sum of the squares is %d\n", sum);
}
