// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Futures: each text is counted by a task of its own, a continuation takes the sum when all are done, and the
// main loop gets to print it. A text that cannot be counted throws, and only whoever asks for the sum has to
// know.

#include <weft/weft.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

int countWords(const std::string& text) {
  if (text.empty()) {
    throw std::invalid_argument("there is no text");
  }
  int count = 1;
  for (const char c : text) {
    count += c == ' ' ? 1 : 0;
  }
  return count;
}

weft::Future<int> countAll(const std::vector<std::string>& texts) {
  std::vector<weft::Future<int>> counts;
  for (const std::string& text : texts) {
    counts.push_back(weft::async([text] { return countWords(text); }));
  }
  return weft::whenAll(counts).then([](std::vector<weft::Future<int>> all) {
    int sum = 0;
    for (weft::Future<int>& one : all) {
      sum += one.get();
    }
    return sum;
  });
}

}  // namespace

int main() {
  weft::MainLoopExecutor mainLoop;
  int numPrinted = 0;
  const auto print = [&numPrinted](weft::Future<int> sum) {
    ++numPrinted;
    try {
      std::printf("%d words\n", sum.get());
    } catch (const std::exception& error) {
      std::printf("no sum: %s\n", error.what());
    }
  };

  // Nothing is bound here, so that weft's default pool runs the tasks.
  weft::Future<void> good =
      countAll({"the quick brown fox", "jumps over", "the lazy dog"}).then(mainLoop, print);
  while (!good.ready()) {
    mainLoop.runAll();
  }
  weft::Future<void> bad = countAll({"one", "", "three"}).then(mainLoop, print);
  while (!bad.ready()) {
    mainLoop.runAll();
  }
  return numPrinted == 2 ? 0 : 1;
}
