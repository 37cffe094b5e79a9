// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/weft.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

// Stands for a window, which only the main thread may use.
struct Window {
  std::vector<std::string> lines = std::vector<std::string>(3);
  int numShown = 0;

  void show(int line, const std::string& text) {
    lines[line] = text;
    ++numShown;
  }
  void nextFrame() const { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
};

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::MainLoopExecutor mainLoop;
  Window window;

  for (int i = 0; i < 3; ++i) {
    // A worker makes the text. Then the main thread shows it.
    weft::Future<std::string> text = weft::async(scheduler, [i] { return "line " + std::to_string(i); });
    (void)text.then(mainLoop, [&window, i](const std::string& made) { window.show(i, made); });
  }

  while (window.numShown < 3) {
    mainLoop.runAll();  // calls the functions that are due, on this thread
    window.nextFrame();
  }
  for (const std::string& line : window.lines) {
    std::printf("%s\n", line.c_str());
  }
}
