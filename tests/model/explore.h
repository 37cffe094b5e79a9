// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <ostream>
#include <streambuf>
#include <string>

#include "relacy_sync.h"

// The main program of a model test:
//     TEST [--seed FILE:NOTE[:KIND]] [--iterations N] [--times N] [--share N]
//          [--search random|bound|full]
// explores interleavings of each suite, and exits with 0 when no error was found, with 1 when one was, and
// with 2 when it was called wrongly.
//
// The search `random` tries as many interleavings as the suite asks for, or N, or N times as many, or an N-th
// of them. `bound` tries all in which threads lose their turn twice at most while they could go on, with all
// stale values; `full` tries all. Both stop after N and say so.
//
// With --seed, or when built with WEFT_SEEDED_BUG="FILE:NOTE[:KIND]", a bug is put into the code first (see
// SeededBug), and the test must fail: its last line is then `RESULT: error found`.
namespace weft::model {

// Finds the statement that follows the note: from its first line of code to the one that ends it.
inline bool locateNote(const std::string& path, const std::string& note, SeededBug& bug) {
  std::ifstream in(path);
  const std::string mark = "// (" + note + ")";
  bool found = false;
  std::string text;
  for (int number = 1; std::getline(in, text); number++) {
    std::string code = text.substr(0, text.find("//"));
    while (!code.empty() && std::isspace(static_cast<unsigned char>(code.back()))) {
      code.pop_back();
    }
    if (!found && text.find(mark) != std::string::npos) {
      found = true;
    }
    if (!found || code.empty()) {
      continue;
    }
    if (bug.firstLine == 0) {
      bug.firstLine = number;
    }
    bug.lastLine = number;
    if (code.back() == ';' || code.back() == '{' || code.back() == '}') {
      const size_t slash = path.rfind('/');
      std::snprintf(bug.file, sizeof(bug.file), "%s",
                    path.c_str() + (slash == std::string::npos ? 0 : slash + 1));
      return true;
    }
  }
  return false;
}

inline bool seed(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) {
    return false;
  }
  const size_t second = text.find(':', colon + 1);
  const std::string kind = second == std::string::npos ? "relaxed" : text.substr(second + 1);
  if (kind == "relaxed") {
    seededBug.kind = SeededBug::Kind::Relaxed;
  } else if (kind == "acq_rel") {
    seededBug.kind = SeededBug::Kind::AcqRel;
  } else if (kind == "acquire") {
    seededBug.kind = SeededBug::Kind::Acquire;
  } else if (kind == "release") {
    seededBug.kind = SeededBug::Kind::Release;
  } else if (kind == "split") {
    seededBug.kind = SeededBug::Kind::Split;
  } else if (kind == "touch") {
    seededBug.kind = SeededBug::Kind::Touch;
  } else {
    return false;
  }
  return locateNote(text.substr(0, colon), text.substr(colon + 1, second - colon - 1), seededBug);
}

inline unsigned iterationsOverride = 0;
inline unsigned iterationsFactor = 1, iterationsDivisor = 1;
inline rl::scheduler_type_e search = rl::sched_random;

// Prints to a C stream, or nowhere if null. (Relacy replaces operator delete, so that a string stream which
// grows while it reports an error ends in a crash.)
class Output : public std::streambuf {
 public:
  explicit Output(FILE* file) : file_(file) {}

 private:
  int overflow(int c) override { return file_ == nullptr ? 0 : std::fputc(c, file_); }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    if (file_ != nullptr) {
      std::fwrite(text, 1, static_cast<size_t>(size), file_);
    }
    return size;
  }

  FILE* file_;
};

// The calls of a suite, whatever its type. It is made anew for each interleaving, at one place.
struct SuiteCalls {
  void* place;
  void (*construct)(void* place);
  void (*destroy)(void* place);
  void (*before)(void* place);
  void (*thread)(void* place, unsigned index);
  void (*after)(void* place);
};

