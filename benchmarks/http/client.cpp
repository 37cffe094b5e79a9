// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Runs wrk against a server: bench_http_client PORT CONNECTIONS FILE SECONDS PID. Puts the server, the
// process PID, on the first processor and wrk on the last one. Prints wrk's figures, each with its name. Ends
// with 1 if a request was not answered with the file.

#include <sstream>

#include "../common/placement.h"

namespace {

// Returns: what wrk prints.
std::string runWrk(const std::string& arguments) {
  std::FILE* output = popen(("wrk --threads 1 --latency " + arguments).c_str(), "r");
  bench::check(output != nullptr, "popen");
  std::string text;
  char buffer[4096];
  while (const size_t size = std::fread(buffer, 1, sizeof buffer, output)) {
    text.append(buffer, size);
  }
  bench::check(pclose(output) == 0, "wrk ends in order");
  return text;
}

// Returns: the word behind `name`, which begins a line.
std::string behind(const std::string& name, const std::string& text) {
  std::istringstream lines(text);
  std::string line, first, second;
  while (first != name && std::getline(lines, line)) {
    std::istringstream words(line);
    words >> first >> second;
  }
  bench::check(first == name, "wrk prints its figures");
  return second;
}

// Returns: in microseconds, what wrk prints as 1.50s, 1.50ms or 1.50us.
double toUs(const std::string& time) {
  size_t length = 0;
  const double value = std::stod(time, &length);
  const std::string unit = time.substr(length);
  return value * (unit == "s" ? 1e6 : unit == "ms" ? 1e3 : 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: %s PORT CONNECTIONS FILE SECONDS PID\n", argv[0]);
    return 2;
  }
  const std::string url = "http://127.0.0.1:" + std::string(argv[1]) + "/" + argv[3];
  const pid_t server = std::atoi(argv[5]);
  const bench::Placement placement(server);
  const double cpuBegin = bench::cpuSecondsOf(server);
  const std::string text =
      runWrk("--connections " + std::string(argv[2]) + " --duration " + argv[4] + "s " + url);
  const double cpuNs = (bench::cpuSecondsOf(server) - cpuBegin) * 1e9;
  bench::check(text.find("Non-2xx") == std::string::npos && text.find("Socket errors") == std::string::npos,
               text.c_str());
  const double perSecond = std::stod(behind("Requests/sec:", text));
  bench::check(perSecond > 0, "a request is answered");
  std::printf("ns_per_request %.6g\np50_us %.6g\np99_us %.6g\n", 1e9 / perSecond, toUs(behind("50%", text)),
              toUs(behind("99%", text)));
  std::printf("cpu_ns %.6g\n", cpuNs / (perSecond * std::atof(argv[4])));
}
