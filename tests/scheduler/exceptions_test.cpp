// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/event.h>
#include <weft/fiber.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "with_scheduler.h"

// Exceptions belong to the fiber that throws and handles them, however it is interleaved with others on its
// thread.
namespace weft::exceptions_test {
namespace {

class ExceptionsTest : public tests::WithScheduler {
 protected:
  // Runs `f(i)` for each i below `count` on fibers of one thread, and waits for all.
  template <class F>
  static void onOneThread(int count, F f) {
    WaitGroup done(static_cast<unsigned>(count));
    schedule([=] {
      for (int i = 0; i < count; ++i) {
        schedule(Task([=] { f(i), done.done(); }, Task::Flags::SameThread));
      }
    });
    done.wait();
  }
};
WEFT_INSTANTIATE_WITH_SCHEDULER(ExceptionsTest);

// Suspends a few times, so that the other fibers get in between.
void interleave() {
  for (int i = 0; i < 3; ++i) {
    yield();
  }
}

constexpr int kFibers = 20;

TEST_P(ExceptionsTest, AFiberThatSuspendsInACatchBlockKeepsItsException) {
  std::vector<std::string> caught(kFibers), rethrown(kFibers);
  onOneThread(kFibers, [&](int i) {
    try {
      try {
        throw std::runtime_error(std::to_string(i));
      } catch (const std::exception& exception) {
        interleave();
        caught[static_cast<size_t>(i)] = exception.what();
        interleave();
        throw;
      }
    } catch (const std::exception& exception) {
      rethrown[static_cast<size_t>(i)] = exception.what();
    }
  });
  for (int i = 0; i < kFibers; ++i) {
    EXPECT_EQ(caught[static_cast<size_t>(i)], std::to_string(i));
    EXPECT_EQ(rethrown[static_cast<size_t>(i)], std::to_string(i));
  }
}

TEST_P(ExceptionsTest, AFiberThatSuspendsInNestedCatchBlocksKeepsAllItsExceptions) {
  std::vector<std::string> seen(kFibers);
  onOneThread(kFibers, [&](int i) {
    const std::string name = std::to_string(i);
    try {
      throw std::runtime_error("outer " + name);
    } catch (const std::exception& outer) {
      interleave();
      try {
        throw std::logic_error("inner " + name);
      } catch (const std::exception& inner) {
        interleave();
        seen[static_cast<size_t>(i)] = std::string(inner.what()) + ", ";
      }
      interleave();
      try {
        throw;
      } catch (const std::exception& again) {
        seen[static_cast<size_t>(i)] += again.what();
      }
    }
  });
  for (int i = 0; i < kFibers; ++i) {
    EXPECT_EQ(seen[static_cast<size_t>(i)], "inner " + std::to_string(i) + ", outer " + std::to_string(i));
  }
}

TEST_P(ExceptionsTest, ACurrentExceptionIsThatOfTheFiber) {
  std::vector<int> wrong(kFibers);
  onOneThread(kFibers, [&](int i) {
    const bool throws = i % 2 == 0;
    try {
      if (throws) {
        throw i;
      }
    } catch (int) {
      interleave();
      try {
        std::rethrow_exception(std::current_exception());
      } catch (int value) {
        wrong[static_cast<size_t>(i)] += value != i;
      }
    }
    interleave();
    wrong[static_cast<size_t>(i)] += std::current_exception() != nullptr;
  });
  EXPECT_EQ(wrong, std::vector<int>(kFibers));
}

struct SuspendsWhenDestroyed {
  int* uncaught;
  explicit SuspendsWhenDestroyed(int* counter) : uncaught(counter) {}
  ~SuspendsWhenDestroyed() {
    *uncaught += std::uncaught_exceptions();
    interleave();
    *uncaught += std::uncaught_exceptions();
  }
};

TEST_P(ExceptionsTest, AFiberMaySuspendInADestructorDuringUnwinding) {
  std::vector<int> uncaught(kFibers);
  std::vector<std::string> caught(kFibers);
  onOneThread(kFibers, [&](int i) {
    try {
      SuspendsWhenDestroyed first(&uncaught[static_cast<size_t>(i)]);
      SuspendsWhenDestroyed second(&uncaught[static_cast<size_t>(i)]);
      if (i % 2 == 0) {
        throw std::runtime_error(std::to_string(i));
      }
    } catch (const std::exception& exception) {
      caught[static_cast<size_t>(i)] = exception.what();
    }
  });
  for (int i = 0; i < kFibers; ++i) {
    const bool throws = i % 2 == 0;
    EXPECT_EQ(uncaught[static_cast<size_t>(i)], throws ? 4 : 0) << "on fiber " << i;
    EXPECT_EQ(caught[static_cast<size_t>(i)], throws ? std::to_string(i) : "");
  }
}

TEST_P(ExceptionsTest, AFiberMayThrowInADestructorDuringUnwindingAndCatchItThere) {
  struct ThrowsInside {
    std::string* seen;
    explicit ThrowsInside(std::string* text) : seen(text) {}
    ~ThrowsInside() {
      try {
        interleave();
        throw std::logic_error("inside");
      } catch (const std::exception& exception) {
        interleave();
        *seen += exception.what();
      }
    }
  };
  std::vector<std::string> seen(kFibers);
  onOneThread(kFibers, [&](int i) {
    try {
      ThrowsInside inside(&seen[static_cast<size_t>(i)]);
      throw std::runtime_error(std::to_string(i));
    } catch (const std::exception& exception) {
      interleave();
      seen[static_cast<size_t>(i)] += exception.what();
    }
  });
  for (int i = 0; i < kFibers; ++i) {
    EXPECT_EQ(seen[static_cast<size_t>(i)], "inside" + std::to_string(i));
  }
}

TEST_P(ExceptionsTest, ABoundThreadKeepsItsExceptionWhileItsTasksThrow) {
  std::string caught;
  try {
    throw std::runtime_error("of the thread");
  } catch (const std::exception& exception) {
    onOneThread(kFibers, [](int i) {
      try {
        throw i;
      } catch (int) {
        interleave();
      }
    });
    try {
      throw;
    } catch (const std::exception& again) {
      caught = std::string(exception.what()) + again.what();
    }
  }
  EXPECT_EQ(caught, "of the threadof the thread");
}

TEST_P(ExceptionsTest, ANewFiberBeginsWithoutExceptions) {
  // Tasks that begin while the code before them on this thread handles an exception, on fibers that did so
  // before.
  std::vector<int> wrong(kFibers);
  for (int round = 0; round < 3; ++round) {
    onOneThread(kFibers, [&](int i) {
      wrong[static_cast<size_t>(i)] += std::current_exception() != nullptr || std::uncaught_exceptions() != 0;
      try {
        throw i;
      } catch (int) {
        Event event;
        schedule(Task(
            [&, event] {
              wrong[static_cast<size_t>(i)] +=
                  std::current_exception() != nullptr || std::uncaught_exceptions() != 0;
              event.signal();
            },
            Task::Flags::SameThread));
        event.wait();
      }
    });
  }
  EXPECT_EQ(wrong, std::vector<int>(kFibers));
}

TEST_P(ExceptionsTest, ExceptionsAreThrownOnStacksThatWereUsedBefore) {
  for (int round = 0; round < 5; ++round) {
    WaitGroup group(50);
    for (int i = 0; i < 50; ++i) {
      schedule([=] {
        // Leaves its traces on the stack for the next task.
        volatile char traces[4096];
        for (volatile char& byte : traces) {
          byte = static_cast<char>(0xa5);
        }
        yield();
        try {
          throw std::array<int, 4>{1, 2, 3, i};
        } catch (const std::array<int, 4>& thrown) {
          yield();
          EXPECT_EQ(thrown[3], i);
        }
        group.done();
      });
    }
    group.wait();
  }
}

TEST_P(ExceptionsTest, AnExceptionTravelsBetweenFibersAsAPointer) {
  std::exception_ptr thrown;
  WaitGroup done(1);
  schedule([&thrown, done] {
    try {
      throw std::runtime_error("elsewhere");
    } catch (...) {
      thrown = std::current_exception();
    }
    done.done();
  });
  done.wait();
  EXPECT_THROW(std::rethrow_exception(thrown), std::runtime_error);
}

}  // namespace
}  // namespace weft::exceptions_test