template <class Suite>
SuiteCalls callsOf() {
  alignas(Suite) static unsigned char place[sizeof(Suite)];
  return {place,
          [](void* suite) { new (suite) Suite(); },
          [](void* suite) { static_cast<Suite*>(suite)->~Suite(); },
          [](void* suite) { static_cast<Suite*>(suite)->before(); },
          [](void* suite, unsigned index) { static_cast<Suite*>(suite)->thread(index); },
          [](void* suite) { static_cast<Suite*>(suite)->after(); }};
}

inline SuiteCalls explored;

// Explores the suite `explored`, with so many threads, by the search that was asked for. Sets `extent` to
// what was searched. Returns: whether no error was found. (By the templates of checker.h, which are compiled
// once, since that takes far longer than any suite.)
bool check(rl::thread_id_t numThreads, rl::test_params& params, const char*& extent);

// Explores `iterations` random interleavings of `Suite`, or as many as the options ask for, each of at most
// `mostSteps`. Returns: whether no error was found.
template <class Suite, bool kIsFinite = false>
bool explore(const char* name, unsigned iterations, unsigned mostSteps = 2000) {
  rl::test_params params;
  params.execution_depth_limit = mostSteps;
  params.context_bound = 2;
  Output shown(seededBug.kind == SeededBug::Kind::None ? stdout : nullptr);
  Output hidden(nullptr);
  std::ostream report(&shown);
  std::ostream progress(&hidden);
  const unsigned wanted = iterationsOverride != 0 ? iterationsOverride : iterations;
  params.iteration_count = std::max(wanted * iterationsFactor / iterationsDivisor, 1u);
  params.output_stream = &report;
  params.progress_stream = &progress;
  params.test_name = name;
  const char* extent = "";
  if (!kIsFinite && search != rl::sched_random) {
    std::printf("only the search `random` is possible: see exploreFinite()\n");
    std::exit(2);
  }
  explored = callsOf<Suite>();
  const bool ok = check(Suite::params::thread_count, params, extent);
  std::printf("%s: %s in %llu interleavings (%s)\n", name,
              ok ? "no error" : rl::test_result_str(params.test_result),
              static_cast<unsigned long long>(params.stop_iteration), extent);
  return ok;
}

// The same, by any search, for a suite in which no thread may look again without end.
template <class Suite>
bool exploreFinite(const char* name, unsigned iterations) {
  return explore<Suite, true>(name, iterations);
}

// Explores the suites in turn, up to the first error: `exploreAll` is called without arguments.
template <class F>
int runModel(int argc, char** argv, F exploreAll) {
#ifdef WEFT_SEEDED_BUG
  std::string bug = WEFT_SEEDED_BUG;
#else
  std::string bug;
#endif
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--seed") == 0) {
      bug = argv[i + 1];
    }
    if (std::strcmp(argv[i], "--iterations") == 0) {
      iterationsOverride = static_cast<unsigned>(std::atoi(argv[i + 1]));
    }
    if (std::strcmp(argv[i], "--times") == 0) {
      iterationsFactor = static_cast<unsigned>(std::atoi(argv[i + 1]));
    }
    if (std::strcmp(argv[i], "--share") == 0) {
      iterationsDivisor = static_cast<unsigned>(std::max(std::atoi(argv[i + 1]), 1));
    }
    if (std::strcmp(argv[i], "--search") == 0) {
      const std::string how = argv[i + 1];
      if (how != "random" && how != "bound" && how != "full") {
        std::fprintf(stderr, "no such search: %s\n", how.c_str());
        return 2;
      }
      search = how == "bound" ? rl::sched_bound : how == "full" ? rl::sched_full : rl::sched_random;
    }
  }
  if (!bug.empty() && !seed(bug)) {
    std::fprintf(stderr, "no such bug to seed: %s\n", bug.c_str());
    return 2;
  }
  const bool ok = exploreAll();
  std::printf("RESULT: %s\n", ok ? "no error found" : "error found");
  return ok ? 0 : 1;
}

}  // namespace weft::model
