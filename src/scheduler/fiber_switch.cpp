// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/fiber_switch.h"

namespace weft::detail {

void FiberSwitch::enterThread(uint64_t taskNumber) {
  cxaGlobals_ = OSFiber::exceptionGlobals();
  main_.os.initThread();
  threadScope.number = taskNumber;
  mainScope_.set(&threadScope);
  currentFiber = &main_;
  currentTask = &threadScope;
}

void FiberSwitch::leaveThread() {
  main_.os.destroy();
  mainScope_.set(nullptr);
  currentFiber = nullptr;
  currentTask = nullptr;
}

}  // namespace weft::detail
