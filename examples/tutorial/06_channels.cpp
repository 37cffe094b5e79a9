// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/weft.h>

#include <cstdio>
#include <optional>
#include <string>

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  // One task sends, and main receives, in the same order.
  weft::Channel<int> numbers(2);  // has room for two values
  weft::schedule([numbers] {
    for (int i = 1; i <= 4; ++i) {
      numbers.send(i);  // waits while the channel is full
    }
    numbers.close();
  });
  for (int number : numbers) {  // until the channel is closed and empty
    std::printf("received %d\n", number);
  }

  // Two tasks send on channels of their own. Each select() takes what comes first.
  weft::Channel<std::string> words, lines;
  weft::schedule([words] {
    words.send("red");
    words.send("green");
  });
  weft::schedule([lines] { lines.send("a whole line"); });
  int numWords = 0, numLines = 0;
  for (int i = 0; i < 3; ++i) {
    weft::select(weft::onReceive(words, [&](std::optional<std::string> word) { numWords += word ? 1 : 0; }),
                 weft::onReceive(lines, [&](std::optional<std::string> line) { numLines += line ? 1 : 0; }));
  }
  std::printf("received %d words and %d line\n", numWords, numLines);
}
