// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/watched_call.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <unwind.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "os/registers.h"

// Weak: a static program needs no dynamic linker.
#pragma weak dlsym

namespace weft::inline v0_1::detail {

namespace {

constexpr char kEndOfThread[] = "the end of the thread, by pthread_exit() or by its cancellation";

#if !defined(WEFT_UCONTEXT)

// `isForced`: the thread ends. Otherwise a handler is searched for.
void endSearch(_Unwind_Exception* exception, bool isForced, bool isOfCpp, const Watch& watch) {
  if (isForced) {
    watch.escaped(&watch, kEndOfThread);
  } else {
    if (!isOfCpp) {
      watch.escaped(&watch, "of an unknown type");
    }
    abi::__cxa_begin_catch(exception);
    watch.escaped(&watch, nullptr);
  }
}

// Vendors of C++ runtimes have four letters before "C++".
#if defined(__ARM_EABI_UNWINDER__)
_Unwind_Reason_Code goOn(_Unwind_State state, _Unwind_Exception* exception, _Unwind_Context* context,
                         const Watch& watch) {
  const bool isSearch = (state & _US_ACTION_MASK) == _US_VIRTUAL_UNWIND_FRAME;
  const bool isForced = (state & _US_FORCE_UNWIND) != 0;
  if (isSearch != isForced) {  // both is a walk, which looks at the stack alone
    endSearch(exception, isForced, std::memcmp(&exception->exception_class[4], "C++", 3) == 0, watch);
  }
  return __gnu_unwind_frame(exception, context) == _URC_OK ? _URC_CONTINUE_UNWIND : _URC_FAILURE;
}
#else
_Unwind_Reason_Code goOn(_Unwind_Action actions, _Unwind_Exception_Class exceptionClass,
                         _Unwind_Exception* exception, const Watch& watch) {
  const bool isForced = (actions & _UA_FORCE_UNWIND) != 0;
  if (isForced || (actions & _UA_SEARCH_PHASE) != 0) {
    endSearch(exception, isForced, ((exceptionClass >> 8) & 0xffffff) == 0x432b2b, watch);
  }
  return _URC_CONTINUE_UNWIND;
}
#endif
#endif

}  // namespace

#if !defined(WEFT_UCONTEXT)

static_assert(offsetof(TaskNode, invoke) == 0 && static_cast<int>(TaskOp::Run) == 0, "as in weft_run_task");

// The personality routines of the functions in assembly: Itanium C++ ABI, "Exception Handling", level I; on
// 32-bit ARM its "Exception Handling ABI". They are `used`, since -flto does not look into assembly.
extern "C" {

#if defined(__ARM_EABI_UNWINDER__)
[[gnu::used, gnu::visibility("hidden")]] _Unwind_Reason_Code weft_watch_personality(
    _Unwind_State state, _Unwind_Exception* exception, _Unwind_Context* context) {
  const uintptr_t stackPointer = _Unwind_GetGR(context, processor::kStackPointer);
  return goOn(state, exception, context,
              **reinterpret_cast<const Watch**>(stackPointer + processor::kWatchAt));
}

[[gnu::used, gnu::visibility("hidden")]] _Unwind_Reason_Code weft_task_personality(
    _Unwind_State state, _Unwind_Exception* exception, _Unwind_Context* context) {
  return goOn(state, exception, context, taskWatch);
}
#else
[[gnu::used, gnu::visibility("hidden")]] _Unwind_Reason_Code weft_watch_personality(
    int, _Unwind_Action actions, _Unwind_Exception_Class exceptionClass, _Unwind_Exception* exception,
    _Unwind_Context* context) {
  const uintptr_t stackPointer = _Unwind_GetCFA(context);
  return goOn(actions, exceptionClass, exception,
              **reinterpret_cast<const Watch**>(stackPointer + processor::kWatchAt));
}

[[gnu::used, gnu::visibility("hidden")]] _Unwind_Reason_Code weft_task_personality(
    int, _Unwind_Action actions, _Unwind_Exception_Class exceptionClass, _Unwind_Exception* exception,
    _Unwind_Context*) {
  return goOn(actions, exceptionClass, exception, taskWatch);
}
#endif

}  // extern "C"
#else

// Portable code has no personality routine of its own: the stack is unwound before the report.
void weft_call_watched(void* argument, void (*function)(void*), const Watch* watch) {
  try {
    function(argument);
#if !defined(_LIBCPPABI_VERSION)
  } catch (const abi::__forced_unwind&) {
    watch->escaped(watch, kEndOfThread);
#endif
  } catch (...) {
    watch->escaped(watch, nullptr);
  }
}

void weft_run_task(TaskNode* node) {
  weft_call_watched(
      node,
      [](void* self) {
        auto* task = static_cast<TaskNode*>(self);
        task->invoke(task, TaskOp::Run);
      },
      &taskWatch);
}

#endif

const void* findThrow() {
  // The second is the runtime's own, where the first is one that a sanitizer has put before it.
  struct Search {
    const void* const throws = reinterpret_cast<void*>(&abi::__cxa_throw);
    const void* const throwsToo = dlsym != nullptr ? dlsym(RTLD_NEXT, "__cxa_throw") : nullptr;
    const void* place = nullptr;
    bool isNext = false;
  } search;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* self) {
        auto& found = *static_cast<Search*>(self);
        // The address of the call itself, not the address that it returns to.
        void* const place = reinterpret_cast<void*>(_Unwind_GetIP(context) - 1);
        if (found.isNext) {
          found.place = place;
          return _URC_END_OF_STACK;
        }
        // On ARM several functions may have one region, and an address of Thumb code is a byte too high.
        void* const region = reinterpret_cast<void*>(_Unwind_GetRegionStart(context));
        auto isIn = [&](const void* function) { return region <= function && function < place; };
        found.isNext = region != nullptr && (isIn(found.throws) || isIn(found.throwsToo));
        return _URC_NO_REASON;
      },
      &search);
  return search.place;
}

}  // namespace weft::inline v0_1::detail
