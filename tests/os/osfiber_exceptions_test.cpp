// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "os/watched_call.h"
#include "test_fiber.h"

// Exceptions in fibers: thrown, caught and half way through when the fiber is switched from.

using weft::detail::callWatched;
using weft::detail::ExceptionState;
using weft::detail::OSFiber;
using weft::detail::Watch;
using weft::tests::kStackSize;
using OSFiberExceptionsTest = weft::tests::WithOSFibers;
using weft::tests::TestFiber;

namespace {

std::string messageOf(std::exception_ptr e) {
  try {
    std::rethrow_exception(std::move(e));
  } catch (const std::exception& caught) {
    return caught.what();
  }
}

TEST_F(OSFiberExceptionsTest, ExceptionIsThrownAndCaughtWithinAFiber) {
  std::string caught;
  TestFiber fiber([&](TestFiber& f) {
    try {
      f.suspend();
      throw std::runtime_error("inside");
    } catch (const std::exception& e) {
      caught = e.what();
    }
  });
  finish(fiber);
  EXPECT_EQ(caught, "inside");
}

TEST_F(OSFiberExceptionsTest, CatchBlocksInterleave) {
  std::string caught[2];
  auto body = [&](int i) {
    return [&caught, i](TestFiber& f) {
      try {
        try {
          throw std::runtime_error(i == 0 ? "one" : "other");
        } catch (...) {
          f.suspend();
          caught[i] = messageOf(std::current_exception());
          f.suspend();
          throw;
        }
      } catch (const std::exception& e) {
        f.suspend();
        caught[i] += std::string(" ") + e.what();
      }
    };
  };
  TestFiber one(body(0));
  TestFiber other(body(1));
  while (!one.ended()) {
    one.resumeFrom(self);
    EXPECT_EQ(std::current_exception(), nullptr);
    other.resumeFrom(self);
    EXPECT_EQ(std::current_exception(), nullptr);
  }
  EXPECT_TRUE(other.ended());
  EXPECT_EQ(caught[0], "one one");
  EXPECT_EQ(caught[1], "other other");
}

// Shows that the test above would notice: the words that are swapped here are not the runtime's.
TEST_F(OSFiberExceptionsTest, CatchBlocksDoNotInterleaveWithoutTheSwap) {
  void* elsewhere[sizeof(ExceptionState) / sizeof(void*)] = {};
  std::string seen;
  TestFiber fiber([&](TestFiber& f) {
    try {
      throw std::runtime_error("fiber");
    } catch (...) {
      OSFiber::switchTo(f.os, self, elsewhere);
    }
    OSFiber::switchTo(f.os, self, elsewhere);
  });
  try {
    throw std::runtime_error("thread");
  } catch (...) {
    OSFiber::switchTo(self, fiber.os, elsewhere);
    seen = messageOf(std::current_exception());
    OSFiber::switchTo(self, fiber.os, elsewhere);
  }
  EXPECT_EQ(seen, "fiber");
  fiber.resumeFrom(self);
}

struct SuspendsWhenDestroyed {
  ~SuspendsWhenDestroyed() {
    before = std::uncaught_exceptions();
    fiber.suspend();
    after = std::uncaught_exceptions();
  }
  TestFiber& fiber;
  int& before;
  int& after;
};

TEST_F(OSFiberExceptionsTest, DestructorSuspendsDuringUnwinding) {
  int before = -1;
  int after = -1;
  std::string caught;
  TestFiber unwinding([&](TestFiber& f) {
    try {
      SuspendsWhenDestroyed guard{f, before, after};
      throw std::runtime_error("unwinding");
    } catch (const std::exception& e) {
      caught = e.what();
    }
  });
  TestFiber other([&](TestFiber& f) {
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    EXPECT_THROW(throw 1, int);
    f.suspend();
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  });
  unwinding.resumeFrom(self);
  EXPECT_EQ(std::uncaught_exceptions(), 0);
  other.resumeFrom(self);
  unwinding.resumeFrom(self);
  other.resumeFrom(self);
  EXPECT_TRUE(unwinding.ended());
  EXPECT_TRUE(other.ended());
  EXPECT_EQ(before, 1);
  EXPECT_EQ(after, 1);
  EXPECT_EQ(caught, "unwinding");
  EXPECT_EQ(std::uncaught_exceptions(), 0);
}

// Not inlined: the frame with the destructor is another than that of the handler.
[[gnu::noinline]] void suspendInDestructor(TestFiber& fiber, int& before, int& after, const char* message) {
  SuspendsWhenDestroyed guard{fiber, before, after};
  throw std::runtime_error(message);
}

// Where the runtime lists the exceptions for which destructors run, each fiber has a list of its own.
TEST_F(OSFiberExceptionsTest, DestructorsOfTwoFibersSuspendDuringUnwinding) {
  std::string caught[2];
  auto body = [&](int i) {
    return [&caught, i](TestFiber& f) {
      int before = -1;
      int after = -1;
      try {
        suspendInDestructor(f, before, after, i == 0 ? "one" : "other");
      } catch (const std::exception& e) {
        caught[i] = e.what();
      }
      EXPECT_EQ(before, 1);
      EXPECT_EQ(after, 1);
    };
  };
  TestFiber one(body(0));
  TestFiber other(body(1));
  while (!one.ended()) {
    one.resumeFrom(self);
    other.resumeFrom(self);
  }
  EXPECT_TRUE(other.ended());
  EXPECT_EQ(caught[0], "one");
  EXPECT_EQ(caught[1], "other");
}

TEST_F(OSFiberExceptionsTest, FreshFiberStartsWithoutExceptions) {
  bool ran = false;
  TestFiber fiber([&](TestFiber&) {
    EXPECT_EQ(std::current_exception(), nullptr);
    ran = true;
  });
  try {
    throw std::runtime_error("outside");
  } catch (...) {
    fiber.resumeFrom(self);
    EXPECT_EQ(messageOf(std::current_exception()), "outside");
  }
  EXPECT_TRUE(ran);
}

struct CountsItsEnd {
  ~CountsItsEnd() { ++numEnds; }
  int& numEnds;
};

[[gnu::noinline]] int throwAtDepth(int depth, int& numEnds) {
  const CountsItsEnd end{numEnds};
  if (depth == 0) {
    throw std::runtime_error("deep");
  }
  return throwAtDepth(depth - 1, numEnds) + 1;
}

TEST_F(OSFiberExceptionsTest, AnExceptionUnwindsADeepRecursion) {
  constexpr int kDepth = 400;
  int numEnds = 0;
  int numCaught = 0;
  TestFiber fiber([&](TestFiber& f) {
    for (int i = 0; i < 3; i++) {
      try {
        throwAtDepth(kDepth, numEnds);
      } catch (const std::runtime_error&) {
        f.suspend();
        numCaught++;
      }
    }
  });
  finish(fiber);
  EXPECT_EQ(numCaught, 3);
  EXPECT_EQ(numEnds, 3 * (kDepth + 1));
}

struct NamedWatch : Watch {
  explicit NamedWatch(const char* ownName) : Watch{&end}, name(ownName) {}

