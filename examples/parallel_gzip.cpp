// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Compresses with all cores: parallel_gzip [LEVEL] <INPUT >OUTPUT.gz. The pipeline reads blocks and writes
// them in order, and compresses many at the same time. Each block becomes a gzip file of its own: gunzip
// takes several, one behind the other, as one. The pipeline's tokens bound the memory, whatever the size of
// the input.

#include <weft/weft.h>

#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using Block = std::vector<unsigned char>;

constexpr size_t kBlockSize = 256 * 1024;
constexpr int kBlocksAtATime = 32;

class Reader {
 public:
  explicit Reader(std::FILE* file) : file_(file) {}

  // Returns: the next block; nothing at the end. An empty input has one block, which is empty.
  std::optional<Block> next() {
    Block block(kBlockSize);
    block.resize(std::fread(block.data(), 1, block.size(), file_));
    if (std::ferror(file_) != 0) {
      throw std::system_error(errno, std::generic_category(), "cannot read");
    }
    if (block.empty() && !isFirst_) {
      return std::nullopt;
    }
    isFirst_ = false;
    return block;
  }

 private:
  std::FILE* file_;
  bool isFirst_ = true;
};

Block compress(Block input, int level) {
  constexpr int kGzip = 16;  // added to the size of the window: a gzip header, not zlib's
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + kGzip, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::runtime_error("cannot compress: zlib does not begin");
  }
  const auto end = weft::make_finally([&] { deflateEnd(&stream); });
  Block output(deflateBound(&stream, static_cast<uLong>(input.size())));
  stream.next_in = input.data();
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = output.data();
  stream.avail_out = static_cast<uInt>(output.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) {
    throw std::runtime_error("cannot compress: zlib does not end");
  }
  output.resize(stream.total_out);
  return output;
}

void write(std::FILE* file, const Block& block) {
  if (std::fwrite(block.data(), 1, block.size(), file) != block.size()) {
    throw std::system_error(errno, std::generic_category(), "cannot write");
  }
}

void compressAll(std::FILE* input, std::FILE* output, int level) {
  Reader reader(input);
  weft::parallelPipeline(
      kBlocksAtATime,  //
      weft::serialStage([&] { return reader.next(); }),
      weft::parallelStage([level](Block block) { return compress(std::move(block), level); }),
      weft::serialStage([output](const Block& block) { write(output, block); }));
  if (std::fflush(output) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot write");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int level = argc == 2 ? std::atoi(argv[1]) : 6;
  if (argc > 2 || level < 1 || level > 9) {
    std::fprintf(stderr, "usage: parallel_gzip [LEVEL] <INPUT >OUTPUT.gz, with a level from 1 to 9\n");
    return 2;
  }
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);
  try {
    compressAll(stdin, stdout, level);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "parallel_gzip: %s\n", error.what());
    return 1;
  }
}
