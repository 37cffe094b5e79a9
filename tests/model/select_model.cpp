// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/channel/select_core.h>

#include <optional>
#include <utility>

#include <weft/detail/wait/mutex_core.h>
#include <weft/detail/wait/semaphore_core.h>

#include "channel_parts.h"
#include "lock_host.h"

// Seeded bug: channel/side.h:1
// Seeded bug: channel/side.h:1:split
// Seeded bug: channel/side.h:2
// Seeded bug: wait/select_node.h:1:split
// Seeded bug: wait/semaphore_core.h:1
// Seeded bug: wait/semaphore_core.h:2
// Seeded bug: wait/wait_word.h:1
// Seeded bug: wait/wait_word.h:2
// Seeded bug: wait/wait_word.h:3
namespace weft::model {
namespace {

using Choice = detail::SelectChoice<RelacySync>;

// One who waits for a permit or a mutex, as that sees it: a thread, or a node of a select, through `waiter`.
struct Applicant {
  explicit Applicant(detail::Waiter& one) : waiter(one) {}

  detail::Waiter& waiter;
  void* data = nullptr;
  bool isLinked = false;
  Applicant* owner = this;
};
bool claim(Applicant& one) { return Host::claim(one.waiter); }
Applicant& ownerOf(Applicant& one) { return *one.owner; }

// The checker sees each access, so that a list that is not guarded is a data race.
struct Applicants {
  bool isEmpty() const { return size.get() == 0; }
  Applicant* front() const { return isEmpty() ? nullptr : all[0]; }
  void pushBack(Applicant& one) {
    pushClaimed(one);
    one.isLinked = true;
  }
  void pushFront(Applicant& one) {
    pushBack(one);
    for (int i = size.get() - 1; i > 0; --i) {
      std::swap(all[i], all[i - 1]);
    }
  }
  void pushClaimed(Applicant& one) {
    const int last = size.get();
    all[last] = &one;
    size.set(last + 1);
  }
  void remove(Applicant& one) {
    int kept = 0;
    for (int i = 0, count = size.get(); i < count; ++i) {
      if (all[i] != &one) {
        all[kept++] = all[i];
      }
    }
    size.set(kept);
    one.isLinked = false;
  }
  Applicant* popFront() {
    Applicant* const first = front();
    if (first != nullptr) {
      remove(*first);
    }
    return first;
  }
  void wakeAll() {
    for (int i = 0, count = size.get(); i < count; ++i) {
      Host::wake(detail::ownerOf<RelacySync>(all[i]->waiter));
    }
  }

