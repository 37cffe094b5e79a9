// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The main loop of a game or a viewer: frame_loop [FRAMES]. Workers load pictures. The main thread alone may
// use the window: it takes over what they have loaded, for a few milliseconds a frame, and answers tasks that
// need it. In each frame all cores move the balls, and then the main thread draws them.

#include <weft/weft.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Picture = std::vector<uint32_t>;

// Stands for a library that only the thread may call that has made the window.
class Window {
 public:
  size_t pictureSize() const {
    check();
    return 64;
  }
  void add(const std::string& name, Picture picture) {
    check();
    pictures_[name] = std::move(picture);
  }
  void draw(int sum) {
    check();
    sum_ = sum;
  }
  void print() const {
    for (const auto& [name, picture] : pictures_) {
      std::printf("%s: %zu pixels\n", name.c_str(), picture.size());
    }
    std::printf("the balls are at %d\n", sum_);
  }

 private:
  void check() const { WEFT_ASSERT(std::this_thread::get_id() == owner_, "a worker uses the window"); }

  const std::thread::id owner_ = std::this_thread::get_id();
  std::map<std::string, Picture> pictures_;
  int sum_ = 0;
};

int moved(int place) { return (place * 3 + 1) % 1009; }

// Runs on a worker.
Picture load(const std::string& name, size_t size) {
  if (name == "missing") {
    throw std::runtime_error("there is no such picture");
  }
  return Picture(size * size, static_cast<uint32_t>(name.size()));
}

// Returns: a future that is ready once the window has the picture.
weft::Future<void> show(const std::string& name, Window& window, weft::MainLoopExecutor& mainLoop) {
  weft::Future<Picture> loaded = weft::async([name, &window, &mainLoop] {
    // The task waits for the main thread. Its worker does other work meanwhile.
    const size_t size = weft::async(mainLoop, [&] { return window.pictureSize(); }).get();
    return load(name, size);
  });
  return loaded.then(mainLoop, [name, &window](Picture picture) { window.add(name, std::move(picture)); });
}

void runFrames(int numFrames, Window& window, weft::MainLoopExecutor& mainLoop) {
  std::vector<int> balls(10'000);  // where they are
  std::iota(balls.begin(), balls.end(), 0);
  auto nextFrame = std::chrono::steady_clock::now();
  for (int frame = 0; frame < numFrames; ++frame) {
    mainLoop.runFor(std::chrono::milliseconds(2));
    weft::parallelFor(balls, [](int& ball) { ball = moved(ball); });
    window.draw(std::accumulate(balls.begin(), balls.end(), 0));
    nextFrame += std::chrono::milliseconds(4);
    weft::sleep_until(nextFrame);  // stands for the wait for the display
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int numFrames = argc > 1 ? std::atoi(argv[1]) : 60;
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);
  weft::MainLoopExecutor mainLoop;
  Window window;

  std::vector<weft::Future<void>> shown;
  for (const char* name : {"sky", "grass", "missing", "ball"}) {
    shown.push_back(show(name, window, mainLoop));
  }
  runFrames(numFrames, window, mainLoop);
  int numMissing = 0;
  for (weft::Future<void>& each : shown) {
    mainLoop.runUntil(each);  // a picture may take longer than all frames
    try {
      each.get();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "frame_loop: %s\n", error.what());
      ++numMissing;
    }
  }
  window.print();
  std::printf("%d missing\n", numMissing);
}
