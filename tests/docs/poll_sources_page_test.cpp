// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <weft/pollsource.h>
#include <weft/scheduler.h>
#include <weft/select.h>
#include <weft/waitgroup.h>

// The example of docs/poll_sources.md, word for word, with a thread for each kernel in the GPU's place.

namespace {

namespace poll_sources_page {

enum class GpuResult { Success, NotReady, Failure };

// Counts the kernels that were queued, and those that have ended.
struct Stream {
  std::vector<std::thread> kernels;
  std::atomic<size_t> numEnded{0};
};
struct Event {
  Stream* stream = nullptr;
  size_t after = 0;  // kernels
};
using GpuStream = Stream*;
using GpuEvent = Event*;

std::atomic<int> numObjects{0};
std::atomic<bool> isBroken{false};

GpuStream gpuStreamCreate() {
  ++numObjects;
  return new Stream;
}
void gpuStreamDestroy(GpuStream stream) {
  for (std::thread& kernel : stream->kernels) {
    kernel.join();
  }
  --numObjects;
  delete stream;
}
GpuEvent gpuEventCreate() {
  ++numObjects;
  return new Event;
}
void gpuEventDestroy(GpuEvent event) {
  --numObjects;
  delete event;
}
void gpuEventRecord(GpuEvent event, GpuStream stream) {
  event->stream = stream;
  event->after = stream->kernels.size();
}
GpuResult gpuEventQuery(GpuEvent event) {
  if (isBroken) {
    return GpuResult::Failure;
  }
  return event->stream->numEnded >= event->after ? GpuResult::Success : GpuResult::NotReady;
}
void gpuSumOfSquares(const double* values, size_t count, double* sum, GpuStream stream) {
  stream->kernels.emplace_back([=] {
    for (size_t i = 0; i < count; ++i) {
      *sum += values[i] * values[i];
    }
    ++stream->numEnded;
  });
}

// What a fiber waits for: an event that the GPU reaches after all that was queued before it.
struct Reached {
  explicit Reached(GpuStream stream) { gpuEventRecord(event, stream); }
  GpuEvent event = gpuEventCreate();
  GpuResult result = GpuResult::NotReady;
};

class Gpu {
 public:
  // Suspends the calling fiber until the GPU has done all that is queued in `stream`.
  void wait(GpuStream stream) {
    Reached reached(stream);
    source_.wait(reached);
    gpuEventDestroy(reached.event);
    if (reached.result != GpuResult::Success) {
      throw std::runtime_error("the GPU has failed");
    }
  }

 private:
  weft::PollSource<Reached> source_{[](Reached& reached) {
                                      reached.result = gpuEventQuery(reached.event);
                                      return reached.result != GpuResult::NotReady;
                                    },
                                    {.name = "GPU"}};
};

// Many fibers of this kind share a few threads.
double sumOfSquares(Gpu& gpu, const std::vector<double>& values) {
  const GpuStream stream = gpuStreamCreate();
  double sum = 0;
  gpuSumOfSquares(values.data(), values.size(), &sum, stream);
  gpu.wait(stream);  // other tasks run here
  gpuStreamDestroy(stream);
  return sum;
}

// The examples of weft/pollsource.h.
constexpr GpuResult kNotReady = GpuResult::NotReady;

TEST(PollSourcesPageTest, AFiberWaitsForAnEvent) {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(1));
  const weft::Scheduler::Binding bound(scheduler);
  const GpuStream stream = gpuStreamCreate();
  GpuEvent event = gpuEventCreate();
  const double values[] = {1, 2};
  double sum = 0;
  const auto kernel = [&](GpuStream target) { gpuSumOfSquares(values, 2, &sum, target); };
  const auto gpuLaunch = [](const auto& function, GpuStream target) { function(target); };
  weft::PollSource<GpuEvent> gpu([](GpuEvent& asked) { return gpuEventQuery(asked) != kNotReady; });
  gpuLaunch(kernel, stream);
  gpuEventRecord(event, stream);
  gpu.wait(event);
  EXPECT_EQ(sum, 5);
  int picture = 0;
  const auto show = [](int& shown) { ++shown; };
  weft::select(weft::onDone(gpu, event, [&] { show(picture); }),
               weft::onTimeout(std::chrono::seconds(1), [] { std::puts("still drawing"); }));
  EXPECT_EQ(picture, 1);
  gpuEventDestroy(event);
  gpuStreamDestroy(stream);
}

TEST(PollSourcesPageTest, FibersWaitForAGpu) {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  const weft::Scheduler::Binding bound(scheduler);
  const std::vector<double> values(1000, 2.0);
  constexpr int kFibers = 20;
  std::vector<double> sums(kFibers);
  {
    Gpu gpu;
    const weft::WaitGroup done(kFibers);
    for (double& sum : sums) {
      weft::schedule([&, done] {
        sum = sumOfSquares(gpu, values);
        done.done();
      });
    }
    done.wait();
  }
  EXPECT_EQ(sums, std::vector<double>(kFibers, 4000.0));
  EXPECT_EQ(numObjects, 0);
}

TEST(PollSourcesPageTest, AFailureIsThrown) {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(1));
  const weft::Scheduler::Binding bound(scheduler);
  isBroken = true;
  Gpu gpu;
  const GpuStream stream = gpuStreamCreate();
  EXPECT_THROW(gpu.wait(stream), std::runtime_error);
  gpuStreamDestroy(stream);
  isBroken = false;
}

}  // namespace poll_sources_page
}  // namespace
