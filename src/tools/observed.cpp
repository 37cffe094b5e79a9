// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/observed.h"

#include <algorithm>
#include <set>

#include "inspect/phrases.h"
#include "inspect/snapshot_reader.h"
#include "inspect/text.h"
#include "inspect/unwinder.h"
#include "os/c_library.h"
#include "os/registers.h"
#include "tools/command.h"
#include "tools/output.h"
#include "tools/thread_stack.h"

namespace weft::inline v0_1::detail::tools {
namespace {

std::string signalName(int32_t signal) {
  const char* const name = signalAbbreviation(signal);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

}  // namespace

Observed::Observed(Target& target, const ObserveOptions& options)
    : target_(target), names_(target.images(), &arena_) {
  snapshot_.processId = target.processId();
  snapshot_.program = target.program();
  inspect::Unwinder unwinder(
      target.images(), &arena_,
      target.core() != nullptr ? target.core()->signatureBits() : processor::signatureBits());
  const inspect::Now now = target.core() != nullptr ? inspect::Now{} : inspect::Now::read();
  for (const inspect::Offsets& offsets : target.offsets()) {
    inspect::readSnapshot(target.memory(), offsets, options.hasStacks ? &unwinder : nullptr, now, snapshot_);
  }
  if (target.core() != nullptr && options.hasStacks) {
    readRunning(unwinder);
  }
  target.checkThatItLives();
  if (snapshot_.schedulers.empty() && !options.mayBeEmpty) {
    throw Failure(target.name() + " uses weft, and has no scheduler " +
                  (target.core() != nullptr ? "at its end" : "now"));
  }
}

// The core file has the registers of its threads, so that the stacks of fibers that ran can be read too.
void Observed::readRunning(inspect::Unwinder& unwinder) {
  const CoreFile& core = *target_.core();
  endFrames_ = stackOf(core, core.threads()[0], unwinder);
  for (const inspect::Worker& worker : snapshot_.workers) {
    const auto thread = std::ranges::find(core.threads(), worker.threadId, &CoreFile::Thread::id);
    inspect::Fiber* const fiber = fiberOn(worker);
    if (thread == core.threads().end() || fiber == nullptr ||
        fiber->state != inspect::Fiber::State::Running) {
      continue;
    }
    const std::vector<inspect::Address> frames = stackOf(core, *thread, unwinder);
    fiber->firstFrame = static_cast<uint32_t>(snapshot_.frames.size());
    fiber->numFrames = static_cast<uint32_t>(frames.size());
    snapshot_.frames.insert(snapshot_.frames.end(), frames.begin(), frames.end());
  }
}

std::string Observed::introduction(size_t mostFrames, bool hasAll) {
  if (target_.core() != nullptr) {
    return textOf([&](inspect::Text& out) {
      writeEndOfCore(out);
      writeStackOfEnd(out, mostFrames);
      if (hasAll) {
        writeOthersThatRan(out, mostFrames);
      }
      writeChangedFiles(out);
    });
  }
  if (target_.isStopped()) {
    return target_.name() + " is stopped by a signal or a debugger: what waits may be due since then\n";
  }
  return {};
}

// Returns: the worker whose thread has ended the process, or null.
const inspect::Worker* Observed::workerOfEnd() const {
  const auto worker =
      std::ranges::find(snapshot_.workers, target_.core()->threads()[0].id, &inspect::Worker::threadId);
  return worker != snapshot_.workers.end() ? &*worker : nullptr;
}

// Returns: the fiber that the worker's thread was on, or null.
inspect::Fiber* Observed::fiberOn(const inspect::Worker& worker) {
  return worker.running < snapshot_.fibers.size() ? &snapshot_.fibers[worker.running] : nullptr;
}

// Returns: the fiber on which the process has ended, or null.
inspect::Fiber* Observed::fiberOfEnd() {
  const inspect::Worker* const worker = workerOfEnd();
  return worker != nullptr ? fiberOn(*worker) : nullptr;
}

void Observed::writeEndOfCore(inspect::Text& out) {
  const CoreFile::Thread& thread = target_.core()->threads()[0];
  const int32_t signal = target_.core()->signal();
  if (signal == 0) {
    out << "taken while the process ran\n";
    return;
  }
  out << "ended by " << signalName(signal) << " in thread ";
  out.decimal(static_cast<uint32_t>(thread.id));
  const inspect::Worker* const worker = workerOfEnd();
  if (worker == nullptr) {
    out << ", which is of no scheduler";
  } else {
    inspect::Phrases phrases(out, snapshot_, names_);
    out << ", which is ";
    phrases.worker(static_cast<uint32_t>(worker - snapshot_.workers.data()));
    if (const inspect::Fiber* const fiber = fiberOfEnd()) {
      out << ", on fiber ";
      out.decimal(fiber->id) << ", ";
      phrases.code(*fiber);
    }
  }
  out << '\n';
}

void Observed::writeStackOfEnd(inspect::Text& out, size_t mostFrames) {
  if (mostFrames == 0 || target_.core()->signal() == 0) {
    return;
  }
  inspect::Phrases phrases(out, snapshot_, names_);
  const inspect::Fiber* const fiber = fiberOfEnd();
  const bool hasRun =
      fiber != nullptr && fiber->numFrames != 0 && fiber->state == inspect::Fiber::State::Running;
  phrases.frames(hasRun ? phrases.framesOfInterest(*fiber) : endFrames_, mostFrames, "    ");
}

void Observed::writeOthersThatRan(inspect::Text& out, size_t mostFrames) {
  inspect::Phrases phrases(out, snapshot_, names_);
  const bool isEndTold = target_.core()->signal() != 0;
  for (const inspect::Worker& worker : snapshot_.workers) {
    const inspect::Fiber* const fiber = fiberOn(worker);
    if (fiber == nullptr || fiber->state != inspect::Fiber::State::Running ||
        (isEndTold && fiber == fiberOfEnd())) {
      continue;
    }
    phrases.codeAndPlace(*fiber);
    out << " ran\n";
    phrases.frames(phrases.framesOfInterest(*fiber), mostFrames, "    ");
  }
}

void Observed::writeChangedFiles(inspect::Text& out) const {
  for (const std::string& file : target_.core()->changedFiles()) {
    if (file.starts_with('/') && !file.starts_with("/dev/") && !file.starts_with("/memfd:")) {
      out << file << " has changed since then, or is gone: what is in it has no names\n";
    }
  }
}

void addModules(const Target& target, ModuleFiles& modules) {
  for (const auto& [mapped, file] : target.substitutes()) {
    modules.addSubstitute(file, mapped);
  }
  if (target.core() == nullptr) {
    modules.addProcess(target.processId());
    return;
  }
  std::set<std::string> paths;
  for (const std::string& file : target.core()->changedFiles()) {
    paths.insert(file);
    modules.refuse(file);
  }
  for (const CoreFile::Mapping& each : target.core()->mappings()) {
    if (paths.insert(each.path).second) {
      modules.addHint(each.path);
    }
  }
}

}  // namespace weft::inline v0_1::detail::tools
