// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

// A program of operations that an input of the fuzzer stands for. Every input is a program that ends.
//
// The operations lie in scripts, which run at the same time: as tasks, on bound threads, and on threads with
// nothing bound. The scripts share some objects of each kind. A script either supplies, or consumes:
//
// - A supplier never waits without a limit. So it ends, and what it gives is given.
// - A consumer waits without a limit only for what is sure to come: the census of the whole program says so.
//   It counts what suppliers give, and what anybody may take. A wait that may remain alone gets a limit.
//
// So no wait is left alone, in whatever order the threads run. A wake that is lost is a program that hangs.
namespace weft::fuzz {

class Actor;
struct Op;
struct Census;

inline constexpr size_t kMaxOps = 64;
inline constexpr size_t kMaxScripts = 10;

// What an operand of an operation names.
enum class Arg : uint8_t {
  None,
  Number,
  Event,  // 0 and 1 are Manual, 2 and 3 are Auto
  Semaphore,
  Condition,
  Mutex,
  WaitGroup,
  Channel,
  Stop,
  Promise,
  Server,  // a task of weft::fair
  Count
};

inline constexpr size_t kNumEvents = 4, kNumManualEvents = 2, kNumSemaphores = 2, kNumConditions = 2,
                        kNumMutexes = 2, kNumWaitGroups = 2, kNumChannels = 4, kNumStops = 2,
                        kNumPromises = 3, kNumServers = 2;
inline constexpr std::array<int, kNumChannels> kCapacities = {0, 1, 3, kMaxOps};

// How long an operation waits: the fourth byte says it.
struct How {
  std::optional<std::chrono::microseconds> limit;
  int stop = -1;  // the stop that ends it; none if negative
};

enum class Waits : uint8_t {
  Never,   // or for what the operation itself brings about
  Soon,    // for others that never wait themselves meanwhile: also without a limit
  Others,  // for others
};

// An operation: how it is printed, what it gives and takes, when it ends, and what it does.
struct OpType {
  const char* name = "";
  Arg a = Arg::None;
  Arg b = Arg::None;
  Waits waits = Waits::Never;
  void (*count)(Census& census, const Op& op, bool bySupplier) = nullptr;
  bool (*isSure)(const Census& census, const Op& op) = nullptr;  // whether a wait without a limit ends
  void (*run)(Actor& self, const Op& op) = nullptr;
};

struct Op {
  const OpType* type;
  uint8_t a;
  uint8_t b;
  How how;
};

enum class Kind : uint8_t { Task, BoundThread, FreeThread };

struct Script {
  Kind kind = Kind::Task;
  bool isSupplier = false;
  std::vector<Op> ops;
};

// What the scripts of a program give and take.
struct Census {
  struct Flow {
    int given = 0;   // by suppliers
    int wanted = 0;  // by anybody
    bool isEnough() const { return given >= wanted; }
  };
  struct EventFlow : Flow {
    int cleared = 0;
  };
  struct ChannelFlow : Flow {
    int sent = 0;    // by anybody, also in vain
    int closed = 0;  // by suppliers
  };

  std::array<EventFlow, kNumEvents> events;
  std::array<Flow, kNumSemaphores> semaphores;
  std::array<Flow, kNumConditions> conditions;
  std::array<ChannelFlow, kNumChannels> channels;
  std::array<int, kNumWaitGroups> waitGroups{};  // done by suppliers
  std::array<int, kNumStops> stops{};            // requested by suppliers
  int latch = 0;                                 // counted down by suppliers

  bool isSignalSure(size_t event) const;
  bool isSendSure(size_t channel) const;
  bool isReceiveSure(size_t channel) const;
};

// Script 0 is run by the main thread, bound, and supplies.
struct Program {
  int numWorkers = 0;
  int numFairThreads = 1;
  bool endsEarly = false;  // the scheduler is destroyed while the scripts run
  bool searches = true;    // whether idle workers look for tasks before they sleep
  std::vector<Script> scripts;
  Census census;
};

// The type in an input that begins a script. It lies between the numbers of the operations. A type that is
// past the last operation stands for the number that its six lower bits give.
inline constexpr uint8_t kScriptType = 63;

// The first byte is the header. Four bytes are an operation: its type, two operands, and how it waits. Or
// they begin a script.
Program decode(const uint8_t* data, size_t size);

std::string toString(const Op& op);
// `at`: the operation of each script that is marked, or nothing.
std::string toString(const Program& program, std::span<const size_t> at = {});

// The tables of the operations. The numbers of the operations go on from one to the next.
std::span<const OpType> syncOps();
std::span<const OpType> channelOps();
std::span<const OpType> structureOps();
std::span<const OpType> fairOps();
std::span<const OpType> crowdOps();
std::span<const OpType> scopeOps();
std::span<const OpType> choiceOps();
std::span<const OpType> algorithmOps();
std::array<std::span<const OpType>, 8> opTables();

}  // namespace weft::fuzz
