// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/fiber_choice.h"

#include <charconv>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "tools/command.h"

namespace weft::inline v0_1::detail::tools {
namespace {

struct Choice {
  std::optional<uint64_t> address;
  std::optional<int32_t> worker;  // its number, or its thread's
  uint32_t fiber = 0;
};

template <class T>
bool parse(std::string_view text, T& value, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

Choice parseChoice(std::string_view text) {
  Choice choice;
  const size_t colon = text.find(':');
  bool isRight;
  if (text.starts_with("0x")) {
    choice.address = 0;
    isRight = parse(text.substr(2), *choice.address, 16);
  } else if (colon != text.npos) {
    choice.worker = 0;
    isRight = parse(text.substr(0, colon), *choice.worker) && parse(text.substr(colon + 1), choice.fiber);
  } else {
    isRight = parse(text, choice.fiber);
  }
  if (!isRight) {
    throw UsageError(
        "\"" + std::string(text) +
        "\" names no fiber: give its number, WORKER:NUMBER, or the address of its control block");
  }
  return choice;
}

bool isMeant(const inspect::Snapshot& snapshot, const inspect::Fiber& fiber, const Choice& choice) {
  if (choice.address) {
    return fiber.address == *choice.address;
  }
  const inspect::Worker& worker = snapshot.workers[fiber.worker];
  return fiber.id == choice.fiber &&
         (!choice.worker || worker.id == *choice.worker || worker.threadId == *choice.worker);
}

// Returns: "0:3", or "4711:3" for a bound thread, or the address where other schedulers have such a worker.
std::string nameOf(const inspect::Snapshot& snapshot, const inspect::Fiber& fiber) {
  if (snapshot.schedulers.size() > 1) {
    char address[32];
    std::snprintf(address, sizeof address, "%#llx", static_cast<unsigned long long>(fiber.address));
    return address;
  }
  const inspect::Worker& worker = snapshot.workers[fiber.worker];
  return std::to_string(worker.id >= 0 ? worker.id : worker.threadId) + ":" + std::to_string(fiber.id);
}

}  // namespace

uint32_t chooseFiber(const inspect::Snapshot& snapshot, std::string_view text) {
  const Choice choice = parseChoice(text);
  std::vector<uint32_t> used, idle;
  for (uint32_t i = 0; i < snapshot.fibers.size(); ++i) {
    if (isMeant(snapshot, snapshot.fibers[i], choice)) {
      (snapshot.fibers[i].state == inspect::Fiber::State::Idle ? idle : used).push_back(i);
    }
  }
  const std::vector<uint32_t>& found = used.empty() ? idle : used;
  if (found.empty()) {
    throw Failure("there is no fiber " + std::string(text) + ": `weft ps --all` lists them");
  }
  if (found.size() > 1) {
    std::string names;
    for (size_t i = 0; i < found.size() && i < 16; ++i) {
      names += (i == 0 ? "" : ", ") + nameOf(snapshot, snapshot.fibers[found[i]]);
    }
    throw Failure("there are " + std::to_string(found.size()) + " fibers " + std::string(text) +
                  ": choose one of " + names + (found.size() > 16 ? ", ..." : ""));
  }
  return found[0];
}

}  // namespace weft::inline v0_1::detail::tools