  Applicants() { size.set(0); }
  Applicants(const Applicants& other) { *this = other; }
  Applicants& operator=(const Applicants& other) {
    size.set(other.size.get());
    for (int i = 0; i < 4; ++i) {
      all[i] = other.all[i];
    }
    return *this;
  }
  Applicant* all[4] = {};
  RelacySync::Var<int> size;
};

using Permits = detail::SemaphoreCore<Applicants, RelacySync>;

// As Semaphore::release().
void release(Permits& permits) {
  if (!permits.tryGive(1)) {
    permits.give(1).wakeAll();
  }
}

using Lock = detail::MutexCore<Applicants, RelacySync, 1>;
using detail::LockTry;

// As LockHost of weft, of one that waits by itself, or by a select. kLooksAgain: see lock_host.h.
template <bool kLooksAgain>
struct ApplicantHost : LockHost<kLooksAgain> {
  static Thread& threadOf(Applicant& one) { return static_cast<Thread&>(one.waiter); }
  void block(Applicant& one) const { threadOf(one).wait(); }
  bool blockUntil(Applicant& one, detail::TimePoint) const {
    if (kLooksAgain) {
      return !threadOf(one).isTimeUp();
    }
    block(one);
    return true;
  }
};
struct ArrivingHost : ApplicantHost<false> {
  static constexpr bool isStopped() { return true; }
};

// As mutex::unlock().
void unlock(Lock& lock) {
  if (!lock.tryUnlock()) {
    lock.unlock(ApplicantHost<false>()).wakeAll();
  }
}

// As SelectCase, of a channel, of a semaphore, or of a mutex.
struct Case {
  const void* key() const { return core; }
  bool isOneSided() const { return core == nullptr; }
  bool takeOrLink() {
    node.isUsed.set(1);
    if (permits != nullptr) {
      return permits->takeOrLink(applicant);
    }
    return lock_->takeOrQueue(applicant, false, ApplicantHost<false>()) == LockTry::Taken && claimOrUnlock();
  }
  void unlinkAlone() {
    permits != nullptr ? permits->unlink(applicant) : void(lock_->leave(applicant));
    node.isUsed.set(0);
  }
  // As LockCase.
  bool claimOrUnlock() {
    if (claim(applicant)) {
      return true;
    }
    model::unlock(*lock_);
    return false;
  }
  bool look() {
    if (lock_ == nullptr) {
      return false;
    }
    detail::TimePoint next;
    isHeld = lock_->retry(applicant, detail::TimePoint(), next, ApplicantHost<true>()) == LockTry::Taken &&
             claimOrUnlock();
    return isHeld;
  }
  bool arrive() {
    return lock_ == nullptr || isHeld ||
           lock_->takeOrQueue(applicant, true, ArrivingHost()) == LockTry::Taken;
  }
  void lock() {
    holder = this;
    section.emplace(*core);
  }
  void unlock() { section->unlock(); }
  void shareLock(Case& other) { holder = &other; }
  void wake() { section.reset(); }
  bool act() {
    end = sends ? core->send(*holder->section, transfer) : core->receive(*holder->section, transfer);
    return end != ChannelEnd::WouldWait;
  }
  bool tryAlone() {
    if (isOneSided()) {
      return permits != nullptr ? permits->tryTake() : lock_->tryLock();
    }
    lock();
    const bool happens = act();
    section.reset();
    return happens;
  }
  detail::WaitList& waiters() { return sends ? core->senders() : core->receivers(); }
  void link() {
    node.isUsed.set(1);
    node.data = &transfer;
    waiters().pushBack(node);
  }
  void unlink() {
    lock();
    if (node.isLinked) {
      waiters().remove(node);
    }
    unlock();
    wake();
    // The frame ends here: nobody may look at the node later.
    node.isUsed.set(0);
  }

  Core* core = nullptr;
  Permits* permits = nullptr;
  Lock* lock_ = nullptr;
  bool isHeld = false;  // by look()
  bool sends = false;
  Transfer transfer;
  ChannelEnd end = ChannelEnd::Done;
  Node node;
  Applicant applicant{node};
  Case* nextInOrder = nullptr;
  Case* holder = this;
  std::optional<Core::Section> section;
};

// One who selects among two cases.
struct Selector {
  void set(size_t i, bool isSend, Core& channel, int value) {
    cells[i].value.set(value);
    cases[i].sends = isSend;
    cases[i].core = &channel;
    cases[i].transfer.value = &cells[i];
    cases[i].transfer.type = &kCells;
  }
  void set(size_t i, Permits& permits) { cases[i].permits = &permits; }
  void set(size_t i, Lock& lock) {
    cases[i].lock_ = &lock;
    cases[i].applicant.owner = &applicant;
  }

  // As Selection::run(). Returns: which case has happened, or 2 if the time was up.
  size_t select(size_t first, bool isTimed = false, bool looks = false) {
    for (Choice& choice : choices) {
      const size_t chosen = selectOnce(choice, first, isTimed, looks);
      if (chosen != kAgain) {
        return chosen;
      }
    }
    check(false, "it does not begin anew without end");
    return kAgain;
  }

  static constexpr size_t kAgain = 3;

