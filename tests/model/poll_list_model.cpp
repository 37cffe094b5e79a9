// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/wait/poll_list.h>

#include "channel_parts.h"

namespace weft::model {
namespace {

using List = detail::PollList<RelacySync>;
using Choice = detail::SelectChoice<RelacySync>;

constexpr uint32_t kLimit = 7;

// A request, and who waits for it, as PollCore::waitFor().
struct Request {
  struct Frame : List::Node {
    RelacySync::Var<int> isUsed;
  };

  static void wakeAll(const detail::WaitList& claimed) {
    for (detail::Waiter* waiter = claimed.front(); waiter != nullptr;) {
      detail::Waiter* const next = waiter->next;
      Host::wake(*waiter);
      waiter = next;
    }
  }

  void start(List& list) {
    frame.isUsed.set(1);
    frame.handle = this;
    frame.owner = &self;
    frame.choice = &choice;
    list.start(frame, [] {});
  }

  // Returns: whether the request is done.
  bool await(List& list, bool isTimed) {
    const bool isTimeUp = isTimed && self.isTimeUp();
    const bool hasGivenUp = isTimeUp && choice.tryChoose(kLimit);
    if (!isTimed || (isTimeUp && !hasGivenUp)) {
      self.wait();
    }
    const bool isDone = !hasGivenUp || withdraw(list);
    // The frame and the handle end here: nobody may use them later.
    frame.isUsed.set(0);
    return isDone;
  }

  bool withdraw(List& list) {
    for (;;) {
      detail::WaitList claimed;
      const List::Withdrawn result = list.withdraw(frame, self, claimed);
      wakeAll(claimed);
      if (result != List::Withdrawn::Later) {
        return result == List::Withdrawn::Done;
      }
      self.wait();
    }
  }

  Frame frame;
  Choice choice;
  Thread self;
  RelacySync::Var<int> answer;  // what the test writes into the handle
};

// As PollCore::finishTest(). Requests of which isDone() says so are done. Returns: how many were tested.
template <class IsDone>
size_t test(List& list, const IsDone& isDone) {
  List::Node* window[2] = {};
  const size_t count = list.beginTest(window, [] { return size_t{2}; });
  if (count == 0) {
    return 0;
  }
  bool done[2] = {};
  for (size_t i = 0; i < count; ++i) {
    auto& request = *static_cast<Request*>(window[i]->handle);
    check(request.frame.isUsed.get() == 1, "the frame is there still");
    done[i] = isDone(request);
    if (done[i]) {
      request.answer.set(1);
    }
  }
  List::Ended ended;
  list.endTest(window, count, [&](size_t i) { return done[i]; }, [](bool, size_t) {}, ended);
  Request::wakeAll(ended.claimed);
  return count;
}

// One waits, perhaps with a deadline, while another one tests.
template <bool kIsTimed>
struct WaitAndTest : rl::test_suite<WaitAndTest<kIsTimed>, 2> {
  List* list = nullptr;
  Request request;
  bool isDone = false;

  static bool hasEnded(List& list) { return list.size() == 0; }

  void before() {
    list = new List(1);
    check(list->takeRoom(request.self), "there is room");
    request.start(*list);
  }

  void thread(unsigned index) {
    if (index == 0) {
      isDone = request.await(*list, kIsTimed);
      check(!isDone || request.answer.get() == 1, "what the test wrote is seen");
      return;
    }
    while (!hasEnded(*list)) {
      (void)test(*list, [](Request&) { return true; });
    }
  }

  void after() {
    check(kIsTimed || isDone, "the request is done");
    check(list->size() == 0, "nothing is left");
    delete list;
  }
};

// The only request is being tested when its waiter goes on: the list may be gone by then.
struct LastTouch : rl::test_suite<LastTouch, 2> {
  List* list = nullptr;
  Request request;
  List::Node* window[2] = {};

  void before() {
    list = new List(1);
    check(list->takeRoom(request.self), "there is room");
    request.start(*list);
    check(list->beginTest(window, [] { return size_t{2}; }) == 1, "it is tested");
  }

  void thread(unsigned index) {
    if (index == 0) {
      (void)request.await(*list, true);
      delete list;
      return;
    }
    List::Ended ended;
    list->endTest(window, 1, [](size_t) { return true; }, [](bool, size_t) {}, ended);
    Request::wakeAll(ended.claimed);
  }
};

// Two wait where there is room for one: the one that is done, or gives up, lets the other in.
struct Room : rl::test_suite<Room, 3> {
  List list{1};
  Request requests[2];
  RelacySync::Atomic<int> numOver{0};

  void thread(unsigned index) {
    if (index == 2) {
      // relaxed, both: only a count.
      while (numOver.load(std::memory_order_relaxed) != 2) {
        if (test(list, [](Request&) { return true; }) == 0) {
          RelacySync::pause();
        }
      }
      return;
    }
    Request& mine = requests[index];
    if (!list.takeRoom(mine.self)) {
      mine.self.wait();
    }
    mine.start(list);
    const bool isDone = mine.await(list, index == 0);
    check(index == 0 || isDone, "the request is done");
    numOver.fetch_add(1, std::memory_order_relaxed);
  }

  void after() { check(list.size() == 0, "nothing is left"); }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<WaitAndTest<false>>("one waits", 200'000) &&
           explore<WaitAndTest<true>>("one waits until a deadline", 300'000) &&
           explore<LastTouch>("the tester's last touch", 300'000) && explore<Room>("room for one", 200'000);
  });
}
