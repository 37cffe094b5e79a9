// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// fio with io_uring, one job.

#include <cstdio>

#include "problem.h"

namespace {

// Returns: reads in a second, as fio's terse line (version 3) has it in its eighth field; 0 if there is none.
double readsPerSecond(const std::string& command) {
  std::FILE* const output = popen(command.c_str(), "r");
  bench::check(output != nullptr, "popen");
  char line[16384] = {};
  const bool hasLine = std::fgets(line, sizeof line, output) != nullptr;
  bench::check(pclose(output) == 0 && hasLine, "fio ends well");
  const char* field = line;
  for (int i = 1; i < 8 && field != nullptr; i++) {
    field = std::strchr(field, ';');
    field = field != nullptr ? field + 1 : nullptr;
  }
  return field != nullptr ? std::atof(field) : 0;
}

void run(bench::Run& r) {
  const files::DataFile file(r.size(65536, 256), files::isDirect(r));
  if (!file.isOpen()) {
    return r.skip("no O_DIRECT beside the program");
  }
  const double rate =
      readsPerSecond("fio --name=files --filename='" + file.path() +
                     "' --readonly --rw=randread --bs=4k --ioengine=io_uring --iodepth=" +
                     std::to_string(files::depthOf(r)) + " --direct=" + (files::isDirect(r) ? "1" : "0") +
                     " --time_based --ramp_time=" + (r.tiny() ? "0" : "300ms") +
                     " --runtime=" + (r.tiny() ? "50ms" : "1500ms") + " --norandommap --minimal");
  bench::check(rate > 0, "fio tells its rate");
  r.metric("ns_per_read", 1e9 / rate);
  r.metric("reads_per_s", rate);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "files", "fio",
                        {{"cached-1", {1}, run}, {"cached-16", {1}, run}, {"direct-32", {1}, run}});
}
