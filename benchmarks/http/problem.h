// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A server of files by HTTP/1.1, each connection for many requests, under wrk. How many requests does it
// answer? The server runs on the first processor, wrk on the last one.
//
//   small-64            a file of 1,000 bytes, over 64 connections
//   large-16            a file of 300,000 bytes, over 16
//
//   ns_per_request      time by the number of replies in it
//   p50_us p99_us       from the request until the end of the reply
//   cpu_ns              processor time of the server's process for a request

#pragma once

#include <string>

#include "../common/client.h"

namespace http {

// Has the client ask for files of the server that is the process `server`.
inline void measure(bench::Run& run, int port, int server) {
  const std::string& workload = run.workload();
  const size_t number = workload.find('-');
  bench::measureByClient(run, "bench_http_client",
                         {std::to_string(port), workload.substr(number + 1), workload.substr(0, number),
                          std::to_string(run.size(4, 1)), std::to_string(server)});
}

}  // namespace http
