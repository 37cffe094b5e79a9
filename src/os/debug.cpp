// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/debug.h"

#include <dlfcn.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "os/last_act.h"
#include "os/warn_with_callers.h"
#include "weft/detail/base/callable.h"
#include "weft/detail/base/shared.h"

namespace weft::inline v0_1 {
namespace {

// Returns: whether `file` is the library's own. Its place would say little to a user who misused the library.
bool isOfLibrary(std::string_view file) {
#if defined(WEFT_AMALGAMATED)
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return name == "weft.cpp" || name == "weft.h" || name == "weft_io.cpp" || name == "weft_io.h";
#else
  constexpr std::string_view kOwn(__FILE__), kPath("os/debug.cpp");
  static_assert(kOwn.ends_with(kPath));
  const bool isHeader = file.ends_with(".h") && file.find("/weft/") != file.npos;
  return isHeader || file.starts_with(kOwn.substr(0, kOwn.size() - kPath.size()));
#endif
}

// The calls that have led here, innermost first. Leading calls of the library are left out: in a shared
// library, and functions that the dynamic linker can name. The first call with another name, the caller of
// the library, is the last of the list. Where no names are known, as without -rdynamic, a few calls are kept.
class Callers {
 public:
  static constexpr int kFewKept = 4;
  // Of a program without optimization: an algorithm's inline functions are calls there.
  static constexpr int kMostKept = 12;

  // Leaves out the calling function and that one's caller. It is separate, since the unwinder needs a good
  // part of a small stack. Requires: `mostKept` is at most kMostKept.
  [[gnu::noinline]] void find(int mostKept) {
    _Unwind_Backtrace(&Callers::add, this);
    int kept = 0;
    bool isLeading = true;
    for (int i = kOwn; i < num_ && kept < mostKept; ++i) {
      Dl_info info{};
      const bool isKnown = dladdr(places_[i], &info) != 0;
      isLeading = isLeading && isKnown && isWeft(info);
      if (!isLeading && isKnown) {
        places_[kept++] = places_[i];
      }
      if (!isLeading && (!isKnown || info.dli_sname != nullptr)) {
        break;
      }
    }
    num_ = kept;
  }

  const void* const* begin() const { return places_; }
  const void* const* end() const { return places_ + num_; }

 private:
  static constexpr int kOwn = 3;  // find(), its caller, and the caller of that
  static constexpr int kMost = 16;

  static _Unwind_Reason_Code add(_Unwind_Context* context, void* self) {
    auto& callers = *static_cast<Callers*>(self);
    if (callers.num_ == kMost) {
      return _URC_END_OF_STACK;
    }
    // The address of the call itself, not the address that it returns to.
    callers.places_[callers.num_++] = reinterpret_cast<const void*>(_Unwind_GetIP(context) - 1);
    return _URC_NO_REASON;
  }

  static bool isWeft(const Dl_info& info) {
    const std::string_view name(info.dli_sname != nullptr ? info.dli_sname : "");
    return name.starts_with("_ZN4weft") || name.starts_with("_ZNK4weft") || isInLibrary(info);
  }

  static bool isInLibrary([[maybe_unused]] const Dl_info& info) {
#if defined(WEFT_SHARED)
    Dl_info own{};
    return dladdr(reinterpret_cast<const void*>(&detail::writeStderr), &own) != 0 &&
           own.dli_fbase == info.dli_fbase;
#else
    return false;
#endif
  }

  const void* places_[kMost];
  int num_ = 0;
};

// A message under construction, of a size that a small fiber's stack can hold.
class Message {
 public:
  [[gnu::format(printf, 3, 0)]] Message(const char* prefix, const char* format, va_list arguments)
      : size_(std::strlen(prefix)) {
    std::memcpy(text_, prefix, size_);
    const size_t room = sizeof(text_) - kReserve - size_;
    const int wanted = std::vsnprintf(text_ + size_, room, format, arguments);
    if (wanted < 0) {
      return;
    }
    if (static_cast<size_t>(wanted) < room) {
      size_ += static_cast<size_t>(wanted);
    } else {
      size_ += room - 1;
      std::memcpy(text_ + size_ - 3, "...", 3);
    }
  }

