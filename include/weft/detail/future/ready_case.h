// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/channel/select_case.h"
#include "weft/detail/future/handle.h"
#include "weft/detail/future/state.h"
#include "weft/export.h"

namespace weft::inline v0_1::detail {

// A case that waits until a future is ready.
class WEFT_EXPORT FutureCase : public OneSidedCase {
 public:
  bool tryTake() override;
  bool takeOrLink() override;
  void unlink() override;
  void keep() override {}

 protected:
  explicit FutureCase(const FutureHandle& future) : future_(future) {}
  FutureCase(Erase erase, const FutureCase& from) : OneSidedCase(erase, from), future_(from.future_) {}
  ~FutureCase() = default;

 private:
  const FutureHandle& future_;
  FutureCore* core_ = nullptr;              // what `future_` has while a select() waits
  FutureCore::Word::Room* room_ = nullptr;  // where `node` was linked
};

// F: a future, perhaps const.
template <class F>
class ReadyCase : public FutureCase {
 protected:
  explicit ReadyCase(F& future) : FutureCase(future), subject_(future) {}
  ReadyCase(Erase erase, const ReadyCase& from) : FutureCase(erase, from), subject_(from.subject_) {}
  ~ReadyCase() = default;

  F& subject() const { return subject_; }

 private:
  F& subject_;
};

}  // namespace weft::inline v0_1::detail
