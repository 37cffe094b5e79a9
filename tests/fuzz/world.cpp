// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "world.h"

#include <algorithm>
#include <map>

namespace weft::fuzz {
namespace {

size_t numBoundThreads(const Program& program) {
  const auto isBoundThread = [](const Script& script) { return script.kind == Kind::BoundThread; };
  return static_cast<size_t>(std::count_if(program.scripts.begin(), program.scripts.end(), isBoundThread)) -
         1;  // the first is the main thread
}

Scheduler::Config schedulerConfig(const Program& program, Allocator* allocator) {
  Scheduler::Config config;
  config.setAllocator(allocator)
      .setWorkerThreadCount(program.numWorkers)
      .setFiberStackSize(size_t{256} * 1024);
  if (!program.searches) {
    config.setIdleSearch(std::chrono::nanoseconds(0));
  }
  return config;
}

}  // namespace

void Actor::run() {
  for (size_t i = next; i < script.ops.size(); ++i) {
    next = i;
    const Op& op = script.ops[i];
    op.type->run(*this, op);
    ++log.numOps;
    if (const auto flags = std::exchange(hopsAs_, std::nullopt)) {
      next = i + 1;
      isOnItsThread = false;
      Task rest([this] { run(); }, Scheduler::get() != nullptr ? *flags : Task::Flags::None);
      world.scheduler->enqueue(std::move(rest));  // which may run at once
      return;
    }
  }
  next = script.ops.size();
  world.end(*this);
}

bool Actor::canSpawn() const {
  return Scheduler::get() != nullptr || (world.program.numWorkers > 0 && !world.program.endsEarly);
}

void Actor::hop(Task::Flags flags) {
  if (canSpawn()) {
    hopsAs_ = flags;
  }
}

World::World(const Program& theProgram, Allocator* allocator, const SharedSchedulers* sharedSchedulers)
    : program(theProgram),
      latch(theProgram.census.latch),
      bound_(static_cast<std::ptrdiff_t>(numBoundThreads(theProgram))) {
  for (size_t i = 0; i < kNumEvents; ++i) {
    events.emplace_back(i < kNumManualEvents ? Event::Mode::Manual : Event::Mode::Auto, false, allocator);
  }
  for (size_t i = 0; i < kNumSemaphores; ++i) {
    semaphores.emplace_back(0u, allocator);
  }
  for (int count : program.census.waitGroups) {
    waitGroups.emplace_back(static_cast<unsigned>(count), allocator);
  }
  for (int capacity : kCapacities) {
    channels.emplace_back(static_cast<size_t>(capacity), allocator);
  }
  for (size_t i = 0; i < kNumPromises; ++i) {
    futures.push_back(promises.emplace_back().get_future().share());
  }
  for (size_t i = 0; i < program.scripts.size(); ++i) {
    actors_.push_back(std::make_unique<Actor>(*this, program.scripts[i], i));
    numSuppliers_ += program.scripts[i].isSupplier ? 1 : 0;
  }
  ended_.add(static_cast<unsigned>(actors_.size()));
  for (Server& server : servers) {
    server.task = std::make_unique<fair::Task>([this, &server](fair::Task* self) { step(server, self); });
  }
  if (sharedSchedulers == nullptr) {
    ownedFairScheduler_ = std::make_unique<fair::TaskScheduler>(
        "fuzz", program.numFairThreads, fair::TaskScheduler::Config().setAllocator(allocator));
    ownedScheduler_ = std::make_unique<Scheduler>(schedulerConfig(program, allocator));
  }
  fairScheduler = ownedFairScheduler_ ? ownedFairScheduler_.get() : &sharedSchedulers->fairScheduler;
  scheduler = ownedScheduler_ ? ownedScheduler_.get() : &sharedSchedulers->scheduler;
}

World::~World() = default;

void World::run() {
  for (Server& server : servers) {
    fairScheduler->postWait(server.task.get());
  }
  scheduler->bind();
  for (size_t i = 1; i < actors_.size(); ++i) {
    start(i);
  }
  actors_[0]->run();
  if (program.endsEarly) {
    bound_.wait();
  } else {
    ended_.wait();
  }
  if (!ownedScheduler_) {
    strays_.wait();
  }
  Scheduler::unbind();
  ownedScheduler_.reset();  // which waits for what runs on it
  scheduler = nullptr;
  for (std::thread& thread : threads_) {
    thread.join();
  }
  endServers();
}

void World::start(size_t script) {
  Actor& actor = *actors_[script];
  switch (actor.script.kind) {
    case Kind::Task:
      schedule([&actor] { actor.run(); });
      break;
    case Kind::BoundThread:
      threads_.emplace_back([this, &actor] {
        scheduler->bind();
        bound_.count_down();
        actor.isOnItsThread = true;
        actor.run();
        Scheduler::unbind();
      });
      break;
    case Kind::FreeThread:
      threads_.emplace_back([&actor] { actor.run(); });
      break;
  }
}

void World::end(Actor& actor) {
  ++actor.numEnds;
  if (actor.script.isSupplier && --numSuppliers_ == 0) {
    promises.clear();  // only suppliers set them; who waits for one that nobody has set is told
  }
  ended_.done();
}

void World::step(Server& server, fair::Task* self) {
  self->receiveSignal();
  std::vector<Event*> requests;
  {
    const std::scoped_lock held(server.guard);
    requests.swap(server.requests);
  }
  for (const Event* request : requests) {
    request->signal();
  }
  const bool isEnding = server.isEnding;  // before it looks: nobody signals after that but the end
  // relaxed: the signals order it.
  server.numSeen = server.numSignals.load(std::memory_order_relaxed);
  if (isEnding) {
    server.ended.signal();
  } else {
    fairScheduler->postWait(self);
  }
}

void World::endServers() {
  for (Server& server : servers) {
    server.isEnding = true;
    fairScheduler->signal(server.task.get());
  }
  if (ownedFairScheduler_) {
    ownedFairScheduler_->waitEmpty();
    ownedFairScheduler_.reset();
    return;
  }
  for (const Server& server : servers) {
    server.ended.wait();
  }
}

void World::reportBlockedFibers() const {
  if (scheduler != nullptr) {
    scheduler->reportBlockedFibers();
  }
}

std::vector<size_t> World::positions() const {
  std::vector<size_t> at;
  for (const auto& actor : actors_) {
    at.push_back(actor->next);
  }
  return at;
}

// Returns: the sum of what the scripts have logged of an object.
template <class Member>
auto World::sum(Member member, size_t object) const {
  int total = 0;
  for (const auto& actor : actors_) {
    total += (actor->log.*member)[object];
  }
  return total;
}

void World::verify() {
  verifyTasks();
  verifySync();
  for (size_t i = 0; i < kNumChannels; ++i) {
    verifyChannel(i);
  }
  verifyFutures();
}

void World::verifyTasks() const {
  int numBurstWanted = 0, numPostedWanted = 0;
  for (const auto& actor : actors_) {
    check(actor->numEnds == 1, "script %zu ended %d times", actor->index, actor->numEnds);
    check(actor->log.numOps == actor->script.ops.size(), "script %zu did %zu of %zu operations", actor->index,
          actor->log.numOps, actor->script.ops.size());
    numBurstWanted += actor->log.numBurst;
    numPostedWanted += actor->log.numPosted;
  }
  check(numBurst == numBurstWanted, "%d of %d tasks ran", numBurst.load(), numBurstWanted);
  check(numPosted == numPostedWanted, "%d of %d fair steps ran", numPosted.load(), numPostedWanted);
  for (size_t i = 0; i < kNumServers; ++i) {
    const int wanted = sum(&Log::served, i);
    check(servers[i].numSeen == wanted, "server %zu saw %d of %d signals", i, servers[i].numSeen, wanted);
  }
}

void World::verifySync() const {
  for (size_t i = 0; i < kNumEvents; ++i) {
    const int numSignalled = sum(&Log::signalled, i), numWaited = sum(&Log::waited, i);
    const bool isManual = i < kNumManualEvents;
    check(isManual ? numSignalled > 0 || numWaited == 0 : numWaited <= numSignalled,
          "event %zu let %d waits go after %d signals", i, numWaited, numSignalled);
    check(numSignalled > 0 || sum(&Log::forwarded, i) == 0, "event %zu forwarded no signal", i);
    if (program.census.events[i].cleared == 0 && (isManual || numWaited == 0)) {
      check(events[i].isSignalled() == (numSignalled > 0), "event %zu after %d signals", i, numSignalled);
    }
  }
  for (size_t i = 0; i < kNumSemaphores; ++i) {
    int numLeft = 0;
    while (semaphores[i].try_acquire()) {
      ++numLeft;
    }
    const int numReleased = sum(&Log::released, i), numAcquired = sum(&Log::acquired, i);
    check(numReleased - numAcquired == numLeft, "semaphore %zu: %d released, %d acquired, %d left", i,
          numReleased, numAcquired, numLeft);
  }
  for (size_t i = 0; i < kNumConditions; ++i) {
    const int wanted = sum(&Log::given, i) - sum(&Log::taken, i);
    check(conditions[i].count == wanted, "condition %zu: %d left instead of %d", i, conditions[i].count,
          wanted);
  }
  for (size_t i = 0; i < kNumMutexes; ++i) {
    check(counters[i].value == sum(&Log::locked, i), "mutex %zu guarded %d of %d additions", i,
          counters[i].value, sum(&Log::locked, i));
  }
  int numWritten = 0, numRecursed = 0;
  for (const auto& actor : actors_) {
    numWritten += actor->log.numWritten;
    numRecursed += actor->log.numRecursed;
  }
  check(shared.value == numWritten, "the shared mutex guarded %d of %d additions", shared.value, numWritten);
  check(recursive.value == numRecursed, "the recursive mutex guarded %d of %d additions", recursive.value,
        numRecursed);
  for (size_t i = 0; i < kNumWaitGroups; ++i) {
    check(waitGroups[i].wait_for(std::chrono::seconds(0)), "wait group %zu is not over", i);
  }
}

// Each value that was sent was received once, or is still there; and each receiver got the values of each
// sender in their order.
void World::verifyChannel(size_t channel) {
  std::map<uint32_t, int> times;  // how often each value was received
  for (const auto& actor : actors_) {
    std::map<uint32_t, uint32_t> newest;  // of each sender
    for (uint32_t item : actor->log.received[channel]) {
      ++times[item];
      const auto [at, isFirst] = newest.try_emplace(item >> 16, item);
      check(isFirst || at->second < item, "channel %zu: value %u of script %u after value %u", channel,
            item & 0xffff, item >> 16, at->second & 0xffff);
      at->second = item;
    }
  }
  while (const auto item = channels[channel].tryReceive()) {
    ++times[**item];
  }
  size_t numSent = 0;
  for (const auto& actor : actors_) {
    for (uint32_t i = 0; i < actor->log.sent[channel]; ++i) {
      const auto at = times.find(static_cast<uint32_t>(actor->index << 16) | i);
      check(at != times.end(), "channel %zu lost value %u of script %zu", channel, i, actor->index);
      check(at->second == 1, "channel %zu gave value %u of script %zu %d times", channel, i, actor->index,
            at->second);
      ++numSent;
    }
  }
  check(times.size() == numSent, "channel %zu gave %zu values, and %zu were sent", channel, times.size(),
        numSent);
}

void World::verifyFutures() {
  std::array<int, kNumPromises> wanted;
  wanted.fill(Log::kBroken);
  for (const auto& actor : actors_) {
    for (const Log::Result& result : actor->log.set) {
      check(wanted[result.promise] == Log::kBroken, "promise %zu was set twice", result.promise);
      wanted[result.promise] = result.value;
    }
  }
  for (const auto& actor : actors_) {
    for (const Log::Result& result : actor->log.got) {
      check(result.value == wanted[result.promise], "promise %zu gave %d instead of %d", result.promise,
            result.value, wanted[result.promise]);
    }
    for (Log::FollowUp& followUp : actor->log.followUps) {
      int value = Log::kBroken;
      try {
        value = followUp.future.get() - 1;
      } catch (const BrokenPromise&) {
      }
      check(value == wanted[followUp.promise], "the continuation of promise %zu gave %d instead of %d",
            followUp.promise, value, wanted[followUp.promise]);
    }
  }
}

}  // namespace weft::fuzz
