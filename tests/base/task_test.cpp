// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/task.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "live_objects.h"
#include "with_scheduler.h"

namespace weft {
namespace {

using tests::LiveObject;

// Runs the task of a node that a queue would hold.
void run(Task task) {
  detail::TaskNode* node = task.release();
  node->invoke(node, detail::TaskOp::Run);
}

TEST(TaskTest, IsMoveOnly) {
  static_assert(!std::is_copy_constructible_v<Task> && !std::is_copy_assignable_v<Task>);
  static_assert(std::is_nothrow_move_constructible_v<Task> && std::is_nothrow_move_assignable_v<Task>);
  static_assert(std::is_nothrow_default_constructible_v<Task>);
}

TEST(TaskTest, IsMadeImplicitlyFromCallablesOnly) {
  static_assert(std::is_convertible_v<void (*)(), Task>);
  static_assert(std::is_convertible_v<std::function<void()>, Task>);
  static_assert(!std::is_constructible_v<Task, int>);
  static_assert(!std::is_constructible_v<Task, void (*)(int)>);
}

TEST(TaskTest, IsEmptyWhenMadeFromNothing) {
  EXPECT_FALSE(Task());
  EXPECT_FALSE(Task(std::function<void()>()));
  EXPECT_FALSE(Task(static_cast<void (*)()>(nullptr)));
  EXPECT_FALSE(Task().is(Task::Flags::SameThread));
  EXPECT_EQ(Task().release(), nullptr);
}

TEST(TaskTest, CallsItsFunctionAsOftenAsItIsCalled) {
  int calls = 0;
  const Task task([&] { ++calls; });
  EXPECT_TRUE(task);
  task();
  task();
  EXPECT_EQ(calls, 2);
}

TEST(TaskTest, CallsAMutableLambdaAndAFunctionAndAFunctionObject) {
  std::string text;
  const Task counting([&, n = 0]() mutable { text += std::to_string(++n); });
  counting();
  counting();
  EXPECT_EQ(text, "12");

  static int calls = 0;
  calls = 0;
  struct Caller {
    static void call() { ++calls; }
    void operator()() const { ++calls; }
  };
  Task{&Caller::call}();
  Task{Caller()}();
  Task{std::function<void()>(&Caller::call)}();
  EXPECT_EQ(calls, 3);
}

TEST(TaskTest, HandsItsFunctionOnWhenItIsMoved) {
  int calls = 0;
  Task first([&] { ++calls; });
  Task second(std::move(first));
  second();
  Task third;
  third = std::move(second);
  third();
  EXPECT_EQ(calls, 2);
}

TEST(TaskTest, TakesMoveOnlyCaptures) {
  int seen = 0;
  run(Task([value = std::make_unique<int>(42), &seen] { seen = *value; }));
  EXPECT_EQ(seen, 42);
}

TEST(TaskTest, MovesWhatItIsGivenAsAnRvalueAndCopiesAnLvalue) {
  struct Tracking {
    int* copies;
    explicit Tracking(int* counter) : copies(counter) {}
    Tracking(const Tracking& other) : copies(other.copies) { ++*copies; }
    Tracking(Tracking&& other) noexcept : copies(other.copies) {}
    void operator()() const {}
  };
  int copies = 0;
  Tracking function(&copies);
  const Task copied(function);
  EXPECT_EQ(copies, 1);
  const Task moved(std::move(function));
  EXPECT_EQ(copies, 1);
}

TEST(TaskTest, DestroysItsFunctionOnceWhetherItRanOrNot) {
  {
    const Task discarded([counted = LiveObject()] {});
    EXPECT_EQ(LiveObject::numAlive, 1);
  }
  EXPECT_EQ(LiveObject::numAlive, 0);
  {
    Task called([counted = LiveObject()] {});
    called();
    EXPECT_EQ(LiveObject::numAlive, 1);
    called = Task();
  }
  EXPECT_EQ(LiveObject::numAlive, 0);
  run(Task([counted = LiveObject()] {}));
  EXPECT_EQ(LiveObject::numAlive, 0);
}

TEST(TaskTest, DestroysWhatItHeldWhenItIsAssignedTo) {
  Task task([counted = LiveObject()] {});
  Task other([] {});
  task = std::move(other);
  EXPECT_EQ(LiveObject::numAlive, 0);
  EXPECT_FALSE(other);
  Task& self = task;
  task = std::move(self);
  EXPECT_TRUE(task);
}

TEST(TaskTest, KnowsItsFlags) {
  const Task plain([] {});
  const Task pinned([] {}, Task::Flags::SameThread);
  EXPECT_FALSE(plain.is(Task::Flags::SameThread));
  EXPECT_TRUE(pinned.is(Task::Flags::SameThread));
  EXPECT_TRUE(plain.is(Task::Flags::None));
}

template <size_t kBytes>
void expectCaptureOf() {
  std::array<unsigned char, kBytes> bytes;
  for (size_t i = 0; i < kBytes; ++i) {
    bytes[i] = static_cast<unsigned char>(i * 7);
  }
  size_t wrong = kBytes;
  run(Task([bytes, &wrong, counted = LiveObject()] {
    wrong = 0;
    for (size_t i = 0; i < kBytes; ++i) {
      wrong += bytes[i] != static_cast<unsigned char>(i * 7);
    }
  }));
  EXPECT_EQ(wrong, 0u) << "of " << kBytes;
  EXPECT_EQ(LiveObject::numAlive, 0);
}

TEST(TaskTest, KeepsCapturesOfAnySize) {
  expectCaptureOf<1>();
  expectCaptureOf<24>();
  expectCaptureOf<25>();
  expectCaptureOf<88>();
  expectCaptureOf<89>();
  expectCaptureOf<1000>();
  expectCaptureOf<100'000>();
}

template <class F>
constexpr detail::NodeSize kNodeOf = detail::NodeMemory<detail::FunctionNode<F>>::kNode;

TEST(TaskTest, StoresSmallCapturesInOneLineLargerOnesInTwo) {
  struct OneLine {
    char bytes[40];
    void operator()() {}
  };
  struct TwoLines {
    char bytes[104];
    void operator()() {}
  };
  struct Larger {
    char bytes[105];
    void operator()() {}
  };
  static_assert(kNodeOf<OneLine> == detail::NodeSize::Line);
  static_assert(kNodeOf<TwoLines> == detail::NodeSize::TwoLines);
  static_assert(kNodeOf<Larger> == detail::NodeSize::None);
  // Two events, a wait group and some words.
  const auto typical = [a = Event(), b = Event(), c = WaitGroup(), words = std::array<uint64_t, 10>()] {
    (void)words;
  };
  static_assert(kNodeOf<decltype(typical)> != detail::NodeSize::None);
}

TEST(TaskTest, AlignsItsFunction) {
  struct alignas(64) Aligned {
    uintptr_t* address;
    void operator()() const { *address = reinterpret_cast<uintptr_t>(this); }
  };
  struct alignas(4096) OnAPage {
    uintptr_t* address;
    void operator()() const { *address = reinterpret_cast<uintptr_t>(this); }
  };
  uintptr_t address = 1;
  run(Task(Aligned{&address}));
  EXPECT_EQ(address % 64, 0u);
  address = 1;
  // Not a local variable: what AddressSanitizer takes for a frame is aligned to less.
  static OnAPage onAPage;
  onAPage.address = &address;
  run(Task(onAPage));
  EXPECT_EQ(address % 4096, 0u);
}

TEST(TaskTest, LeavesNothingBehindWhenTheFunctionCannotBeCopied) {
  struct ThrowsWhenCopied {
    ThrowsWhenCopied() = default;
    ThrowsWhenCopied(const ThrowsWhenCopied&) { throw std::runtime_error("no copies"); }
    void operator()() const {}
  };
  const ThrowsWhenCopied function;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_THROW(Task{function}, std::runtime_error);
  }
}

TEST(TaskTest, MayBeMadeOnOneThreadAndDestroyedOnAnother) {
  {
    Scheduler scheduler(tests::smallConfig(1));
    for (int i = 0; i < 1000; ++i) {
      auto task = std::make_shared<Task>([counted = LiveObject()] {});
      Event destroyed;
      scheduler.enqueue(Task([task = std::move(task), destroyed]() mutable {
        task.reset();
        destroyed.signal();
      }));
      destroyed.wait();
    }
  }
  EXPECT_EQ(LiveObject::numAlive, 0);
}

// Arguments that are bound to a function, as schedule(function, args...) does it.
template <class... Parts>
void callBound(Parts&&... parts) {
  Task{detail::bindOnce(std::forward<Parts>(parts)...)}();
}

TEST(TaskTest, BindsCopiesOfArguments) {
  int value = 1;
  int seen = 0;
  auto bound = detail::bindOnce([&seen](int number) { seen = number; }, value);
  value = 2;
  bound();
  EXPECT_EQ(seen, 1);
}

TEST(TaskTest, BindsReferencesThatAreWrapped) {
  int value = 1;
  callBound([](int& number) { ++number; }, std::ref(value));
  EXPECT_EQ(value, 2);
  int seen = 0;
  callBound([&seen](const int& number) { seen = number; }, std::cref(value));
  EXPECT_EQ(seen, 2);
}

TEST(TaskTest, BindsMoveOnlyArguments) {
  int seen = 0;
  callBound([&seen](std::unique_ptr<int> number,
                    std::string text) { seen = *number + static_cast<int>(text.size()); },
            std::make_unique<int>(40), "ab");
  EXPECT_EQ(seen, 42);
}

TEST(TaskTest, BindsArgumentsToFunctionsAndMembers) {
  struct Object {
    int value = 0;
    void set(int number) { value = number; }
    static void setTo(Object* object, int number) { object->value = number; }
  } object;
  callBound(&Object::set, &object, 5);
  EXPECT_EQ(object.value, 5);
  callBound(&Object::setTo, &object, 6);
  EXPECT_EQ(object.value, 6);
  callBound(&Object::set, std::ref(object), 7);
  EXPECT_EQ(object.value, 7);
}

TEST(TaskTest, CallsArgumentsThatAreBoundThemselves) {
  int seen = 0;
  const auto add = [](int a, int b) { return a + b; };
  auto bound = detail::bindOnce([&](int number) { seen = number; }, std::bind(add, 2, 3));
  bound();
  EXPECT_EQ(seen, 5);
}

TEST(TaskTest, BindsArgumentsThatTheFunctionTakesByReference) {
  int seen = 0;
  callBound([&seen](int& number) { seen = ++number; }, 41);
  EXPECT_EQ(seen, 42);
}

}  // namespace
}  // namespace weft
