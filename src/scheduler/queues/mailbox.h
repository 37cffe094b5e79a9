// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <utility>

#include "scheduler/fibers/fiber_control_block.h"
#include "weft/detail/base/node_memory.h"
#include "weft/detail/queue/inbox.h"
#include "weft/task.h"

namespace weft::inline v0_1::detail {

// The tasks that others have placed on one worker: see Scheduler::enqueueOn(). First in, first out.
//
// A worker looks at its inbox of fibers wherever it looks for work, and before it sleeps. So that it need not
// look at its mailbox too, each mailbox has a notice, a control block that no fiber has, which whoever brings
// the first letter puts into the inbox. The mark of the mailbox's own inbox says where the notice is:
//
//   mark        the notice is with the mailbox, which is empty
//   no mark     the notice is in the inbox, or with a thread that is about to put it there, or with the owner
//
//   sender                                        owner
//   S1 put(): pushes the letter                   O1 finds the notice in the inbox
//   S2 it replaced the mark: pushes the notice to   O2 takeAll(): takes the letters
//      the inbox, and wakes the owner if that     O3 leaves the mark; or, if letters have come meanwhile,
//      was parked                                    puts the notice back into the inbox itself
//
// What must not happen: a letter comes after O2, its sender sees no mark, and nobody brings the notice. It
// cannot happen: the mark is left by a compare-exchange of the word that a letter changes, from empty.
//
// Rejected: a loop around O2 and O3, since letters might come without end.
//
// Rejected: tasks in the inbox itself. Each node would need a tag, which each wake of a fiber would write.
class Mailbox {
 public:
  struct Letter {
    explicit Letter(Task&& its) noexcept : task(std::move(its)) {}
    InboxLink<Letter> inboxNext;
    Task task;
  };

  explicit Mailbox(Worker& owner) : notice_(owner, 0) { letters_.tryPark(); }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Where it throws, `task` is what it was.
  static Letter* write(Task&& task) { return NodeMemory<Letter>::make(std::move(task)); }

  // Any thread.
  // Returns: the notice, which the caller must put into the owner's inbox; or null.
  FiberControlBlock* put(Letter* letter) { return letters_.push(letter) != 0 ? &notice_ : nullptr; }

  // The rest is for the owner.

  bool isNotice(const FiberControlBlock& fiber) const { return &fiber == &notice_; }

  // Called when the notice has come: calls f(node) for each task.
  // Returns: the notice, which the caller must put back; or null.
  template <class F>
  FiberControlBlock* takeAll(F&& f) {
    for (Letter* letter = letters_.popAll(); letter != nullptr;) {
      Letter* const next = letter->inboxNext.get();
      f(letter->task.release());
      NodeMemory<Letter>::destroy(*letter);
      letter = next;
    }
    return letters_.tryPark() ? nullptr : &notice_;
  }

 private:
  friend struct LayoutAccess;

  Inbox<Letter> letters_;
  FiberControlBlock notice_;
};

}  // namespace weft::inline v0_1::detail
