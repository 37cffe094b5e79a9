// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Reads of 4 KiB at random places of a file. How many are there in a second, and what do they cost?
//
//   cached-N      N reads at a time of a file that the system has in memory
//   direct-N      N reads at a time with O_DIRECT, each of which goes to the disk
//
//   ns_per_read      time by the number of reads in it
//   reads_per_s      the same, the other way round
//   cpu_ns           processor time of the process for a read
//
// The file lies beside the program. Each of its words says where it is, which is the oracle.

#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "../common/harness.h"

namespace files {

inline constexpr size_t kBlockBytes = 4096;

// As O_DIRECT wants it.
struct alignas(kBlockBytes) Block {
  uint64_t words[kBlockBytes / sizeof(uint64_t)];

  static Block of(uint64_t number) {
    Block block;
    for (uint64_t& word : block.words) {
      word = number * 0x9E3779B97F4A7C15U + static_cast<uint64_t>(&word - block.words);
    }
    return block;
  }
  // A look at all of it would take longer than some reads.
  bool isOf(uint64_t number) const {
    const uint64_t first = number * 0x9E3779B97F4A7C15U;
    const size_t last = std::size(words) - 1;
    return words[0] == first && words[last] == first + last;
  }
};

// The file, for the lifetime of the object.
class DataFile {
 public:
  DataFile(uint64_t numBlocks, bool isDirect) : numBlocks_(numBlocks) {
    const int written = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bench::check(written >= 0, "open");
    for (uint64_t number = 0; number < numBlocks; number++) {
      const Block block = Block::of(number);
      bench::check(write(written, &block, sizeof block) == sizeof block, "write");
    }
    bench::check(fsync(written) == 0, "fsync");
    close(written);
    fd_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | (isDirect ? O_DIRECT : 0));
  }
  ~DataFile() {
    close(fd_);
    unlink(path_.c_str());
  }
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  // Returns: false where the file system knows no O_DIRECT.
  bool isOpen() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  uint64_t numBlocks() const { return numBlocks_; }
  const std::string& path() const { return path_; }

 private:
  static std::string besideTheProgram() {
    char self[4096] = {};
    bench::check(readlink("/proc/self/exe", self, sizeof self - 1) > 0, "readlink");
    return std::string(self) + "." + std::to_string(getpid()) + ".data";
  }

  const uint64_t numBlocks_;
  const std::string path_ = besideTheProgram();
  int fd_ = -1;
};

// The places that one reader reads from, and whether there is time for another read.
class Places {
 public:
  Places(const DataFile& file, int reader, int64_t end)
      : numBlocks_(file.numBlocks()), end_(end), state_(static_cast<uint64_t>(reader) * 2 + 1) {}

  // Returns: the number of a block.
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    numTaken_++;
    return state_ % numBlocks_;
  }
  // The clock costs a part of a read that is cached, so it is looked at now and then.
  bool areLeft() {
    isOver_ = isOver_ || (numTaken_ % 16 == 15 && bench::nowNs() >= end_);
    return !isOver_;
  }
  int64_t numTaken() const { return numTaken_; }

 private:
  const uint64_t numBlocks_;
  const int64_t end_;
  uint64_t state_;
  int64_t numTaken_ = 0;
  bool isOver_ = false;
};

// How many reads are at work at a time.
inline int depthOf(const bench::Run& run) {
  return std::atoi(run.workload().c_str() + run.workload().find('-') + 1);
}
inline bool isDirect(const bench::Run& run) { return run.workload().starts_with("direct"); }

// Calls readUntil(file, depth, end), which reads until the time `end` and returns how many reads that were.
template <class ReadUntil>
void measure(bench::Run& run, const ReadUntil& readUntil) {
  const DataFile file(run.size(65536, 256), isDirect(run));
  if (!file.isOpen()) {
    return run.skip("no O_DIRECT beside the program");
  }
  const int64_t window = run.size<int64_t>(1'500'000'000, 5'000'000);
  readUntil(file, depthOf(run), bench::nowNs() + window / 5);
  const double cpuBegin = bench::processCpuSeconds();
  const int64_t begin = bench::nowNs();
  const auto count = static_cast<double>(readUntil(file, depthOf(run), begin + window));
  const auto ns = static_cast<double>(bench::nowNs() - begin);
  run.metric("ns_per_read", ns / count);
  run.metric("reads_per_s", count / ns * 1e9);
  run.metric("cpu_ns", (bench::processCpuSeconds() - cpuBegin) * 1e9 / count);
}

}  // namespace files
