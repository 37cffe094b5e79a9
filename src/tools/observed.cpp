// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/observed.h"

#include <signal.h>
#include <string.h>

#include <algorithm>
#include <set>

#include "inspect/phrases.h"
#include "inspect/snapshot_reader.h"
#include "inspect/text.h"
#include "inspect/unwinder.h"
#include "tools/command.h"
#include "tools/output.h"

namespace weft::inline v0_1::detail::tools {
namespace {

std::string signalName(int32_t signal) {
  const char* const name = sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

}  // namespace

Observed::Observed(Target& target, const ObserveOptions& options)
    : target_(target), names_(target.images(), &arena_) {
  snapshot_.processId = target.processId();
  snapshot_.program = target.program();
  inspect::Unwinder unwinder(target.images(), &arena_);
  const inspect::Now now = target.core() != nullptr ? inspect::Now{} : inspect::Now::read();
  for (const inspect::Offsets& offsets : target.offsets()) {
    inspect::readSnapshot(target.memory(), offsets, options.hasStacks ? &unwinder : nullptr, now, snapshot_);
  }
  target.checkThatItLives();
  if (snapshot_.schedulers.empty() && !options.mayBeEmpty) {
    throw Failure(target.name() + " uses weft, and has no scheduler " +
                  (target.core() != nullptr ? "at its end" : "now"));
  }
}

std::string Observed::introduction() {
  if (target_.core() != nullptr) {
    return textOf([this](inspect::Text& out) { writeEndOfCore(out); });
  }
  if (target_.isStopped()) {
    return target_.name() + " is stopped by a signal or a debugger: what waits may be due since then\n";
  }
  return {};
}

void Observed::writeEndOfCore(inspect::Text& out) {
  const CoreFile::Thread& thread = target_.core()->threads()[0];
  const int32_t signal = target_.core()->signal();
  if (signal == 0) {
    out << "taken while the process ran";
  } else {
    out << "ended by " << signalName(signal) << " in thread ";
    out.decimal(static_cast<uint32_t>(thread.id));
    const auto worker = std::ranges::find(snapshot_.workers, thread.id, &inspect::Worker::threadId);
    if (worker == snapshot_.workers.end()) {
      out << ", which is of no scheduler";
    } else {
      inspect::Phrases phrases(out, snapshot_, names_);
      out << ", which is ";
      phrases.worker(static_cast<uint32_t>(worker - snapshot_.workers.begin()));
      if (worker->running < snapshot_.fibers.size()) {
        const inspect::Fiber& fiber = snapshot_.fibers[worker->running];
        out << ", on fiber ";
        out.decimal(fiber.id) << ", ";
        phrases.code(fiber);
      }
    }
  }
  out << '\n';
  for (const std::string& file : target_.core()->changedFiles()) {
    if (file.starts_with('/') && !file.starts_with("/dev/") && !file.starts_with("/memfd:")) {
      out << file << " has changed since then, or is gone: what is in it has no names\n";
    }
  }
}

void addModules(const Target& target, ModuleFiles& modules) {
  if (target.core() == nullptr) {
    modules.addProcess(target.processId());
    return;
  }
  std::set<std::string> paths;
  for (const CoreFile::Mapping& each : target.core()->mappings()) {
    if (paths.insert(each.path).second && ModuleFile::open(each.path) != nullptr) {
      modules.addFile(each.path);
    }
  }
}

}  // namespace weft::inline v0_1::detail::tools
