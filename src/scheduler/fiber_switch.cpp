// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/fiber_switch.h"

namespace weft::detail {

void FiberSwitch::enterThread(uint64_t taskNumber) {
  cxaGlobals_ = OSFiber::exceptionGlobals();
  main_.os.initThread();
  main_.setTaskNumber(taskNumber);
  currentFiber = &main_;
  currentTask = main_.scope();
}

void FiberSwitch::leaveThread() {
  main_.os.destroy();
  currentFiber = nullptr;
  currentTask = nullptr;
}

}  // namespace weft::detail
