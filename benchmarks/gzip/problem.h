// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Compressing a directory: 150 files of 20 KB to 4 MB, 23 MB in all. Each FILE gets a FILE.gz beside it, by
// zlib at level 6. A file is compressed in blocks of 128 KiB, which are independent but for the 32 KiB before
// them, as pigz has it.
//
//   ms   of the whole directory

#pragma once

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../common/temporary_tree.h"

namespace gzip {

constexpr int kLevel = 6;

inline Bytef* bytesOf(const char* text) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text));  // zlib changes no input
}

// A file that is being compressed. Its blocks may be compressed at the same time.
class File {
 public:
  explicit File(const std::string& path) : path_(path) {
    std::ifstream input(path, std::ios::binary);
    input_.resize(std::filesystem::file_size(path));
    input.read(input_.data(), static_cast<std::streamsize>(input_.size()));
    blocks_.resize(std::max<size_t>(1, (input_.size() + kBlock - 1) / kBlock));
  }

  size_t numBlocks() const { return blocks_.size(); }

  void compress(size_t i) {
    const size_t begin = i * kBlock, size = sizeOf(i);
    z_stream stream{};
    bool isGood = deflateInit2(&stream, kLevel, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    if (i > 0) {
      isGood &= deflateSetDictionary(&stream, bytesOf(&input_[begin - kDictionary]), kDictionary) == Z_OK;
    }
    std::string& output = blocks_[i].output;
    output.resize(deflateBound(&stream, size) + 16);
    stream.next_in = bytesOf(&input_[begin]);
    stream.avail_in = static_cast<uInt>(size);
    stream.next_out = bytesOf(output.data());
    stream.avail_out = static_cast<uInt>(output.size());
    const bool isLast = i + 1 == numBlocks();
    isGood &= deflate(&stream, isLast ? Z_FINISH : Z_SYNC_FLUSH) == (isLast ? Z_STREAM_END : Z_OK);
    bench::check(isGood && stream.avail_in == 0, "deflate");
    output.resize(stream.total_out);
    deflateEnd(&stream);
    blocks_[i].crc = crc32(0, bytesOf(&input_[begin]), static_cast<uInt>(size));
  }

  // Requires: all blocks are compressed.
  void write() const {
    std::ofstream output(path_ + ".gz", std::ios::binary);
    output.write("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
    uLong crc = 0;
    for (size_t i = 0; i < numBlocks(); i++) {
      output << blocks_[i].output;
      crc = crc32_combine(crc, blocks_[i].crc, static_cast<z_off_t>(sizeOf(i)));
    }
    for (const uLong number : {crc, static_cast<uLong>(input_.size())}) {
      for (int shift = 0; shift < 32; shift += 8) {
        output.put(static_cast<char>(number >> shift));
      }
    }
    bench::check(output.flush().good(), "a compressed file");
  }

 private:
  static constexpr size_t kBlock = size_t{128} * 1024;
  static constexpr size_t kDictionary = size_t{32} * 1024;

  struct Block {
    std::string output;
    uLong crc = 0;
  };

  size_t sizeOf(size_t i) const { return std::min(kBlock, input_.size() - i * kBlock); }

  const std::string path_;
  std::string input_;
  std::vector<Block> blocks_;
};

// What is left of a file that is read, packed or not: how many bytes, and their CRC.
struct Sum {
  uint64_t bytes = 0;
  uint64_t crcs = 0;

  // zlib reads a file that is not packed as it is.
  void add(const std::string& path) {
    const gzFile file = gzopen(path.c_str(), "rb");
    bench::check(file != nullptr, "a file");
    std::array<char, 65536> buffer;
    uLong crc = 0;
    int size = 0;
    while ((size = gzread(file, buffer.data(), buffer.size())) > 0) {
      crc = crc32(crc, bytesOf(buffer.data()), static_cast<uInt>(size));
      bytes += static_cast<uint64_t>(size);
    }
    bench::check(size == 0 && gzclose(file) == Z_OK, "a file is whole");
    crcs += crc;
  }
  bool operator==(const Sum&) const = default;
};

// Measures compress(tree). The oracle unpacks what that has packed.
template <class F>
void measure(bench::Run& run, F&& compress) {
  const bench::TemporaryTree tree(run.tiny() ? bench::TreeShape{3, 2, 60'000, 400'000}
                                             : bench::TreeShape{15, 10, 20'000, 4'000'000});
  Sum expected;
  for (const std::string& path : tree.paths()) {
    expected.add(path);
  }
  std::vector<double> times;
  for (int i = run.size(4, 1); i > 0; i--) {
    times.push_back(run.onceNs([&] { compress(tree); }));
    Sum packed;
    uint64_t packedBytes = 0;
    for (const std::string& path : tree.paths()) {
      packed.add(path + ".gz");
      packedBytes += std::filesystem::file_size(path + ".gz");
      std::filesystem::remove(path + ".gz");
    }
    bench::check(packed == expected && packedBytes < expected.bytes, "gzip");
  }
  if (times.size() > 1) {
    times.erase(times.begin());  // the warm-up
  }
  run.metric("ms", bench::median(times) / 1e6);
}

}  // namespace gzip