  void appendPlace(const char* file, int line) {
    const int written = std::snprintf(text_ + size_, sizeof(text_) - size_, "\n  at %.200s:%d", file, line);
    size_ += written > 0 ? static_cast<size_t>(written) : 0;
  }

  void appendCallers(const Callers& callers) {
    const char* before = "\n  called from ";
    for (const void* place : callers) {
      Dl_info info{};
      dladdr(place, &info);
      const char* slash = std::strrchr(info.dli_fname, '/');
      const int written = std::snprintf(
          text_ + size_, sizeof(text_) - size_, "%s%.32s+0x%zx", before,
          slash != nullptr ? slash + 1 : info.dli_fname,
          static_cast<size_t>(static_cast<const char*>(place) - static_cast<char*>(info.dli_fbase)));
      size_ += written > 0 ? static_cast<size_t>(written) : 0;
      before = ", ";
    }
  }

  void print() {
    text_[size_++] = '\n';
    detail::writeStderr(text_, size_);
  }

 private:
  static constexpr size_t kReserve = 832;  // for the places and the end of the line

  char text_[2368];
  size_t size_;
};

// Returns: a message that names up to `mostKept` of the calls that have led to the calling function.
[[gnu::noinline, gnu::format(printf, 3, 0)]] Message withCallers(const char* prefix, int mostKept,
                                                                 const char* format, va_list arguments) {
  Callers callers;
  if (mostKept != 0) {
    callers.find(mostKept);
  }
  Message message(prefix, format, arguments);
  message.appendCallers(callers);
  return message;
}

}  // namespace

namespace detail {

namespace {

constinit std::atomic<LastAct> lastAct{nullptr};

[[noreturn]] void actAndAbort() {
  // (1) acquire: sees what the act needs; pairs with (2).
  if (const LastAct act = lastAct.load(std::memory_order_acquire)) {
    act();
  }
  std::abort();
}

}  // namespace

void setLastAct(LastAct act) noexcept {
  // (2) release: what the caller has made for it; pairs with (1).
  lastAct.store(act, std::memory_order_release);
}

}  // namespace detail

void fatal(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Message message("weft: fatal: ", format, arguments);
  va_end(arguments);
  message.print();
  detail::actAndAbort();
}

void warn(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Message message("weft: warning: ", format, arguments);
  va_end(arguments);
  message.print();
}

namespace detail {

void reportMovedFrom(const char* what) {
  WEFT_FATAL("%s was used after it was moved from. Use the object it was moved to.", what);
}

void reportNullAllocator(const char* what) {
  WEFT_FATAL("%s: the allocator is null. Leave it at Allocator::Default.", what);
}

void reportEmptyFunction(const char* where) {
  WEFT_FATAL(
      "%s was given an empty function: a std::function or a Task that holds nothing, or a null pointer. "
      "Give it something to call.",
      where);
}

void fatalAt(const char* file, int line, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Message message =
      withCallers("weft: fatal: ", isOfLibrary(file) ? Callers::kFewKept : 0, format, arguments);
  va_end(arguments);
  message.appendPlace(file, line);
  message.print();
  detail::actAndAbort();
}

void warnWithCallers(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Message message = withCallers("weft: warning: ", Callers::kMostKept, format, arguments);
  va_end(arguments);
  message.print();
}

void writeStderr(const char* text, size_t size) noexcept {
  const int error = errno;
  while (size > 0) {
    const ssize_t written = ::write(STDERR_FILENO, text, size);
    if (written > 0) {
      text += written;
      size -= static_cast<size_t>(written);
    } else if (written == 0 || errno != EINTR) {
      break;
    }
  }
  errno = error;
}

}  // namespace detail
}  // namespace weft::inline v0_1
