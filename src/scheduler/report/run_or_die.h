// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>

#include "os/watched_call.h"
#include "weft/detail/base/outcome.h"
#include "weft/detail/base/task_node.h"
#include "weft/memory.h"
#include "weft/scheduler.h"

// Calls of the user's functions. An exception that escapes one ends the program with a message that names it.
namespace weft::inline v0_1::detail {

struct FairTask;

// Throws `exception` to look at it. Returns: its type and its message.
std::string describe(EscapedException& exception);

// Runs the "initializer" or "finalizer" of a worker's thread.
void runOrDie(const Scheduler::ThreadInitializer& function, const char* name, int workerId);

void runOrDie(const std::function<void()>& function, const char* what);

// These ask `allocator`, of the Config of `owner`, for memory, and give it back. Null ends the program too.
Allocation allocateOrDie(Allocator& allocator, const Allocation::Request& request, const char* owner);
void freeOrDie(Allocator& allocator, const Allocation& allocation, const char* owner) noexcept;

void runStepOrDie(FairTask& task);

}  // namespace weft::inline v0_1::detail
