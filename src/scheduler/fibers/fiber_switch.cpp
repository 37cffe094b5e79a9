// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/fibers/fiber_switch.h"

namespace weft::inline v0_1::detail {
namespace {

// No thread's stack reaches so far above the stack pointer: see Worker::findRoomInThreadStack().
constexpr uint32_t kNoTaskInPlace = uint32_t{1} << 30;

}  // namespace

void FiberSwitch::enterThread(uint64_t taskNumber) {
  cxaGlobals_ = OSFiber::exceptionGlobals();
  main_.os.initThread();
  threadScope.number = taskNumber;
  threadScope.inPlaceEnd = kNoTaskInPlace + static_cast<uint32_t>(stackPointer());
  mainScope_ = &threadScope;
  currentFiber = &main_;
  currentTask = &threadScope;
}

void FiberSwitch::leaveThread() {
  main_.os.destroy();
  mainScope_ = nullptr;
  currentFiber = nullptr;
  currentTask = nullptr;
}

}  // namespace weft::inline v0_1::detail
