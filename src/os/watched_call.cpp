// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/watched_call.h"

#include <cxxabi.h>
#include <unwind.h>

namespace weft::inline v0_1::detail {

// The personality routine of weft_call_watched(): see the Itanium C++ ABI, "Exception Handling", level I. A
// thread that is cancelled, or ends by pthread_exit(), unwinds without a search.
extern "C" [[gnu::visibility("hidden")]] _Unwind_Reason_Code weft_watch_personality(
    int, _Unwind_Action actions, _Unwind_Exception_Class, _Unwind_Exception* exception,
    _Unwind_Context* context) {
  if ((actions & _UA_SEARCH_PHASE) == 0) {
    return _URC_CONTINUE_UNWIND;
  }
  // The stack pointer of the frame, where its Watch lies.
  const Watch* const watch = *reinterpret_cast<const Watch**>(_Unwind_GetCFA(context));
  abi::__cxa_begin_catch(exception);
  watch->escaped(watch);
  __builtin_unreachable();
}

const void* findThrow() {
  struct Search {
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
        found.isNext = _Unwind_FindEnclosingFunction(place) == reinterpret_cast<void*>(&abi::__cxa_throw);
        return _URC_NO_REASON;
      },
      &search);
  return search.place;
}

}  // namespace weft::inline v0_1::detail
