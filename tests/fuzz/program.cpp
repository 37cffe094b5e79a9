// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "program.h"

#include <initializer_list>

namespace weft::fuzz {
namespace {

using std::chrono::microseconds;

struct ArgType {
  const char* name;
  size_t count;
};
constexpr std::array<ArgType, static_cast<size_t>(Arg::Count)> kArgs = {{
    {"", 1},
    {"", 256},
    {"event", kNumEvents},
    {"semaphore", kNumSemaphores},
    {"condition", kNumConditions},
    {"mutex", kNumMutexes},
    {"wait group", kNumWaitGroups},
    {"channel", kNumChannels},
    {"stop", kNumStops},
    {"promise", kNumPromises},
    {"server", kNumServers},
}};

const ArgType& typeOf(Arg arg) { return kArgs[static_cast<size_t>(arg)]; }

constexpr microseconds kShort{300};

// Returns: null for the number that begins a script.
const OpType* typeOf(uint8_t code) {
  const auto tables = opTables();
  size_t numOps = 0;
  for (const auto& ops : tables) {
    numOps += ops.size();
  }
  size_t number = code % 128u;
  if (number > numOps) {
    number %= 64u;
  }
  if (number == kScriptType) {
    return nullptr;
  }
  size_t index = number < kScriptType ? number : number - 1;
  for (const auto& ops : tables) {
    if (index < ops.size()) {
      return &ops[index];
    }
    index -= ops.size();
  }
  return nullptr;
}

How howOf(uint8_t byte) {
  constexpr std::array<int, 4> kLimits = {0, 30, 300, 2000};
  How how;
  if (const int limit = kLimits[byte % 4u]; limit != 0) {
    how.limit = microseconds(limit);
  }
  if (const unsigned stop = byte / 4u % 4u; stop >= 2) {
    how.stop = static_cast<int>(stop - 2);
  }
  return how;
}

// Gives limits to waits that nobody is sure to end.
void limitWaits(Program& program) {
  const Census& census = program.census;
  for (Script& script : program.scripts) {
    for (Op& op : script.ops) {
      if (op.type->waits == Waits::Never) {
        op.how = {};
      } else if (op.type->waits == Waits::Others && !op.how.limit) {
        const bool isStopped = op.how.stop >= 0 && census.stops[static_cast<size_t>(op.how.stop)] > 0;
        const bool isSure = isStopped || op.type->isSure == nullptr || op.type->isSure(census, op);
        if (script.isSupplier || !isSure) {
          op.how.limit = kShort;
        }
      }
    }
  }
}

}  // namespace

bool Census::isSignalSure(size_t event) const {
  const EventFlow& flow = events[event];
  const bool isManual = event < kNumManualEvents;
  // The signals of an Auto event merge: of several waits only one is sure to end.
  return flow.given > 0 && flow.cleared == 0 && (isManual || flow.wanted == 1);
}

bool Census::isSendSure(size_t channel) const {
  return channels[channel].closed > 0 || channels[channel].sent <= kCapacities[channel];
}

bool Census::isReceiveSure(size_t channel) const {
  return channels[channel].closed > 0 || (isSendSure(channel) && channels[channel].isEnough());
}

std::array<std::span<const OpType>, 8> opTables() {
  return {syncOps(),  channelOps(), structureOps(), fairOps(),
          crowdOps(), scopeOps(),   choiceOps(),    algorithmOps()};
}

Program decode(const uint8_t* data, size_t size) {
  constexpr std::array<int, 4> kWorkers = {0, 1, 2, 4};
  const uint8_t header = size > 0 ? data[0] : 0;
  Program program;
  program.numWorkers = kWorkers[header % 4u];
  program.numFairThreads = (header & 4) != 0 ? 2 : 1;
  program.endsEarly = (header & 8) != 0;
  program.searches = (header & 16) == 0;
  program.scripts.push_back({.kind = Kind::BoundThread, .isSupplier = true, .ops = {}});

  size_t numOps = 0;
  for (size_t i = 1; i + 4 <= size && numOps < kMaxOps; i += 4) {
    const uint8_t* byte = data + i;
    if (const OpType* type = typeOf(byte[0])) {
      const Op op{type, static_cast<uint8_t>(byte[1] % typeOf(type->a).count),
                  static_cast<uint8_t>(byte[2] % typeOf(type->b).count), howOf(byte[3])};
      program.scripts.back().ops.push_back(op);
      ++numOps;
    } else if (program.scripts.size() < kMaxScripts) {
      program.scripts.push_back(
          {.kind = static_cast<Kind>(byte[1] % 3u), .isSupplier = byte[2] % 2u != 0, .ops = {}});
    }
  }
  for (const Script& script : program.scripts) {
    for (const Op& op : script.ops) {
      if (op.type->count != nullptr) {
        op.type->count(program.census, op, script.isSupplier);
      }
    }
  }
  limitWaits(program);
  return program;
}

std::string toString(const Op& op) {
  std::string text = op.type->name;
  const auto append = [&](Arg arg, uint8_t value) {
    if (arg != Arg::None) {
      const std::string name = typeOf(arg).name;
      text += (name.empty() ? " " : " " + name + " ") + std::to_string(value);
    }
  };
  append(op.type->a, op.a);
  append(op.type->b, op.b);
  if (op.how.limit) {
    text += ", for " + std::to_string(op.how.limit->count()) + " us";
  }
  if (op.how.stop >= 0) {
    text += ", until stop " + std::to_string(op.how.stop);
  }
  return text;
}

std::string toString(const Program& program, std::span<const size_t> at) {
  constexpr std::array<const char*, 3> kKinds = {"task", "bound thread", "free thread"};
  std::string text = "program: " + std::to_string(program.numWorkers) + " workers, " +
                     std::to_string(program.numFairThreads) + " fair threads" +
                     (program.endsEarly ? ", the scheduler ends early" : "") +
                     (program.searches ? "" : ", no idle search") + "\n";
  for (size_t i = 0; i < program.scripts.size(); ++i) {
    const Script& script = program.scripts[i];
    text += "  script " + std::to_string(i) + ", " +
            (i == 0 ? "main" : kKinds[static_cast<size_t>(script.kind)]) +
            (script.isSupplier ? ", supplies" : "") + "\n";
    for (size_t k = 0; k < script.ops.size(); ++k) {
      text += (i < at.size() && at[i] == k ? "  -> " : "     ") + toString(script.ops[k]) + "\n";
    }
    if (i < at.size() && at[i] >= script.ops.size()) {
      text += "  -> its end\n";
    }
  }
  return text;
}

}  // namespace weft::fuzz
