// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Builds what has changed, and draws what ran when: tiny_make FILE PICTURE [COMMANDS_AT_A_TIME]. FILE has
// rules like those of make: a line "TARGET: INPUT...", and commands in lines that begin with a tab. A DAG has
// a node for each rule. PICTURE is the flight recorder's file, with a slice for each command.

#include <weft/weft.h>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace {

struct Rule {
  std::vector<std::string> inputs, commands;
};
using Rules = std::map<std::string, Rule>;

Rules read(const char* path) {
  std::ifstream file(path);
  Rules rules;
  Rule* rule = nullptr;
  std::string line, input;
  while (std::getline(file, line)) {
    const size_t colon = line.find(':');
    if (line.starts_with('\t') && rule != nullptr) {
      rule->commands.push_back(line);
    } else if (colon != line.npos) {
      rule = &rules[line.substr(0, colon)];
      for (std::istringstream inputs(line.substr(colon + 1)); inputs >> input;) {
        rule->inputs.push_back(input);
      }
    }
  }
  return file.eof() ? rules : throw std::runtime_error(std::string("cannot read ") + path);
}

// Suspends the fiber until the command has ended. Returns: whether it succeeded.
bool runShell(std::string command) {
  std::string name = "sh", option = "-c";
  char* const arguments[] = {name.data(), option.data(), command.data(), nullptr};
  int child = -1, status = -1;
  if (posix_spawn(&child, "/bin/sh", nullptr, nullptr, arguments, environ) == 0) {
    weft::blocking_call([&] { waitpid(child, &status, 0); });  // on a thread that may block
  }
  return status == 0;
}

bool isUpToDate(const std::string& target, const Rule& rule) {
  std::error_code isMissing;
  const auto time = std::filesystem::last_write_time(target, isMissing);
  const auto isOld = [&](auto& input) { return std::filesystem::last_write_time(input) <= time; };
  return !isMissing && std::all_of(rule.inputs.begin(), rule.inputs.end(), isOld);
}

struct Build {
  void make(const std::string& target, const Rule& rule) {
    for (const std::string& command : isUpToDate(target, rule) ? std::vector<std::string>() : rule.commands) {
      const weft::Semaphore::Permit slot = slots.hold();
      const weft::trace::Scope scope(target.c_str());
      if (hasFailed || !runShell(command)) {
        hasFailed = true;
        throw std::runtime_error("this has failed: " + command);
      }
    }
  }

  void makeAll(const Rules& rules) {
    weft::DAG<>::Builder builder;
    std::map<std::string, weft::DAG<>::NodeBuilder> nodes;
    for (const Rules::value_type& rule : rules) {
      nodes.emplace(rule.first, builder.root().then([&] { make(rule.first, rule.second); }));
    }
    for (const auto& [target, rule] : rules) {
      for (const std::string& input : rule.inputs) {
        if (const auto node = nodes.find(input); node != nodes.end()) {
          builder.addDependency(node->second, nodes.at(target));
        }
      }
    }
    builder.build()->run();
  }

  weft::Semaphore slots;
  std::atomic<bool> hasFailed{false};
};

}  // namespace

int main(int argc, char** argv) {
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);
  weft::trace::start();
  int status = 0;
  try {
    // Never destroyed, since the flight recorder keeps the addresses of names.
    static const Rules& rules = *new Rules(read(argc > 1 ? argv[1] : "Makefile"));
    Build{weft::Semaphore(argc > 3 ? std::atoi(argv[3]) : 4)}.makeAll(rules);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tiny_make: %s\n", error.what());
    status = 1;
  }
  return weft::trace::dump(argc > 2 ? argv[2] : "tiny_make.pftrace") ? status : 1;
}