  size_t selectOnce(Choice& choice, size_t first, bool isTimed, bool looks) {
    detail::SelectCore<Case> core(pointers, 2, first);
    size_t chosen = core.tryEachAlone();
    if (chosen == core.kNone) {
      chosen = core.tryOrLink(self, choice);
    }
    if (chosen != core.kNone) {
      return chosen;
    }
    const bool isTimeUp = isTimed && self.isTimeUp();
    const bool hasGivenUp = isTimeUp && choice.tryChoose(7);
    if (!isTimed || (isTimeUp && !hasGivenUp)) {
      wait(looks);
    }
    core.unlink(hasGivenUp ? core.kNone : choice.get());
    if (hasGivenUp) {
      return 2;
    }
    return cases[choice.get()].arrive() ? choice.get() : kAgain;
  }

  void wait(bool looks) {
    if (!looks) {
      self.wait();
      return;
    }
    while (self.isTimeUp()) {
      if (cases[0].look() || cases[1].look()) {
        return;
      }
    }
  }

  Case cases[2];
  Case* pointers[2] = {&cases[0], &cases[1]};
  Cell cells[2];
  Choice choices[8];
  Thread self;
  Applicant applicant{self};
};

// Two that can send to each other, and receive from each other: they meet, and it is one of the two.
template <size_t kFirst, size_t kSecond>
struct FaceToFace : rl::test_suite<FaceToFace<kFirst, kSecond>, 2> {
  Channel<0> channels[2];
  Selector selectors[2];
  size_t chosen[2] = {9, 9};

  void thread(unsigned index) {
    Selector& me = selectors[index];
    me.set(0, true, channels[index].core, 5);
    me.set(1, false, channels[1 - index].core, 0);
    chosen[index] = me.select(index == 0 ? kFirst : kSecond);
    if (chosen[index] == 1) {
      check(me.cells[1].value.get() == 5, "the value came");
    }
  }
  void after() {
    check(chosen[0] + chosen[1] == 1, "one sends and one receives");
    for (auto& channel : channels) {
      check(channel.core.senders().isEmpty() && channel.core.receivers().isEmpty(), "nobody is left behind");
    }
  }
};

// A select that both channels want to serve: it receives one value, and the other stays with its sender.
struct TwoClaimers : rl::test_suite<TwoClaimers, 3> {
  Channel<0> channels[2];
  Selector selector;
  Party parties[3];
  int received[2] = {0, 0};

  void thread(unsigned index) {
    Party& me = parties[index];
    if (index < 2) {
      check(me.send(channels[index].core, static_cast<int>(index) + 1) == ChannelEnd::Done, "sent");
      return;
    }
    selector.set(0, false, channels[0].core, 0);
    selector.set(1, false, channels[1].core, 0);
    const size_t chosen = selector.select(1);
    received[0] = selector.cells[chosen].value.get();
    check(received[0] == static_cast<int>(chosen) + 1, "the value came");
    me.receive(channels[1 - chosen].core, received[1]);
  }
  void after() { check(received[0] + received[1] == 3, "each value once"); }
};

// Two selects wait for the same: the sender who finds one gone serves the other.
struct TwoSelects : rl::test_suite<TwoSelects, 3> {
  Channel<0> channels[2];
  Selector selectors[2];
  Party party;
  int received[2] = {0, 0};

  void thread(unsigned index) {
    if (index == 2) {
      party.send(channels[0].core, 1);
      party.send(channels[1].core, 2);
      return;
    }
    Selector& me = selectors[index];
    me.set(0, false, channels[0].core, 0);
    me.set(1, false, channels[1].core, 0);
    received[index] = me.cells[me.select(0)].value.get();
  }
  void after() { check(received[0] + received[1] == 3, "each value once"); }
};

// The time against a sender that may give up: both or none.
struct Timeout : rl::test_suite<Timeout, 2> {
  Channel<0> channels[2];
  Selector selector;
  Party party;
  bool isSent = false;
  size_t chosen = 9;

  void thread(unsigned index) {
    if (index == 0) {
      selector.set(0, false, channels[0].core, 0);
      selector.set(1, true, channels[1].core, 3);
      chosen = selector.select(0, true);
    } else {
      isSent = party.send(channels[0].core, 1, true) == ChannelEnd::Done;
    }
  }
  void after() {
    check(isSent == (chosen == 0), "both or none");
    check(channels[0].core.senders().isEmpty() && channels[0].core.receivers().isEmpty(),
          "nobody is left behind");
    check(!selector.self.parker.tryPark() && !party.self.parker.tryPark(), "no wake is left behind");
  }
};

// As acquire().
struct Acquirer {
  void acquire(Permits& permits) {
    if (!permits.tryTake() && !permits.takeOrQueue(applicant)) {
      self.wait();
    }
  }

