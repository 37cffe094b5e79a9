// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/channel/select_case.h"
#include "weft/detail/io/readiness_wait.h"
#include "weft/export.h"

namespace weft::inline v0_1 {

namespace io {
class UniqueFd;
}

namespace detail {

struct DescriptorSlot;

// A case that waits for the readiness of a descriptor. Its node is linked in the slot of the descriptor's
// number. What the wait is for is looked for on the thread of the select: before it waits, and once a reactor
// has chosen the case.
class WEFT_EXPORT ReadinessCase : public OneSidedCase {
 public:
  bool tryTake() final;
  bool takeOrLink() final;
  bool arrive() final;
  void unlink() final;
  void keep() final {}

 protected:
  explicit ReadinessCase(uint32_t events) { wait_.events = events; }
  ReadinessCase(Erase erase, const ReadinessCase& from) : OneSidedCase(erase, from) {
    wait_.events = from.wait_.events;
  }
  ~ReadinessCase() = default;

  // Finds the descriptor, and calls awaitFd() or fail(). May suspend.
  virtual void find() = 0;
  // Looks for what the case waits for, and takes it. An error that does not go away ends the wait, too.
  // Returns: whether the wait is over.
  virtual bool take() = 0;

  // `owner`, if not null, had the number `fd` before. Waits for the end of a close.
  void awaitFd(int fd, const io::UniqueFd* owner);
  // Each is a result of take(), or an end of find().
  bool succeed() { return fail(0); }
  bool fail(int error) {
    error_ = error;
    return true;
  }
  int fd() const { return fd_; }
  uint32_t events() const { return wait_.events; }
  // Throws the error that has ended the wait, if there is one. `what`: "io::onExit".
  void throwError(const char* what) const;

 private:
  bool takeInUse();

  int fd_ = -1;
  int error_ = 0;
  uint32_t generation_ = 0;
  DescriptorSlot* slot_ = nullptr;  // null where `error_` says why
  ReadinessWait wait_;
};

// A case that waits until a read or a write of a descriptor would not wait. Whatever ends the wait early
// makes it happen: the call that follows tells what that was.
class WEFT_EXPORT DescriptorCase : public ReadinessCase {
 protected:
  DescriptorCase(int fd, uint32_t events) : ReadinessCase(events), number_(fd) {}
  DescriptorCase(Erase erase, const DescriptorCase& from)
      : ReadinessCase(erase, from), number_(from.number_) {}
  ~DescriptorCase() = default;

 private:
  void find() override;
  bool take() override;

  const int number_;
};

}  // namespace detail
}  // namespace weft::inline v0_1
