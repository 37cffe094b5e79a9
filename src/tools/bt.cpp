// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <limits>
#include <string>
#include <vector>

#include "inspect/fiber_list.h"
#include "inspect/report.h"
#include "inspect/text.h"
#include "tools/command.h"
#include "tools/fiber_choice.h"
#include "tools/observed.h"
#include "tools/output.h"

namespace weft::inline v0_1::detail::tools {
namespace {

constexpr char kBtHelp[] =
    "Tells where the fibers of a process are, call by call, with the lines of the source. Without FIBER it\n"
    "is what `weft ps` tells, with all groups of fibers and their whole stacks.\n"
    "\n"
    "  --binary PATH  the program or a library, with the symbols and the debug information that the one\n"
    "                 which runs was stripped of. May be given several times.\n"
    "  --no-lines     without the lines of the source, which takes less time\n"
    "\n"
    "FIBER is one of `weft ps --all`: \"3\", or with its worker \"0:3\" if several workers have such a\n"
    "fiber, or with its thread \"4711:3\", or the address of its control block. Lines need debug information "
    "(-g),\n"
    "and addr2line of binutils.\n";

// Writes the text, with the lines of sources if `hasLines`.
void writeSymbolized(std::string_view text, bool hasLines, const Target& target) {
  if (!hasLines) {
    writeOutput(text);
    return;
  }
  ModuleFiles modules;
  addModules(target, modules);
  SymbolizedOutput output(modules);
  output.write(text);
  output.finish();
}

int bt(Arguments arguments) {
  bool hasLines = true;
  std::vector<std::string> binaries;
  Options options(arguments);
  while (options.next()) {
    if (options.is("--binary")) {
      binaries.emplace_back(options.value());
    } else if (options.is("--no-lines")) {
      hasLines = false;
    } else {
      options.failUnknown("bt");
    }
  }
  const Arguments rest = options.rest();
  if (rest.empty()) {
    options.failMissing("bt", "the number of a process or a core file");
  }
  if (rest.size() > 2) {
    throw UsageError("bt needs the number of a process or a core file, and at most one fiber");
  }
  Target target(rest[0], binaries);
  Observed observed(target);
  constexpr size_t kAll = std::numeric_limits<size_t>::max();
  const bool hasFiber = rest.size() == 2;  // whose stack then stands alone
  const std::string text = textOf([&](inspect::Text& out) {
    if (hasFiber) {
      const uint32_t fiber = chooseFiber(observed.snapshot(), rest[1]);
      inspect::writeBacktrace(out, observed.snapshot(), fiber, observed.names());
    } else {
      inspect::writeReport(
          out, observed.snapshot(), observed.names(),
          {.mostGroups = kAll, .mostFrames = kAll, .mostCycles = kAll, .mostFibersOfCycle = kAll});
    }
  });
  writeSymbolized(observed.introduction(hasFiber ? 0 : kAll, !hasFiber) + text, hasLines, target);
  return 0;
}

}  // namespace

constinit const Command kBt = {"bt", "[--binary PATH]... [--no-lines] PID|CORE [FIBER]",
                               "tells in which calls fibers wait", kBtHelp, bt};

}  // namespace weft::inline v0_1::detail::tools
