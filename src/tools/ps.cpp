// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "inspect/fiber_list.h"
#include "inspect/report.h"
#include "inspect/text.h"
#include "tools/command.h"
#include "tools/observed.h"
#include "tools/output.h"

namespace weft::inline v0_1::detail::tools {
namespace {

constexpr char kPsHelp[] =
    "Tells what the schedulers of a process do: what each worker runs, and which fibers wait, for what,\n"
    "since when and in which calls. Fibers that wait alike are one group. Deadlocks among locks come\n"
    "first.\n"
    "\n"
    "  --all          one line for each fiber\n"
    "  --binary PATH  the program or a library, with the symbols that the one which runs was stripped of.\n"
    "                 May be given several times.\n"
    "\n"
    "PID is a process that runs: it goes on meanwhile. CORE is the core file of a process that has ended;\n"
    "times count back from the last one that the process has noted. `weft bt` adds whole stacks with\n"
    "lines of the source.\n";

int ps(Arguments arguments) {
  bool isAll = false;
  std::vector<std::string> binaries;
  Options options(arguments);
  while (options.next()) {
    if (options.is("--binary")) {
      binaries.emplace_back(options.value());
    } else if (options.is("--all")) {
      isAll = true;
    } else {
      options.failUnknown("ps");
    }
  }
  Target target(options.only("ps", "the number of a process or a core file"), binaries);
  Observed observed(target);
  writeOutput(observed.introduction(isAll ? 0 : inspect::ReportOptions{}.mostFrames) +
              textOf([&](inspect::Text& out) {
                isAll ? inspect::writeFibers(out, observed.snapshot(), observed.names())
                      : inspect::writeReport(out, observed.snapshot(), observed.names());
              }));
  return 0;
}

}  // namespace

constinit const Command kPs = {"ps", "[--all] [--binary PATH]... PID|CORE",
                               "tells what workers do and what fibers wait for", kPsHelp, ps};

}  // namespace weft::inline v0_1::detail::tools
