// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>

#include "weft/detail/io/readiness_case.h"
#include "weft/export.h"
#include "weft/io/descriptor.h"
#include "weft/io/process.h"

namespace weft::inline v0_1::detail {

// A case that waits until a program has ended: for the readiness of its pidfd. Where the system refuses
// pidfds, it looks again and again, each time that a timer of its own is ready, after pauses as of
// ChildProcess.
class WEFT_EXPORT ExitCase : public ReadinessCase {
 public:
  // Throws the error that the case has ended with, if there is one.
  void check() const;

 protected:
  explicit ExitCase(const io::Process& process);
  ExitCase(Erase erase, const ExitCase& from) : ReadinessCase(erase, from), process_(from.process_) {}
  ~ExitCase() = default;

  io::Exit subject() const { return exit_; }

 private:
  void find() override;
  bool take() override;
  void awaitTimer();

  const io::Process& process_;
  io::Exit exit_;
  io::UniqueFd timer_;
  std::chrono::milliseconds pause_{1};
};

}  // namespace weft::inline v0_1::detail
