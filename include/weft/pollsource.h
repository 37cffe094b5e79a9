// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/base/deadline.h"
#include "weft/detail/channel/cases.h"
#include "weft/detail/channel/request_case.h"
#include "weft/detail/wait/poll_core.h"
#include "weft/detail/wait/reactor.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/export.h"
#include "weft/scheduler.h"
#include "weft/select.h"

namespace weft::inline v0_1 {

// The handles of one test of a PollSource, and which of them are done.
template <class Handle>
class PollBatch {
 public:
  // Return: how many handles there are; the one with the number `index`, which is less.
  size_t size() const { return count_; }
  Handle& operator[](size_t index) const { return *static_cast<Handle*>(handles_[index]); }
  // The request of (*this)[index] is done. Requires: index < size().
  void setDone(size_t index) { done_.set(index); }

 private:
  template <class>
  friend class PollSource;
  PollBatch(void* const* handles, size_t count, detail::PollDone& done)
      : handles_(handles), count_(count), done_(done) {}

  void* const* const handles_;
  const size_t count_;
  detail::PollDone& done_;
};

// How a PollSource works.
struct PollOptions {
  const char* name = "PollSource";  // for reports; outlives the source
  size_t maxInFlight = SIZE_MAX;    // requests; whoever starts one more waits until another is done
  // Only the thread that makes the source tests, and may use it. It is bound to the scheduler, or a worker.
  bool isOnThisThreadOnly = false;
};

// Something outside of the program that can only be asked whether a request is done: a GPU, a device, a
// library for messages. A fiber that waits for a request leaves its thread to others.
//
//   weft::PollSource<GpuEvent> gpu([](GpuEvent& asked) { return gpuEventQuery(asked) != kNotReady; });
//   gpuLaunch(kernel, stream);
//   gpuEventRecord(event, stream);
//   gpu.wait(event);
// `Handle` says which request. The function that is given to the source asks about one, or about a
// PollBatch<Handle> at once. It may write what came out into the handle. It is called with handles where they
// lie, by one thread at a time: by workers that have nothing else to do, now and then by those that are busy,
// and by nobody while no request is in flight. It neither suspends nor blocks; if it throws, a message ends
// the program.
//
// A request is tested at once when it is started, and then after an eighth of the time for which nothing has
// happened, a millisecond at most. docs/poll_sources.md has more.
// Lifetime: its scheduler outlives it. No request is in flight when it is destroyed; otherwise a message ends
// the program.
template <class Handle>
class PollSource {
 public:
  // Makes a source that is tested by the workers of `scheduler`, or of the one that is bound to the caller.
  // `test` is called as bool(Handle&), which returns whether the request is done, or as
  // void(PollBatch<Handle>&). Errors: what allocating or moving `test` throws.
  template <class Test>
    requires(!std::is_base_of_v<Scheduler, std::remove_cvref_t<Test>>)
  explicit PollSource(Test test, const PollOptions& options = {})
      : core_(makeCore(Scheduler::get(), options, std::move(test))) {}
  template <class Test>
  PollSource(Scheduler& scheduler, Test test, const PollOptions& options = {})
      : core_(makeCore(&scheduler, options, std::move(test))) {}
  PollSource(const PollSource&) = delete;
  PollSource& operator=(const PollSource&) = delete;
  ~PollSource() = default;

  // Suspends the fiber, or blocks the thread, until the request is done.
  // Memory ordering: the caller sees what the test that found it done has written.
  void wait(Handle& handle) { (void)waitUntil(handle, detail::kNever); }
  void wait(Handle&& handle) { (void)waitUntil(handle, detail::kNever); }

  // As wait(), but also ends at a stop of `token`, after `duration` or at `time`; never early by that clock.
  // Then the request is tested no more, and its handle is the caller's.
  // Returns: false if one of these came first. A request that is found done at the call, or meanwhile, wins.
  bool wait(Handle& handle, const std::stop_token& token) { return waitUntil(handle, detail::kNever, token); }
  template <class Rep, class Period>
  bool wait_for(Handle& handle, const std::chrono::duration<Rep, Period>& duration,
                const std::stop_token& token = {}) {
    return waitUntil(handle, detail::deadlineAfter(duration), token);
  }
  template <class Clock, class Duration>
  bool wait_until(Handle& handle, const std::chrono::time_point<Clock, Duration>& time,
                  const std::stop_token& token = {}) {
    return detail::waitUntilByClock(
        time, token, [&](detail::TimePoint deadline) { return waitUntil(handle, deadline, token); });
  }