  static void end(const Watch* self, const char*) {
    std::fprintf(stderr, "%s: %s\n", static_cast<const NamedWatch*>(self)->name,
                 messageOf(std::current_exception()).c_str());
    std::_Exit(1);
  }

  const char* name;
};

TEST_F(OSFiberExceptionsTest, TheInnermostWatchOfACallLearnsWhatEscapes) {
  auto run = [&] {
    const NamedWatch outer("outer");
    const NamedWatch inner("inner");
    TestFiber fiber([&](TestFiber& f) {
      auto fails = [&] {
        f.suspend();
        throw std::runtime_error("escaped");
      };
      auto callsInner = [&] { callWatched(fails, inner); };
      callWatched(callsInner, outer);
    });
    finish(fiber);
  };
  EXPECT_DEATH(run(), "^inner: escaped");
}

TEST_F(OSFiberExceptionsTest, AWatchedCallLetsExceptionsBeCaughtWithin) {
  std::string caught;
  const NamedWatch watch("unused");
  TestFiber fiber([&](TestFiber& f) {
    auto body = [&] {
      try {
        f.suspend();
        throw std::runtime_error("inside");
      } catch (const std::exception& e) {
        caught = e.what();
      }
    };
    callWatched(body, watch);
  });
  finish(fiber);
  EXPECT_EQ(caught, "inside");
}

TEST_F(OSFiberExceptionsTest, ExceptionThatEscapesAFiberTerminates) {
  auto run = [&] {
    auto entry = [](void*) { throw std::runtime_error("escaped"); };
    auto stack = std::make_unique<char[]>(kStackSize);
    OSFiber fiber;
    fiber.init(stack.get(), kStackSize, entry, nullptr);
    OSFiber::switchTo(self, fiber, OSFiber::exceptionGlobals());
  };
  EXPECT_DEATH(run(), "escaped");
}

}  // namespace
