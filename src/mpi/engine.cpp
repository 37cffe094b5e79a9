// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "mpi/engine.h"

#include <array>
#include <cstddef>

#include "weft/debug.h"
#include "weft/mpi/error.h"
#include "weft/scheduler.h"
#include "weft/task.h"

namespace weft::inline v0_1::detail {
namespace {

std::atomic<MpiEngine*> theEngine{nullptr};

// One request. It may be persistent and not started, which MPI_Testsome(3) would pass over: so each is tested
// here first.
bool testOne(MpiWait& wait) {
  int isDone = 0;
  wait.result = MPI_Test(wait.requests.data(), &isDone, &wait.status);
  return isDone != 0 || wait.result != MPI_SUCCESS;
}

// Tests those that were pending when another had failed: what came of the others must not be asked again.
bool testPending(MpiWait& wait) {
  bool isAnyPending = false;
  for (size_t i = 0; i < wait.requests.size(); ++i) {
    MPI_Status& status = wait.statuses[i];
    if (status.MPI_ERROR == MPI_ERR_PENDING) {
      int isDone = 0;
      const int code = MPI_Test(&wait.requests[i], &isDone, &status);
      isAnyPending = isAnyPending || (isDone == 0 && code == MPI_SUCCESS);
      status.MPI_ERROR = isDone == 0 && code == MPI_SUCCESS ? MPI_ERR_PENDING : code;
    }
  }
  return !isAnyPending;
}

bool testAll(MpiWait& wait) {
  if (wait.result != MPI_SUCCESS) {
    return testPending(wait);
  }
  int areDone = 0;
  const int code = MPI_Testall(static_cast<int>(wait.requests.size()), wait.requests.data(), &areDone,
                               wait.statuses.data());
  if (code != MPI_ERR_IN_STATUS) {
    wait.result = code;
    return areDone != 0 || code != MPI_SUCCESS;
  }
  // Some have failed, and the others may be under way still.
  bool isAnyPending = false;
  for (const MPI_Status& status : wait.statuses) {
    isAnyPending = isAnyPending || status.MPI_ERROR == MPI_ERR_PENDING;
    if (wait.result == MPI_SUCCESS && status.MPI_ERROR != MPI_ERR_PENDING) {
      wait.result = status.MPI_ERROR;
    }
  }
  return !isAnyPending;
}

bool testAny(MpiWait& wait) {
  int isDone = 0;
  wait.result = MPI_Testany(static_cast<int>(wait.requests.size()), wait.requests.data(), &wait.index,
                            &isDone, &wait.status);
  return isDone != 0 || wait.result != MPI_SUCCESS;
}

bool probe(MpiWait& wait) {
  int isThere = 0;
  wait.result = wait.kind == MpiWait::Kind::Probe
                    ? MPI_Iprobe(wait.source, wait.tag, wait.comm, &isThere, &wait.status)
                    : MPI_Improbe(wait.source, wait.tag, wait.comm, &isThere, &wait.message, &wait.status);
  return isThere != 0 || wait.result != MPI_SUCCESS;
}

// Tests a batch. One call of MPI tests the single requests: each call makes MPI look for messages, which
// costs more than a request. (The arrays do not lie in a frame, as a fiber's stack may be small.)
class Tester {
 public:
  void operator()(PollBatch<MpiWait>& batch) {
    count_ = 0;
    for (size_t i = 0; i < batch.size(); ++i) {
      MpiWait& wait = batch[i];
      if (wait.kind == MpiWait::Kind::One) {
        add(wait, i);
      } else if (wait.test()) {
        batch.setDone(i);
      }
    }
    testSingles(batch);
  }

 private:
  void add(MpiWait& wait, size_t index) {
    requests_[count_] = wait.requests[0];
    indices_[count_++] = index;
  }
  void testSingles(PollBatch<MpiWait>& batch) {
    if (count_ == 0) {
      return;
    }
    int numDone = 0;
    const int code =
        MPI_Testsome(static_cast<int>(count_), requests_.data(), &numDone, done_.data(), statuses_.data());
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) {
      testEach(batch);
      return;
    }
    for (int i = 0; i < numDone; ++i) {
      const auto number = static_cast<size_t>(done_[static_cast<size_t>(i)]);
      MpiWait& wait = batch[indices_[number]];
      wait.requests[0] = requests_[number];
      wait.status = statuses_[static_cast<size_t>(i)];
      wait.result = code == MPI_ERR_IN_STATUS ? wait.status.MPI_ERROR : MPI_SUCCESS;
      batch.setDone(indices_[number]);
    }
  }

