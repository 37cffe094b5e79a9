// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Clients of the servers that are measured: programs of their own.

#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "harness.h"

namespace bench {

// Returns: where a program of the benchmarks lies: beside this one, or in the folder above it.
inline std::string pathOf(const char* program) {
  char self[4096] = {};
  check(readlink("/proc/self/exe", self, sizeof self - 1) > 0, "readlink");
  std::string path = self;
  for (int i = 0; i < 2; i++) {
    path.erase(path.rfind('/'));
    std::string found = path;
    found += '/';
    found += program;
    if (access(found.c_str(), X_OK) == 0) {
      return found;
    }
  }
  check(false, program);
  return {};
}

// Runs a client. Its figures, which it prints each with its name, become those of `run`. The calling thread
// blocks meanwhile.
inline void measureByClient(Run& run, const char* client, const std::vector<std::string>& arguments) {
  std::string command = "'";
  command += pathOf(client);
  command += '\'';
  for (const std::string& argument : arguments) {
    command += ' ';
    command += argument;
  }
  std::FILE* output = popen(command.c_str(), "r");
  check(output != nullptr, "popen");
  char name[32];
  double value = 0;
  while (std::fscanf(output, "%31s %lf", name, &value) == 2) {
    run.metric(name, value);
  }
  check(pclose(output) == 0, "the client gets what it should");
}

}  // namespace bench
