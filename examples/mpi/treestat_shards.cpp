// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Counts what is in a tree of directories, as treestat does, by several ranks, which all can read it:
// mpiexec -n 4 treestat_shards DIR [DEPTH]. Rank 0 reads what lies less than DEPTH directories deep (2
// without the argument), and tells all ranks which directories lie that deep. A hash of its path says which
// rank walks a directory. Prints the totals that treestat prints.

#include <weft/mpi.h>
#include <weft/weft.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <clocale>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "../treestat/console.h"
#include "../treestat/open_directory.h"
#include "../treestat/reader.h"
#include "../treestat/tally.h"
#include "../treestat/walk.h"

namespace {

using treestat::OpenDirectory;
using treestat::Tally;
using weft::mpi::Communicator;

using Paths = std::vector<std::string>;

// The upper part of the tree, which one rank reads alone.
class Top {
 public:
  explicit Top(treestat::Console& console) : reader_(0, console) {}

  // Reads what lies less than `depth` deep below `root`. Returns: the directories that lie that deep.
  Paths read(const std::shared_ptr<OpenDirectory>& root, size_t depth) {
    Paths level = list(root);
    for (size_t i = 1; i < depth; ++i) {
      Paths next;
      for (const std::string& path : level) {
        const Paths below = list(OpenDirectory::open(path), path);
        next.insert(next.end(), below.begin(), below.end());
      }
      level = std::move(next);
    }
    return level;
  }
  const Tally& tally() const { return tally_; }

 private:
  Paths list(const std::shared_ptr<OpenDirectory>& directory, const std::string& path = {}) {
    ++tally_.directories;
    Paths found;
    if (directory == nullptr) {
      reader_.noteFailure(path, errno, tally_);
      return found;
    }
    reader_.list(
        *directory, tally_, [&](std::string below) { found.push_back(std::move(below)); },
        [&](const treestat::Names& names) { reader_.readFiles(*directory, names, tally_); });
    return found;
  }

  treestat::Reader reader_;
  Tally tally_;
};

// Returns: the paths that rank 0 has, on all ranks. A path ends with a zero on its way.
Paths broadcast(const Communicator& ranks, const Paths& paths) {
  std::string text;
  for (const std::string& path : paths) {
    text.append(path).push_back('\0');
  }
  size_t size = text.size();
  ranks.bcast(size);
  text.resize(size);
  ranks.bcast(text);
  Paths received;
  for (size_t begin = 0; begin < text.size(); begin += received.back().size() + 1) {
    received.emplace_back(text.c_str() + begin);
  }
  return received;
}

// Returns: the rank that walks `path`. All processes must agree on it, so std::hash does not serve.
int ownerOf(std::string_view path, int numRanks) {
  uint32_t hash = 0;
  for (const char c : path) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x9e3779b1U;
    hash ^= hash >> 15;
  }
  return static_cast<int>(hash % static_cast<uint32_t>(numRanks));
}

// Returns: what lies below `paths`.
Tally walk(Paths paths, treestat::Console& console) {
  treestat::Walk walk({.workers = weft::Scheduler::get()->config().workerThread.count, .top = 0}, console);
  walk.start(std::move(paths));
  while (!walk.waitFor(std::chrono::hours(1))) {
  }
  return walk.tally();
}

// Returns: on rank 0, the totals of all ranks, as files of one type.
Tally sum(const Communicator& ranks, const Tally& mine) {
  const treestat::Type total = mine.total();
  std::array<uint64_t, 5 + treestat::kNumOddities> numbers{mine.directories, total.files, total.text.lines,
                                                           total.text.words, total.text.bytes};
  std::copy(mine.oddities.begin(), mine.oddities.end(), numbers.begin() + 5);
  decltype(numbers) sums{};
  ranks.reduce(numbers, sums, MPI_SUM);
  Tally all;
  all.directories = sums[0];
  treestat::Type& files = all.types["all"];
  files.files = sums[1];
  files.text = {.lines = sums[2], .words = sums[3], .bytes = sums[4]};
  std::copy(sums.begin() + 5, sums.end(), all.oddities.begin());
  return all;
}

struct Arguments {
  std::string directory;
  size_t depth = 2;
};

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  if (argc != 2 && argc != 3) {
    return std::nullopt;
  }
  arguments.directory = argv[1];
  if (!arguments.directory.ends_with('/')) {
    arguments.directory += '/';  // lets DIR be a link
  }
  if (argc == 3) {
    const char* const end = argv[2] + std::strlen(argv[2]);
    const auto [stop, error] = std::from_chars(argv[2], end, arguments.depth);
    if (error != std::errc() || stop != end || arguments.depth == 0) {
      return std::nullopt;
    }
  }
  return arguments;
}

int run(const Communicator& ranks, const Arguments& arguments) {
  treestat::Console console;
  Top top(console);
  int error = 0;
  Paths paths;
  if (ranks.rank() == 0) {
    if (const auto root = OpenDirectory::open(arguments.directory)) {
      paths = top.read(root, arguments.depth);
    } else {
      error = errno;
      console.report(arguments.directory, std::strerror(error));
    }
  }
  ranks.bcast(error);
  if (error != 0) {
    return 2;
  }
  paths = broadcast(ranks, paths);
  std::erase_if(paths, [&](const auto& path) { return ownerOf(path, ranks.size()) != ranks.rank(); });
  Tally tally = walk(std::move(paths), console);
  tally.add(top.tally(), 0);
  tally = sum(ranks, tally);
  console.finish();
  if (ranks.rank() == 0) {
    treestat::printTotals(tally);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "");  // which characters may be printed
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);
  const weft::mpi::Environment mpi(argc, argv);
  const Communicator& ranks = weft::mpi::world();
  const std::optional<Arguments> arguments = parse(argc, argv);
  if (!arguments) {
    std::fputs(ranks.rank() == 0 ? "usage: treestat_shards DIR [DEPTH]\n" : "", stderr);
    return 2;
  }
  return run(ranks, *arguments);
}
