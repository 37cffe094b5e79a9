// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/io/readiness_case.h"
#include "weft/export.h"
#include "weft/io/signals.h"

namespace weft::inline v0_1::detail {

// A case that takes a signal of the system. A claim cannot take it, so the select takes it once it is chosen.
// If another was faster, it goes on waiting.
class WEFT_EXPORT SignalCase : public ReadinessCase {
 public:
  // Throws the error that the case has ended with, if there is one.
  void check() const;

 protected:
  explicit SignalCase(io::Signals& from);
  SignalCase(Erase erase, const SignalCase& from) : ReadinessCase(erase, from), signals_(from.signals_) {}
  ~SignalCase() = default;

  const io::SignalInfo& subject() const { return taken_; }

 private:
  void find() override;
  bool take() override;

  io::Signals& signals_;
  io::SignalInfo taken_;
};

}  // namespace weft::inline v0_1::detail