  // One of them is none of MPI's.
  void testEach(PollBatch<MpiWait>& batch) {
    for (size_t i = 0; i < count_; ++i) {
      if (testOne(batch[indices_[i]])) {
        batch.setDone(indices_[i]);
      }
    }
  }

  size_t count_ = 0;
  std::array<MPI_Request, kMostPolled> requests_;
  std::array<size_t, kMostPolled> indices_;
  std::array<int, kMostPolled> done_;
  std::array<MPI_Status, kMostPolled> statuses_;
};

}  // namespace

bool MpiWait::test() {
  switch (kind) {
    case Kind::One:
      return testOne(*this);
    case Kind::All:
      return testAll(*this);
    case Kind::Any:
      return testAny(*this);
    case Kind::Probe:
    case Kind::MatchedProbe:
      break;
  }
  return probe(*this);
}

MpiEngine::MpiEngine(mpi::ThreadLevel level, bool finalizes)
    : level_(level),
      finalizes_(finalizes),
      world_(MPI_COMM_WORLD),
      self_(MPI_COMM_SELF),
      source_(Tester(), {.name = "MPI", .isOnThisThreadOnly = level != mpi::ThreadLevel::Multiple}),
      calls_(64) {
  MpiEngine* none = nullptr;
  // (1) release: the engine is made; pairs with (3). acquire: the one before is gone; pairs with (2).
  WEFT_ASSERT(theEngine.compare_exchange_strong(none, this, std::memory_order_acq_rel),
              "there is an mpi::Environment already. A process has one.");
  if (level != mpi::ThreadLevel::Multiple) {
    schedule(Task([this] { serve(); }, Task::Flags::SameThread));
  } else {
    hasServed_.signal();
  }
}

MpiEngine::~MpiEngine() {
  WEFT_ASSERT(mayCall(), "the mpi::Environment was destroyed on another thread than the one that calls MPI.");
  const size_t left = numWaiting();
  WEFT_ASSERT(left == 0,
              "the mpi::Environment was destroyed while %zu fibers or threads wait for MPI. Let them end "
              "before.",
              left);
  calls_.close();
  hasServed_.wait();
  // (2) release: pairs with (1).
  theEngine.store(nullptr, std::memory_order_release);
  if (finalizes_) {
    MPI_Finalize();
  }
}

MpiEngine* MpiEngine::find() {
  // (3) acquire: pairs with (1).
  return theEngine.load(std::memory_order_acquire);
}

MpiEngine& MpiEngine::current(const char* what) {
  MpiEngine* const engine = find();
  if (engine == nullptr) [[unlikely]] {
    int isFinalized = 0;
    MPI_Finalized(&isFinalized);
    WEFT_ASSERT(isFinalized == 0, "%s was called after MPI_Finalize(), or after the mpi::Environment's end.",
                what);
    WEFT_FATAL("%s was called without an mpi::Environment. Make one in main(), after the scheduler.", what);
  }
  return *engine;
}

bool MpiEngine::mayCall() { return PollAccess::coreOf(source_).mayBeUsedHere(); }

int MpiEngine::callElsewhere(Call& call) {
  numCalls_.fetch_add(1, std::memory_order_relaxed);
  calls_.send(&call);
  call.done.wait();
  numCalls_.fetch_sub(1, std::memory_order_relaxed);
  return call.result;
}

// Each call is a task, as it may wait.
void MpiEngine::serve() {
  for (Call* const call : calls_) {
    schedule(Task(
        [call] {
          const Event done = call->done;
          call->result = call->function(call->object);
          done.signal();
        },
        Task::Flags::SameThread));
  }
  hasServed_.signal();
}

bool MpiEngine::wait(MpiWait& wait, const mpi::Limit& limit) {
  // Here, without the source: most operations that send are done by now.
  if (wait.test()) {
    countIo();
    return true;
  }
  return PollAccess::coreOf(source_).waitFurther(&wait, limit.deadline, limit.token) == WaitEnd::Woken;
}

bool MpiEngine::await(MpiWait& wait, const mpi::Limit& limit, const char* what) {
  MpiEngine& engine = current(what);
  bool isDone = false;
  engine.call([&] {
    isDone = engine.wait(wait, limit);
    return MPI_SUCCESS;
  });
  return isDone;
}

}  // namespace weft::inline v0_1::detail
