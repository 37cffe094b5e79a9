// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/dump.h"

#include <unistd.h>

#include <new>
#include <string>

#include "inspect/arena.h"
#include "inspect/image_names.h"
#include "inspect/images.h"
#include "inspect/offsets.h"
#include "inspect/process_memory.h"
#include "inspect/report.h"
#include "inspect/snapshot.h"
#include "inspect/snapshot_reader.h"
#include "inspect/text.h"
#include "inspect/unwinder.h"
#include "os/aside.h"
#include "scheduler/core/layout.h"
#include "scheduler/fibers/fiber_control_block.h"
#include "scheduler/report/dump.h"

namespace weft::inline v0_1 {
namespace detail {
namespace {

struct Request {
  inspect::Text::Write write;
  void* context;
  inspect::Address only;
};

void read(const Request& request, inspect::Text& out) {
  inspect::Arena arena;
  const int processId = getpid();
  inspect::ProcessMemory memory(processId);
  inspect::Images images(&arena);
  (void)images.readMaps(processId);  // without, addresses have no names
  inspect::Offsets offsets;
  char release[16];
  if (inspect::readOffsets(memory, reinterpret_cast<inspect::Address>(&layoutTable), offsets, release) !=
      inspect::TableState::Good) {
    out << "weft: no dump: the system does not let the process read its own memory\n";
    return;
  }
  inspect::Unwinder unwinder(images, &arena);
  inspect::Snapshot snapshot(&arena);
  snapshot.processId = processId;
  char program[1024];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program);
  snapshot.program.assign(program, static_cast<size_t>(length > 0 ? length : 0));
  inspect::readSnapshot(memory, offsets, &unwinder, inspect::Now::read(), snapshot, request.only);
  inspect::ImageNames names(images, &arena);
  inspect::writeReport(out, snapshot, names, {});
}

void dumpAside(void* argument) {
  const Request& request = *static_cast<const Request*>(argument);
  inspect::Text out(request.write, request.context);
  try {
    read(request, out);
  } catch (const std::bad_alloc&) {
    out << "weft: no dump, or not all of it: the system gives no memory\n";
  }
}

}  // namespace

void writeDump(inspect::Text::Write write, void* context, const Scheduler* only) noexcept {
  Request request{write, context, reinterpret_cast<inspect::Address>(only)};
  const auto* fiber = static_cast<const FiberControlBlock*>(currentFiber);
  callAside(fiber != nullptr ? &fiber->os : nullptr, &dumpAside, &request);
}

void dumpToStderr(const Scheduler* only) noexcept {
  writeDump([](void*, const char* text, size_t size) { writeStderr(text, size); }, nullptr, only);
}

}  // namespace detail

void dump() noexcept { detail::dumpToStderr(); }

std::string dumpText() {
  std::string text;
  detail::writeDump([](void* context, const char* part,
                       size_t size) { static_cast<std::string*>(context)->append(part, size); },
                    &text);
  return text;
}

}  // namespace weft::inline v0_1