  Thread self;
  Applicant applicant{self};
};

// Two select among two semaphores, in both orders, while two give one permit each: each has one in the end.
// If the first gives up, its permit stays.
template <bool kIsTimed>
struct TwoSemaphores : rl::test_suite<TwoSemaphores<kIsTimed>, 4> {
  Permits permits[2] = {Permits(0), Permits(0)};
  Selector selectors[2];
  RelacySync::Var<int> data[2];
  int numTaken = 0;

  void thread(unsigned index) {
    if (index >= 2) {
      data[index - 2].set(1);
      release(permits[index - 2]);
      return;
    }
    Selector& me = selectors[index];
    me.set(0, permits[index]);
    me.set(1, permits[1 - index]);
    const size_t chosen = me.select(0, kIsTimed && index == 0);
    if (chosen < 2) {
      check(data[chosen == 0 ? index : 1 - index].get() == 1, "what came before the permit is seen");
      ++numTaken;
    }
  }
  void after() {
    for (auto& each : permits) {
      check(!each.isAwaited(), "nobody is left behind");
      numTaken += each.tryTake() ? 1 : 0;
      check(!each.tryTake(), "no permit is doubled");
    }
    check(numTaken == 2, "no permit is lost");
    check(!selectors[0].self.parker.tryPark() && !selectors[1].self.parker.tryPark(),
          "no wake is left behind");
  }
};

// A permit against a value, with another who uses the permit in turn: who gives it finds the select gone, or
// the sender does. The select may claim itself while the sender looks at the node that it linked before.
struct PermitAgainstValue : rl::test_suite<PermitAgainstValue, 4> {
  Channel<0> channel;
  Permits permits{0};
  Selector selector;
  Acquirer acquirer;
  Party party;
  size_t chosen = 9;
  bool isSent = false;

  void thread(unsigned index) {
    if (index == 0) {
      selector.set(0, permits);
      selector.set(1, false, channel.core, 0);
      chosen = selector.select(1);
      if (chosen == 0) {
        release(permits);
      } else {
        check(selector.cells[1].value.get() == 5, "the value came");
      }
    } else if (index == 1) {
      isSent = party.send(channel.core, 5, true) == ChannelEnd::Done;
    } else if (index == 2) {
      acquirer.acquire(permits);
      release(permits);
    } else {
      release(permits);
    }
  }
  void after() {
    check(isSent == (chosen == 1), "both or none");
    check(!permits.isAwaited() && permits.tryTake() && !permits.tryTake(), "one permit is there");
    check(channel.core.senders().isEmpty() && channel.core.receivers().isEmpty(), "nobody is left behind");
  }
};

// One waits for a permit or a value, and destroys the semaphore when it has the permit.
struct DestroySemaphore : rl::test_suite<DestroySemaphore, 2> {
  Channel<0> channel;
  Permits* permits = nullptr;
  Selector selector;

  void before() { permits = new Permits(0); }

  void thread(unsigned index) {
    if (index == 1) {
      release(*permits);
      return;
    }
    selector.set(0, false, channel.core, 0);
    selector.set(1, *permits);
    check(selector.select(0) == 1, "it has the permit");
    delete permits;
  }
};

// A mutex that the checker sees used.
struct Guarded {
  void use() { data.set(data.get() + 1); }
  void useAndUnlock() {
    use();
    unlock(lock);
  }

  Lock lock;
  RelacySync::Var<int> data;
};

// As mutex::lock().
struct Locker {
  template <bool kLooksAgain>
  void lock(Lock& lock) {
    if (!lock.tryLock()) {
      check(lock.lock(applicant, ApplicantHost<kLooksAgain>()), "it does not give up");
    }
  }

