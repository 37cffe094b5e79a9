// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/fiberlocal.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/fiber.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "waiting.h"

namespace weft {
namespace {

using tests::Crew;
using tests::Kind;
using tests::kindOf;
using tests::scaled;

class FiberLocalTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(FiberLocalTest);

// Counts itself.
struct Counted {
  explicit Counted(std::atomic<int>& counter) : alive(counter) { ++alive; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --alive; }
  std::atomic<int>& alive;
};

// The example of the header.
TEST_P(FiberLocalTest, KeepsTheExampleOfItsHeader) {
  FiberLocal<std::string> request([] { return std::string("none"); });
  WaitGroup done(1);
  schedule([&, done] {
    *request = "GET /";
    yield();
    EXPECT_EQ(request.get(), "GET /");
    done.done();
  });
  done.wait();
  EXPECT_EQ(*request, "none");
  EXPECT_EQ(request->size(), 4u);
}

TEST_P(FiberLocalTest, EachTaskHasAValueOfItsOwnAcrossSuspensions) {
  const int numTasks = scaled(2'000, 300);
  FiberLocal<int> value;
  WaitGroup done(static_cast<unsigned>(numTasks));
  for (int i = 1; i <= numTasks; ++i) {
    schedule([&, i, done] {
      EXPECT_EQ(value.get(), 0);
      *value = i;
      yield();
      EXPECT_EQ(*value, i);
      done.done();
    });
  }
  done.wait();
}

TEST_P(FiberLocalTest, TheNextTaskOfAFiberStartsAfresh) {
  FiberLocal<int> value;
  for (int round = 0; round < 100; ++round) {
    Event done;
    schedule([&] {
      EXPECT_EQ(value.get()++, 0);
      done.signal();
    });
    done.wait();
  }
}

TEST_P(FiberLocalTest, ValuesAreDestroyedWhenTheTaskEndsBeforeTheSchedulerGoes) {
  const int numTasks = scaled(1'000, 200);
  std::atomic<int> alive{0};
  std::atomic<int> numMade{0};
  FiberLocal<Counted> value([&] {
    ++numMade;
    return Counted(alive);
  });
  for (int i = 0; i < numTasks; ++i) {
    schedule([&] {
      value.get();
      yield();
      value.get();
    });
  }
  destroyScheduler();
  EXPECT_EQ(numMade, numTasks);
  EXPECT_EQ(alive, 0);
}

TEST_P(FiberLocalTest, DestructorsRunOnTheTasksFiberTheNewestFirst) {
  struct Note {
    Note(int what, std::vector<int>& list) : number(what), notes(list), fiber(Fiber::current()) {}
    ~Note() {
      EXPECT_EQ(Fiber::current(), fiber);
      yield();
      notes.push_back(number);
    }
    int number;
    std::vector<int>& notes;
    Fiber* fiber;
  };
  std::vector<int> notes;
  FiberLocal<Note> first([&] { return Note(1, notes); }), second([&] { return Note(2, notes); }),
      third([&] { return Note(3, notes); });
  schedule([&] {
    EXPECT_EQ(second->number, 2);
    EXPECT_EQ(first->number, 1);
    EXPECT_EQ(third->number, 3);
    EXPECT_EQ(second->number, 2);
  });
  destroyScheduler();
  EXPECT_EQ(notes, std::vector<int>({3, 1, 2}));
}

TEST_P(FiberLocalTest, DestructorsMayUseOthers) {
  std::atomic<int> alive{0};
  FiberLocal<Counted> used([&] { return Counted(alive); });
  struct User {
    explicit User(FiberLocal<Counted>& what) : local(what) {}
    ~User() { EXPECT_EQ(local->alive, 1); }
    FiberLocal<Counted>& local;
  };
  FiberLocal<User> user([&] { return User(used); });
  schedule([&] { user.get(); });
  destroyScheduler();
  EXPECT_EQ(alive, 0);
}

TEST_P(FiberLocalTest, ThreadsOutsideOfTasksHaveAValueEach) {
  std::atomic<int> alive{0};
  FiberLocal<Counted> value([&] { return Counted(alive); });
  {
    Crew crew(scheduler());
    for (Kind kind : {Kind::BoundThread, Kind::FreeThread}) {
      crew.start(kind, [&] {
        Counted* mine = &value.get();
        yield();
        EXPECT_EQ(&value.get(), mine);
      });
    }
  }
  EXPECT_EQ(alive, 0);
}

TEST_P(FiberLocalTest, AThreadKeepsItsValueWhenItIsBoundAndUnbound) {
  FiberLocal<int> value;
  Crew crew(scheduler());
  crew.start(Kind::FreeThread, [&] {
    *value = 7;
    {
      Scheduler::Binding bound(scheduler());
      EXPECT_EQ(*value, 7);
      *value = 8;
    }
    EXPECT_EQ(*value, 8);
  });
}

TEST_P(FiberLocalTest, MayBeDestroyedBeforeTheTasksThatUsedIt) {
  std::atomic<int> alive{0};
  Event used, gone;
  std::optional<FiberLocal<Counted>> value(std::in_place, [&] { return Counted(alive); });
  schedule([&, used, gone] {
    value->get();
    used.signal();
    gone.wait();
  });
  used.wait();
  value.reset();
  EXPECT_EQ(alive, 1);
  gone.signal();
  destroyScheduler();
  EXPECT_EQ(alive, 0);
}

TEST_P(FiberLocalTest, LargeAndOveralignedValues) {
  struct alignas(256) Large {
    char bytes[1024] = {};
  };
  FiberLocal<Large> large;
  FiberLocal<std::unique_ptr<int>> small;
  schedule([&] {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(&large.get()) % 256, 0u);
    large->bytes[1023] = 1;
    *small = std::make_unique<int>(3);
  });
  destroyScheduler();
}

#if defined(__cpp_exceptions)
TEST_P(FiberLocalTest, AnInitializerThatThrowsMakesNothing) {
  std::atomic<int> alive{0};
  FiberLocal<Counted> inner([&] { return Counted(alive); });
  bool fails = true;
  FiberLocal<int> value([&] {
    inner.get();
    return fails ? throw std::runtime_error("no value") : 5;
  });
  schedule([&] {
    EXPECT_THROW(value.get(), std::runtime_error);
    EXPECT_THROW(value.get(), std::runtime_error);
    fails = false;
    EXPECT_EQ(value.get(), 5);
    EXPECT_EQ(alive, 1);
  });
  destroyScheduler();
  EXPECT_EQ(alive, 0);
}
#endif

TEST(FiberLocalOfAThreadTest, AValueThatAThreadMakesWhileItEndsIsDestroyedToo) {
  static std::atomic<int> numMade{0}, alive{0};
  static FiberLocal<Counted> value([] {
    ++numMade;
    return Counted(alive);
  });
  struct UsesItWhenDestroyed {
    ~UsesItWhenDestroyed() { value.get(); }
  };
  std::thread([] {
    static thread_local UsesItWhenDestroyed late;  // made before the value, and destroyed after it
    (void)&late;
    value.get();
  }).join();
  EXPECT_EQ(numMade, 2);
  EXPECT_EQ(alive, 0);
}

using FiberLocalDeathTest = tests::DeathTest;

TEST_F(FiberLocalDeathTest, AnInitializerThatUsesItsOwnValue) {
  EXPECT_DEATH(
      {
        FiberLocal<int>* self = nullptr;
        FiberLocal<int> value([&] { return self->get(); });
        self = &value;
        value.get();
      },
      "the initializer of a FiberLocal used the value that it is to make");
}

}  // namespace
}  // namespace weft
