// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/terminal.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "tools/output.h"
#include "tools/top_view.h"

namespace weft::inline v0_1::detail::tools {
namespace {

constexpr char kHome[] = "\x1b[H";
constexpr char kClearLine[] = "\x1b[K";   // from the cursor on
constexpr char kClearBelow[] = "\x1b[J";  // from the cursor on

constexpr int kSysPidfdOpen = 434;  // the same on all processors; older headers have no name for it

winsize terminalSize() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
    size.ws_row = 24;
    size.ws_col = 80;
  }
  return size;
}

}  // namespace

View::View() : isTerminal_(isatty(STDOUT_FILENO) == 1) {}

size_t View::mostLines() const {
  // The cursor stands below the last line.
  return isTerminal_ ? terminalSize().ws_row - size_t{1} : std::numeric_limits<size_t>::max();
}

void View::show(const std::vector<std::string>& lines) {
  std::string text;
  if (!isTerminal_) {
    text = isFirst_ ? "" : "\n";
    for (const std::string& line : lines) {
      text += line + "\n";
    }
  } else {
    const winsize size = terminalSize();
    const size_t count = std::min<size_t>(lines.size(), size.ws_row - size_t{1});
    text = kHome;
    for (size_t i = 0; i < count; ++i) {
      // Behind a full line the cursor still stands on its last character.
      text += kClearLine + cutLine(lines[i], size.ws_col) + "\n";
    }
    text += kClearBelow;
  }
  isFirst_ = false;
  writeOutput(text);
}

LookTimer::LookTimer(int processId, bool takesSignals)
    : process_(static_cast<int>(syscall(kSysPidfdOpen, processId, 0))) {
  if (takesSignals) {
    sigset_t set;
    sigemptyset(&set);
    for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH}) {
      sigaddset(&set, each);
    }
    signals_ = signalfd(-1, &set, SFD_CLOEXEC);
    if (signals_ >= 0) {
      sigprocmask(SIG_BLOCK, &set, nullptr);
    }
  }
}

LookTimer::~LookTimer() {
  for (const int each : {process_, signals_}) {
    if (each >= 0) {
      close(each);
    }
  }
}

LookTimer::End LookTimer::waitUntil(std::chrono::steady_clock::time_point deadline) {
  pollfd events[2] = {{signals_, POLLIN, 0}, {process_, POLLIN, 0}};  // those below zero are left out
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    const int most = static_cast<int>(std::clamp<decltype(left)>(left, 0, 1'000'000'000));
    const int numReady = poll(events, 2, most);
    if (numReady > 0 && events[0].revents != 0) {
      signalfd_siginfo info{};
      if (read(signals_, &info, sizeof info) == sizeof info) {
        return info.ssi_signo == SIGWINCH ? End::NewSize : End::Interrupt;
      }
    } else if (numReady > 0) {
      return End::Process;
    } else if (numReady == 0 && std::chrono::steady_clock::now() >= deadline) {
      return End::Time;
    }
  }
}

}  // namespace weft::inline v0_1::detail::tools
