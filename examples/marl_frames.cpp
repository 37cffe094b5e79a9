// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A program as it would be written for marl, with each of marl's headers: frames are read, shaded and blurred
// at the same time, and shown in their order. `marl_frames N` uses N worker threads; the output is the same
// for every N.

#include <marl/blockingcall.h>
#include <marl/conditionvariable.h>
#include <marl/containers.h>
#include <marl/dag.h>
#include <marl/debug.h>
#include <marl/defer.h>
#include <marl/deprecated.h>
#include <marl/event.h>
#include <marl/export.h>
#include <marl/finally.h>
#include <marl/memory.h>
#include <marl/mutex.h>
#include <marl/parallelize.h>
#include <marl/pool.h>
#include <marl/sanitizers.h>
#include <marl/scheduler.h>
#include <marl/task.h>
#include <marl/thread.h>
#include <marl/thread_local.h>
#include <marl/ticket.h>
#include <marl/trace.h>
#include <marl/tsa.h>
#include <marl/waitgroup.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kFrames = 12;
constexpr int kWidth = 64;
constexpr int kBuffers = 3;

// The picture of a frame. Buffers are few, and used again.
struct Buffer {
  uint32_t pixels[kWidth] = {};
};

struct Frame {
  int number = 0;
  uint32_t seed = 0;
  marl::Loan<Buffer> buffer;
};

// Counts the frames of each thread, on the thread itself.
struct Statistics {
  MARL_DECLARE_THREAD_LOCAL(int, framesHere);
};
MARL_INSTANTIATE_THREAD_LOCAL(int, Statistics::framesHere, 0);

// What has been shown. A thread that wants to know waits for it.
class Screen {
 public:
  void show(const Frame& frame) EXCLUDES(mutex_) {
    marl::lock held(mutex_);
    uint64_t sum = 0;
    for (const uint32_t pixel : frame.buffer->pixels) {
      sum += pixel;
    }
    shown_.push_back(sum);
    changed_.notify_all();
  }

  // Returns: the sum of the pixels of frame `number`, once it has been shown.
  uint64_t waitFor(size_t number) EXCLUDES(mutex_) {
    marl::lock held(mutex_);
    changed_.wait(held, [this, number]() REQUIRES(mutex_) { return shown_.size() > number; });
    return shown_[number];
  }

 private:
  marl::mutex mutex_;
  marl::ConditionVariable changed_;
  marl::containers::vector<uint64_t, 4> shown_ GUARDED_BY(mutex_);
};

// Stands for a read from a slow device, which would block the thread.
MARL_NO_EXPORT uint32_t readSeed(int number) { return 2654435761u * static_cast<uint32_t>(number + 1); }

void shade(Frame& frame) {
  const auto shadeHalf = [&frame](int begin) {
    for (int i = begin; i < begin + kWidth / 2; ++i) {
      frame.buffer->pixels[i] = (frame.seed >> (i % 24)) & 0xff;
    }
  };
  marl::parallelize([=] { shadeHalf(0); }, [=] { shadeHalf(kWidth / 2); });
}

void blur(Frame& frame) {
  for (int i = 1; i < kWidth; ++i) {
    frame.buffer->pixels[i] = (frame.buffer->pixels[i - 1] + frame.buffer->pixels[i]) / 2;
  }
}

void mark(Frame& frame) { frame.buffer->pixels[0] += static_cast<uint32_t>(frame.number); }

marl::Allocator::unique_ptr<marl::DAG<Frame&>> makePasses(marl::Allocator* allocator) {
  marl::DAG<Frame&>::Builder builder(allocator);
  auto shaded = builder.root().then([](Frame& frame) { shade(frame); });
  auto blurred = shaded.then([](Frame& frame) { blur(frame); });
  blurred.then([](Frame& frame) { mark(frame); });
  return builder.build();
}

void render(marl::Allocator* allocator) {
  MARL_SCOPED_EVENT("render");
  const auto passes = makePasses(allocator);
  const marl::BoundedPool<Buffer, kBuffers, marl::PoolPolicy::Preserve> buffers(allocator);
  marl::Ticket::Queue order;
  Screen screen;
  const marl::WaitGroup rendered(kFrames);
  marl::containers::vector<marl::Event, kFrames> firstPixels(allocator);

  for (int number = 0; number < kFrames; ++number) {
    firstPixels.emplace_back(marl::Event(marl::Event::Mode::Manual));
    // A ticket is taken here, in order, and a buffer too: with a buffer, a frame waits only for those before
    // it.
    marl::schedule([&, number, ticket = order.take(), buffer = buffers.borrow(),
                    started = firstPixels.back()]() mutable {
      defer(rendered.done());
      MARL_SCOPED_EVENT("frame %d", number);
      Frame frame;
      frame.number = number;
      frame.seed = marl::blocking_call(readSeed, number);
      frame.buffer = std::move(buffer);
      started.signal();
      passes->run(frame);
      ++Statistics::framesHere;
      ticket.wait();
      screen.show(frame);
      ticket.done();
    });
  }

  marl::Event::any(firstPixels.begin(), firstPixels.end()).wait();
  for (size_t number = 0; number < kFrames; ++number) {
    std::printf("frame %zu: %" PRIu64 "\n", number, screen.waitFor(number));
  }
  rendered.wait();
}

// Runs on the thread that schedules it, as the part of a program that owns a window must.
void runOnThisThread() {
  const marl::Event done;
  const auto thread = std::this_thread::get_id();
  const marl::Task task(
      [=] {
        if (std::this_thread::get_id() != thread) {
          marl::fatal("a task of this thread runs on another");
        }
        done.signal();
      },
      marl::Task::Flags::SameThread);
  marl::schedule(task);
  done.wait();
}

}  // namespace

int main(int argc, char** argv) {
  const int numWorkers = argc > 1 ? std::atoi(argv[1]) : 0;
  MARL_ASSERT(numWorkers >= 0, "%d worker threads make no sense", numWorkers);
  marl::Thread::setName("frames");
  marl::TrackedAllocator allocator(marl::Allocator::Default);
  auto said = marl::make_shared_finally([] { std::puts("the end"); });
  {
    marl::Scheduler scheduler(marl::Scheduler::Config()
                                  .setWorkerThreadCount(numWorkers)
                                  .setAllocator(&allocator)
                                  .setWorkerThreadAffinityPolicy(
                                      marl::Thread::Affinity::Policy::anyOf(marl::Thread::Affinity::all())));
    scheduler.bind();
    defer(scheduler.unbind());
    render(&allocator);
    runOnThisThread();
  }
  if (allocator.stats().numAllocations() != 0 && MARL_ADDRESS_SANITIZER_ENABLED == 0) {
    marl::fatal("%zu allocations were leaked", allocator.stats().numAllocations());
  }
  said.reset();
}