  // Has the request tested, and returns. Once it is done, calls completion(Handle&) where the test was: here,
  // if it is done at once, or on a worker. The completion neither suspends, blocks nor throws, and schedules
  // no tasks: startTask() is for that. Waits only if PollOptions::maxInFlight are in flight. Errors: what
  // allocating and moving throws; then nothing was started.
  template <class Completion>
    requires std::invocable<Completion&, Handle&>
  void start(Handle handle, Completion completion) {
    startAs<false>(std::move(handle), std::move(completion));
  }
  // As start(), but a task of the scheduler calls completion(Handle&).
  template <class Completion>
    requires std::invocable<Completion&, Handle&>
  void startTask(Handle handle, Completion completion) {
    startAs<true>(std::move(handle), std::move(completion));
  }

  // Returns: how many requests were started and are not done. Any thread.
  size_t numInFlight() const { return core_->numInFlight(); }

 private:
  friend struct detail::PollAccess;

  template <class Test>
  static constexpr bool kTestsOne = std::is_invocable_r_v<bool, Test&, Handle&>;
  template <class Test>
  static constexpr bool kTestsMany = std::invocable<Test&, PollBatch<Handle>&>;

  template <class Test>
  class Core final : public detail::PollCore {
   public:
    Core(Scheduler* scheduler, const PollOptions& options, Test&& test)
        : PollCore(scheduler, {options.name, options.maxInFlight, options.isOnThisThreadOnly}),
          test_(std::move(test)) {}

   private:
    void test(void* const* handles, size_t count, detail::PollDone& done) override {
      if constexpr (kTestsOne<Test>) {
        for (size_t i = 0; i < count; ++i) {
          done[i] = static_cast<bool>(test_(*static_cast<Handle*>(handles[i])));
        }
      } else {
        PollBatch<Handle> batch(handles, count, done);
        test_(batch);
      }
    }

    Test test_;
  };

  template <bool kAsTask, class Completion>
  struct Started final : detail::PollCore::Node {
    Started(Handle&& request, Completion&& then, Scheduler& target)
        : own(std::move(request)), completion(std::move(then)), scheduler(target) {
      this->handle = &own;
      this->complete = [](detail::PollNode<>& node) noexcept { finish(static_cast<Started&>(node)); };
    }
    static void finish(Started& self) {
      std::unique_ptr<Started> owned(&self);
      if constexpr (kAsTask) {
        self.scheduler.enqueue(Task([held = std::move(owned)] { held->completion(held->own); }));
      } else {
        const detail::WithoutFibers withoutFibers;
        self.completion(self.own);
      }
    }

    Handle own;
    Completion completion;
    Scheduler& scheduler;
  };

  template <class Test>
  static std::unique_ptr<detail::PollCore> makeCore(Scheduler* scheduler, const PollOptions& options,
                                                    Test&& test) {
    constexpr bool kCanTest = kTestsOne<Test> || kTestsMany<Test>;
    static_assert(kCanTest,
                  "PollSource<Handle>(test): the test is called as bool(Handle&), which returns whether the "
                  "request is done, or as void(PollBatch<Handle>&), which calls setDone().");
    if constexpr (kCanTest) {
      return std::make_unique<Core<Test>>(scheduler, options, std::move(test));
    } else {
      return nullptr;
    }
  }
  bool waitUntil(Handle& handle, detail::TimePoint deadline, const std::stop_token& token = {}) {
    return core_->wait(&handle, deadline, token) == detail::WaitEnd::Woken;
  }
  template <bool kAsTask, class Completion>
  void startAs(Handle&& handle, Completion&& completion) {
    core_->start(
        *new Started<kAsTask, Completion>(std::move(handle), std::move(completion), core_->scheduler()));
  }

  const std::unique_ptr<detail::PollCore> core_;
};

namespace detail {

struct PollAccess {
  template <class Handle>
  static PollCore& coreOf(PollSource<Handle>& source) {
    return *source.core_;
  }
};

}  // namespace detail

// A case of select() that waits until the request `handle` of `source` is done, and calls handler(handle), or
// handler().
//
//   weft::select(weft::onDone(gpu, event, [&] { show(picture); }),
//                weft::onTimeout(std::chrono::seconds(1), [] { std::puts("still drawing"); }));
// A request that is found done just when another case happens is done: the handle has what the test wrote.
// PollOptions::maxInFlight does not keep it waiting.
// Lifetime: refers to `source` and `handle`, which live until select() returns, or as long as an AnyCase.
template <class Handle, class Handler = detail::Ignore>
[[nodiscard]] auto onDone(PollSource<Handle>& source, Handle& handle, Handler handler = {}) {
  constexpr bool kCanBeCalled = std::invocable<Handler&, Handle&> || std::invocable<Handler&>;
  static_assert(kCanBeCalled,
                "onDone(source, handle, handler): the handler takes the handle by reference, or nothing.");
  if constexpr (kCanBeCalled) {
    return detail::SubjectCase<detail::RequestCase<Handle>, Handler>(
        "onDone()", std::move(handler), detail::PollAccess::coreOf(source), handle);
  } else {
    return detail::PlainCase<detail::Ignore>(detail::Ignore());
  }
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
