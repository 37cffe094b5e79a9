// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>

#include <weft/weft.h>

// The examples of docs/howto/main_thread.md.
namespace howto_main_thread {
namespace {

struct Image {
  int width = 0;
};
Image load() { return {640}; }
int shownWidth = 0;
std::thread::id shownBy;
void show(const Image& image) {
  shownWidth = image.width;
  shownBy = std::this_thread::get_id();
}

void showImage() {
  weft::MainLoopExecutor mainLoop;
  weft::Future<void> shown = weft::async(load).then(mainLoop, [](Image image) { show(image); });
  mainLoop.runUntil(shown);  // runs what comes for this thread; sleeps while nothing does
  shown.get();               // throws what load() or show() has thrown
}

void runMainThread(const weft::Channel<weft::Task>& tasks, const std::stop_token& stop) {
  for (bool isOver = false; !isOver;) {
    weft::select(weft::onReceive(tasks,
                                 [&](std::optional<weft::Task> task) {
                                   if (task) {
                                     (*task)();
                                   } else {
                                     isOver = true;  // the channel is closed and empty
                                   }
                                 }),
                 weft::onStop(stop, [&] { isOver = true; }));
  }
}

struct Window {
  bool isOpen() const { return numFrames < 3; }
  void drawFrame() { ++numFrames; }
  int numFrames = 0;
};

void runFrames(Window& window, weft::MainLoopExecutor& mainLoop) {
  while (window.isOpen()) {
    mainLoop.runFor(std::chrono::milliseconds(4));  // no task begins after 4 ms
    window.drawFrame();
  }
  mainLoop.runAll();
}

TEST(HowtoMainThreadTest, RunsWhatComesUntilAFutureIsReady) {
  showImage();
  EXPECT_EQ(shownWidth, 640);
  EXPECT_EQ(shownBy, std::this_thread::get_id());
}

TEST(HowtoMainThreadTest, RunsTheTasksOfAChannelUntilItIsClosed) {
  const weft::Channel<weft::Task> tasks(8);
  std::thread::id ranOn;
  std::thread other([&] {
    tasks.send(weft::Task([&] { ranOn = std::this_thread::get_id(); }));
    tasks.close();
  });
  runMainThread(tasks, {});
  other.join();
  EXPECT_EQ(ranOn, std::this_thread::get_id());
}

TEST(HowtoMainThreadTest, LeavesTheChannelAtAStop) {
  const weft::Channel<weft::Task> tasks(8);
  std::stop_source stop;
  std::thread other([&] { stop.request_stop(); });
  runMainThread(tasks, stop.get_token());
  other.join();
}

TEST(HowtoMainThreadTest, RunsTasksBetweenFrames) {
  Window window;
  weft::MainLoopExecutor mainLoop;
  int numRun = 0;
  for (int i = 0; i < 5; ++i) {
    (void)weft::async(mainLoop, [&] { ++numRun; });
  }
  runFrames(window, mainLoop);
  EXPECT_EQ(numRun, 5);
  EXPECT_EQ(window.numFrames, 3);
}

}  // namespace
}  // namespace howto_main_thread
