// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/weft.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

int parse(const std::string& text) {
  if (text.empty()) {
    throw std::invalid_argument("nothing to parse");
  }
  return std::stoi(text);
}

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  // get() throws what the task has thrown.
  weft::Future<int> number = weft::async([] { return parse(""); });
  try {
    std::printf("%d\n", number.get());
  } catch (const std::exception& error) {
    std::printf("the future: %s\n", error.what());
  }

  // So does wait(), once all tasks of the group have ended.
  weft::TaskGroup group;
  for (const char* text : {"1", "2", ""}) {
    group.run([text] { parse(text); });
  }
  try {
    group.wait();
  } catch (const std::exception& error) {
    std::printf("the group: %s\n", error.what());
  }

  // A task of schedule() has no future: it must catch its exceptions itself.
  weft::WaitGroup done(1);
  weft::schedule([done] {
    try {
      parse("");
    } catch (const std::exception& error) {
      std::printf("the task: %s\n", error.what());
    }
    done.done();
  });
  done.wait();
}
