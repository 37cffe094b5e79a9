// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/weft.h>

// Examples of headers' comments and of docs/channels.md, word for word, which docs_examples_test.cpp checks.
namespace {

std::atomic<int> numCalls{0};

void work() { ++numCalls; }
void load(const char*) { ++numCalls; }
void handle() { ++numCalls; }
void show(int) { ++numCalls; }
void print(const std::string&) { ++numCalls; }
void step(weft::fair::Task*) { ++numCalls; }

// Binds this thread to a scheduler with `numWorkers` workers.
class StructureExamplesTest : public testing::TestWithParam<int> {
 protected:
  StructureExamplesTest() { numCalls = 0; }

 private:
  weft::Scheduler scheduler_{weft::Scheduler::Config().setWorkerThreadCount(GetParam())};
  weft::Scheduler::Binding bound_{scheduler_};
};
INSTANTIATE_TEST_SUITE_P(Workers, StructureExamplesTest, testing::Values(0, 2));

struct Frame {
  int number = 0;
};

struct Camera {
  bool read(Frame& frame) const {
    frame.number = ++numRead;
    return numRead <= 3;
  }
  static inline int numRead = 0;
};

void show(const Frame& frame) { numCalls += frame.number; }

TEST_P(StructureExamplesTest, ChannelOfThePage) {
  Camera::numRead = 0;
  const Camera camera;
  weft::Channel<Frame> frames(8);
  weft::schedule([=] {
    for (Frame frame; camera.read(frame);) {
      frames.send(std::move(frame));  // waits while eight are queued
    }
    frames.close();
  });
  for (Frame& frame : frames) {  // until it is closed and empty
    show(frame);
  }
  EXPECT_EQ(numCalls.load(), 1 + 2 + 3);
}

void produce(const weft::Channel<int>& channel, const std::stop_token& token) {
  for (int value = 0; channel.send(value, token); ++value) {
  }
  channel.close();
}
void consume(const weft::Channel<int>& channel, const std::stop_token& token) {
  while (std::optional<int> value =
             channel.receive(token)) {  // what was sent before the stop is still received
    show(*value);
  }
}

TEST_P(StructureExamplesTest, ChannelLoopsThatAreStopped) {
  const weft::Channel<int> channel(1000);
  std::stop_source stop;
  weft::WaitGroup done(1);
  weft::schedule([=] {
    produce(channel, stop.get_token());
    done.done();
  });
  while (channel.size() < channel.capacity()) {
    weft::yield();
  }
  stop.request_stop();
  done.wait();
  consume(channel, stop.get_token());
  EXPECT_EQ(numCalls.load(), 1000) << "what was sent before the stop";
  EXPECT_TRUE(channel.isClosed());
}

struct Job {};

bool run(const Job&) { return ++numCalls < 3; }
void configure() { ++numCalls; }
void reportIdle() { ++numCalls; }

TEST_P(StructureExamplesTest, SelectOfThePage) {
  const weft::Channel<Job> jobs(8);
  const weft::Event reload;
  const std::stop_token token;
  for (int i = 0; i < 3; ++i) {
    jobs.send(Job());
  }
  reload.signal();
  bool isOver = false;
  while (!isOver) {
    weft::select(weft::onReceive(jobs, [&](std::optional<Job> job) { isOver = !job || !run(*job); }),
                 weft::onSignal(reload, [&] { configure(); }),
                 weft::onTimeout(std::chrono::seconds(5), [&] { reportIdle(); }),
                 weft::onStop(token, [&] { isOver = true; }));
  }
  EXPECT_GE(numCalls.load(), 3);
}

void handle(const Job&) { ++numCalls; }

TEST_P(StructureExamplesTest, FanInOfThePageEndsOnceAllChannelsAreClosed) {
  const std::vector<weft::Channel<Job>> queues = {weft::Channel<Job>(1), weft::Channel<Job>(1),
                                                  weft::Channel<Job>(1)};
  for (const weft::Channel<Job>& jobs : queues) {
    weft::schedule([=] {
      for (int i = 0; i < 5; ++i) {
        jobs.send(Job());
      }
      jobs.close();
    });
  }
  bool isClosed = false;
  std::vector<weft::AnyCase> cases;
  for (const weft::Channel<Job>& jobs : queues) {
    cases.push_back(weft::onReceive(jobs, [&](std::optional<Job> job) {
      isClosed = !job;
      if (job) {
        handle(*job);
      }
    }));
  }
  while (!cases.empty()) {
    const size_t which = weft::select(cases);
    if (std::exchange(isClosed, false)) {
      cases.erase(cases.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  EXPECT_EQ(numCalls.load(), 15);
  for (const weft::Channel<Job>& jobs : queues) {
    EXPECT_TRUE(jobs.isClosed());
  }
}

TEST_P(StructureExamplesTest, Channel) {
  std::istringstream input("one\ntwo\nthree\n");
  std::streambuf* const console = std::cin.rdbuf(input.rdbuf());
  weft::Channel<std::string> lines(64);
  weft::schedule([=] {
    for (std::string line; std::getline(std::cin, line);) {
      lines.send(std::move(line));
    }
    lines.close();
  });
  for (const std::string& line : lines) {
    print(line);
  }
  std::cin.rdbuf(console);
  EXPECT_EQ(numCalls.load(), 3);
}

TEST_P(StructureExamplesTest, SharedMutex) {
  std::map<std::string, int> table = {{"key", 1}};
  const std::string key = "key";
  const auto load = [](const std::string& name) { return static_cast<int>(name.size()); };
  weft::SharedMutex mutex;
  {
    std::shared_lock lock(mutex);
    show(table.at(key));
  }
  std::unique_lock lock(mutex);
  table[key] = load(key);  // may suspend
  EXPECT_EQ(table.at(key), 3);
}

namespace once {

struct Table {
  int numRows = 0;
};
Table theTable;
Table load() { return {theTable.numRows + 1}; }

weft::Once loaded;
const Table& table() {
  loaded.call([] { theTable = load(); });  // may suspend
  return theTable;
}

}  // namespace once

TEST_P(StructureExamplesTest, Once) {
  EXPECT_EQ(once::table().numRows, 1);
  EXPECT_EQ(once::table().numRows, 1);
}

namespace recursive {

struct Node {
  std::vector<Node> children;
};

weft::RecursiveMutex mutex;
void add(const Node& node) {
  std::scoped_lock lock(mutex);
  for (const Node& child : node.children) {
    add(child);
  }
}

}  // namespace recursive

TEST_P(StructureExamplesTest, RecursiveMutex) {
  using recursive::Node;
  recursive::add(Node{{Node{}, Node{{Node{}}}}});
}

// The end of the scheduler is that of the tasks.
TEST(BarrierExampleTest, SwapsOnceEachStep) {
  for (const int numWorkers : {0, 2}) {
    auto scheduler =
        std::make_unique<weft::Scheduler>(weft::Scheduler::Config().setWorkerThreadCount(numWorkers));
    scheduler->bind();
    std::vector<int> now(4, 1), next(4);
    const auto compute = [](const std::vector<int>& from, std::vector<int>& to, int part) {
      to[static_cast<size_t>(part)] = from[static_cast<size_t>(part + 1) % 4] + 1;
    };
    weft::Barrier barrier(4, [&]() noexcept { std::swap(now, next); });
    for (int part = 0; part < 4; ++part) {
      weft::schedule([&, part] {
        for (int step = 0; step < 100; ++step) {
          compute(now, next, part);
          barrier.arrive_and_wait();  // by all four; then they are swapped, once
        }
      });
    }
    weft::Scheduler::unbind();
    scheduler.reset();
    EXPECT_EQ(now, std::vector<int>(4, 101));
  }
}

TEST_P(StructureExamplesTest, Latch) {
  weft::Latch loaded(3);
  for (const char* name : {"map", "units", "sounds"}) {
    weft::schedule([&loaded, name] {
      load(name);
      loaded.count_down();
    });
  }
  loaded.wait();
  EXPECT_EQ(numCalls.load(), 3);
}

TEST_P(StructureExamplesTest, FiberLocal) {
  weft::FiberLocal<std::string> request([] { return std::string("none"); });
  weft::schedule([&] {
    *request = "GET /";
    handle();  // may suspend; request.get() is "GET /" still
  });
  while (numCalls.load() == 0) {
    weft::yield();
  }
  EXPECT_EQ(*request, "none");
}

TEST_P(StructureExamplesTest, Signal) {
  weft::Signal finished;
  std::thread worker([&] {
    work();
    finished.send();
  });
  finished.receiveBlocking();
  worker.join();
  EXPECT_EQ(numCalls.load(), 1);
}

TEST_P(StructureExamplesTest, FairTaskScheduler) {
  weft::fair::Task task([](weft::fair::Task* self) { step(self); });
  weft::fair::TaskScheduler scheduler("crawler", 2);
  scheduler.post(&task);
  scheduler.waitEmpty();
  EXPECT_EQ(numCalls.load(), 1);
}

TEST_P(StructureExamplesTest, FairTask) {
  int left = 3;
  weft::fair::Task countdown([&](weft::fair::Task* self) {
    if (--left > 0) {
      weft::fair::TaskScheduler::current()->postDelay(self, std::chrono::milliseconds(1));
    }
  });
  weft::fair::TaskScheduler scheduler("sessions", 2);
  scheduler.post(&countdown);
  scheduler.waitEmpty();
  EXPECT_EQ(left, 0);
}

weft::fair::Coro<int> half(int n) {
  co_await weft::fair::yield();
  co_return n / 2;
}
weft::fair::Coro<> session(int& result) {
  co_await weft::fair::delay(std::chrono::milliseconds(1));
  result = co_await half(84);
}

TEST_P(StructureExamplesTest, FairCoro) {
  weft::fair::TaskScheduler scheduler("sessions", 2);
  int result = 0;
  weft::fair::CoroTask task(session(result));
  scheduler.post(&task);
  scheduler.waitEmpty();
  EXPECT_EQ(result, 42);
}

TEST_P(StructureExamplesTest, FairCoroWait) {
  weft::fair::TaskScheduler scheduler("sessions", 2);
  int result = 0;
  weft::fair::CoroTask task(session(result));
  scheduler.post(&task);
  task.wait();
  EXPECT_EQ(result, 42);
}

TEST_P(StructureExamplesTest, FairAsync) {
  weft::fair::TaskScheduler scheduler("sessions", 2);
  weft::Future<int> quotient = weft::fair::async(scheduler, half(84));
  int result = quotient.get();  // suspends a fiber, blocks a thread
  EXPECT_EQ(result, 42);
}

TEST_P(StructureExamplesTest, FairBridge) {
  weft::fair::TaskScheduler scheduler("bridge", 2);
  const weft::Event loaded;
  weft::fair::Task task([](weft::fair::Task* self) { step(self); });
  loaded.signal();
  const auto signal = weft::fair::signalAfter(loaded, scheduler, &task);
  scheduler.postDelay(&task, std::chrono::seconds(1));
  scheduler.waitEmpty();
  EXPECT_EQ(numCalls.load(), 1);
}

}  // namespace
