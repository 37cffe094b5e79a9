// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// treestat DIR: counts what is in a tree of directories.

#include <weft/weft.h>

#include <getopt.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <clocale>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "console.h"
#include "open_directory.h"
#include "tally.h"
#include "walk.h"

namespace {

using treestat::Oddity;

constexpr int kSomeUnread = 1;
constexpr int kTrouble = 2;

constexpr int kMaxWorkers = 256;
constexpr size_t kMaxTop = 1000;

constexpr const char* kHelp = R"(usage: treestat [OPTION]... DIR

Reads every file below the directory DIR and prints how many files,
directories, lines, words and bytes there are, then a table of the types of
files (by extension) with the most bytes, and the largest files of each.

Lines and words are those of wc in the C locale, the totals those of
  find DIR -type f -print0 | LC_ALL=C wc --files0-from=-
Links are not followed (but DIR may be one); they are counted, and so are
those that are broken or lead into a loop of links, and special files, which
are not read. What vanished, shrank or could not be read is counted as well.
Each of these but a sound link gives a message on standard error, up to 20.

  -w, --workers N         use N worker threads, 0 to 256; 0 reads everything in
                          the main thread (default: one per processor)
  -t, --top N             show the N largest files of each type (default: 3)
  -x, --one-file-system   leave out what is mounted below DIR
  -h, --help              show this text

Exit status: 0 if everything was read, 1 if something vanished, shrank or
could not be read, 2 for wrong usage, or if DIR or standard output fails.
)";

struct Arguments {
  treestat::Walk::Options options;
  std::string directory;
};

int complain(const std::string& what, const char* why) {
  std::fprintf(stderr, "treestat: %s: %s\n", treestat::printable(what).c_str(), why);
  return kTrouble;
}

int complainOfUsage(const std::string& what, const char* why) {
  complain(what, why);
  std::fputs("Try 'treestat --help'.\n", stderr);
  return kTrouble;
}

// Returns: whether `text` is a number from 0 to `largest`, which is then in `result`.
template <class Number>
bool parseNumber(std::string_view text, Number largest, Number& result) {
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, result);
  return error == std::errc() && end == last && result >= 0 && result <= largest;
}

// Returns: the status to exit with at once, if any.
std::optional<int> parse(int argc, char** argv, Arguments& arguments) {
  static const option kOptions[] = {{"workers", required_argument, nullptr, 'w'},
                                    {"top", required_argument, nullptr, 't'},
                                    {"one-file-system", no_argument, nullptr, 'x'},
                                    {"help", no_argument, nullptr, 'h'},
                                    {}};
  for (int c = 0; (c = getopt_long(argc, argv, "w:t:xh", kOptions, nullptr)) != -1;) {
    if (c == 'w') {
      if (!parseNumber(optarg, kMaxWorkers, arguments.options.workers)) {
        return complainOfUsage(optarg, "no number of workers from 0 to 256");
      }
    } else if (c == 't') {
      if (!parseNumber(optarg, kMaxTop, arguments.options.top)) {
        return complainOfUsage(optarg, "no number of files from 0 to 1000");
      }
    } else if (c == 'x') {
      arguments.options.isOneFileSystem = true;
    } else if (c == 'h') {
      std::fputs(kHelp, stdout);
      return std::fflush(stdout) == 0 ? 0 : complain("standard output", std::strerror(errno));
    } else {
      std::fputs("Try 'treestat --help'.\n", stderr);  // getopt has said what is wrong
      return kTrouble;
    }
  }
  if (argc - optind != 1) {
    return argc == optind ? complainOfUsage("DIR", "missing")
                          : complainOfUsage(argv[optind + 1], "one DIR is enough");
  }
  arguments.directory = argv[optind];
  return std::nullopt;
}

// Each worker has some files open; the usual limit is low.
void raiseLimitOfOpenFiles() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

treestat::Tally walk(const treestat::Walk::Options& options,
                     const std::shared_ptr<treestat::OpenDirectory>& root) {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(options.workers));
  weft::Scheduler::Binding bound(scheduler);
  treestat::Console console;
  treestat::Walk walk(options, console);
  walk.start(root);
  while (!walk.waitFor(std::chrono::milliseconds(100))) {
    console.showProgress(walk.filesRead(), walk.bytesRead());
  }
  console.finish();
  return walk.tally();
}

}  // namespace

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "");  // which characters may be printed
  Arguments arguments;
  arguments.options.workers = std::min(weft::Scheduler::Config::allCores().workerThread.count, kMaxWorkers);
  if (const auto status = parse(argc, argv, arguments)) {
    return *status;
  }
  raiseLimitOfOpenFiles();
  std::string path = arguments.directory;
  if (!path.empty() && !path.ends_with('/')) {
    path += '/';  // lets DIR be a link
  }
  const auto root = treestat::OpenDirectory::open(path);
  if (root == nullptr) {
    return complain(arguments.directory, std::strerror(errno));
  }

  const auto start = std::chrono::steady_clock::now();
  treestat::Tally tally;
  try {
    tally = walk(arguments.options, root);
  } catch (const std::system_error& error) {
    return complain("cannot start", error.what());
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  treestat::print(tally);
  std::printf("\n%.2f s, %.1f MB/s, %d workers\n", seconds.count(),
              static_cast<double>(tally.total().text.bytes) / 1e6 / seconds.count(),
              arguments.options.workers);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return complain("standard output", std::strerror(errno));
  }
  const bool isComplete =
      tally.of(Oddity::Vanished) + tally.of(Oddity::Shrunk) + tally.of(Oddity::Unreadable) == 0;
  return isComplete ? 0 : kSomeUnread;
}