  Thread self;
  Applicant applicant{self};
};

// A mutex against a value, with one who holds it first and one who waits for it: each has it once, or the
// value comes.
template <bool kLooksAgain>
struct LockAgainstValue : rl::test_suite<LockAgainstValue<kLooksAgain>, 4> {
  Channel<0> channel;
  Guarded guarded;
  Selector selector;
  Locker locker;
  Party party;
  size_t chosen = 9;
  bool isSent = false;

  void before() {
    guarded.data.set(0);
    check(guarded.lock.tryLock(), "a free mutex can be taken");
  }
  void thread(unsigned index) {
    if (index == 0) {
      selector.set(0, guarded.lock);
      selector.set(1, false, channel.core, 0);
      chosen = selector.select(1, false, kLooksAgain);
      if (chosen == 0) {
        guarded.useAndUnlock();
      } else {
        check(selector.cells[1].value.get() == 5, "the value came");
      }
    } else if (index == 1) {
      isSent = party.send(channel.core, 5, true) == ChannelEnd::Done;
    } else if (index == 2) {
      locker.lock<kLooksAgain>(guarded.lock);
      guarded.useAndUnlock();
    } else {
      guarded.useAndUnlock();
    }
  }
  void after() {
    check(isSent == (chosen == 1), "both or none");
    check(guarded.lock.isIdle(), "the mutex is free at the end");
    check(guarded.data.get() == (chosen == 0 ? 3 : 2), "each had it once");
    check(channel.core.senders().isEmpty() && channel.core.receivers().isEmpty(), "nobody is left behind");
    check(!selector.self.parker.tryPark() && !locker.self.parker.tryPark(), "no wake is left behind");
  }
};

// Two select among two mutexes, in both orders, while two unlock these. The time of the first may be up.
template <bool kIsTimed>
struct TwoMutexes : rl::test_suite<TwoMutexes<kIsTimed>, 4> {
  Guarded guarded[2];
  Selector selectors[2];
  int numLocked[2] = {0, 0};

  void before() {
    for (Guarded& each : guarded) {
      each.data.set(0);
      check(each.lock.tryLock(), "a free mutex can be taken");
    }
  }
  void thread(unsigned index) {
    if (index >= 2) {
      guarded[index - 2].useAndUnlock();
      return;
    }
    Selector& me = selectors[index];
    me.set(0, guarded[index].lock);
    me.set(1, guarded[1 - index].lock);
    const size_t chosen = me.select(0, kIsTimed && index == 0);
    if (chosen < 2) {
      guarded[chosen == 0 ? index : 1 - index].useAndUnlock();
      ++numLocked[index];
    }
  }
  void after() {
    check(guarded[0].lock.isIdle() && guarded[1].lock.isIdle(), "the mutexes are free at the end");
    check(guarded[0].data.get() + guarded[1].data.get() == 2 + numLocked[0] + numLocked[1],
          "each had one as often as it was told");
    check(!selectors[0].self.parker.tryPark() && !selectors[1].self.parker.tryPark(),
          "no wake is left behind");
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<FaceToFace<0, 0>>("face to face", 300'000) &&
           explore<FaceToFace<0, 1>>("face to face, one begins with the other case", 200'000) &&
           explore<TwoClaimers>("two claimers", 200'000) && explore<TwoSelects>("two selects", 200'000) &&
           explore<Timeout>("timeout", 300'000) &&
           explore<TwoSemaphores<false>>("two selects of two semaphores", 150'000) &&
           explore<TwoSemaphores<true>>("two selects of two semaphores, a timeout", 150'000) &&
           explore<PermitAgainstValue>("a permit against a value", 150'000) &&
           explore<DestroySemaphore>("one destroys its semaphore", 50'000) &&
           explore<LockAgainstValue<false>>("a mutex against a value", 150'000) &&
           explore<LockAgainstValue<true>>("a mutex against a value, those who wait look again", 150'000) &&
           explore<TwoMutexes<false>>("two selects of two mutexes", 150'000) &&
           explore<TwoMutexes<true>>("two selects of two mutexes, a timeout", 150'000);
  });
}
