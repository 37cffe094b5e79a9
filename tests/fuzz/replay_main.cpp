// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Runs inputs of the fuzzer, for compilers without libFuzzer:
//
//   fuzz_replay FILE_OR_FOLDER...

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void run(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string input((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

int runAll(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::filesystem::path> files;
  for (const auto& path : paths) {
    if (std::filesystem::is_directory(path)) {
      const std::filesystem::directory_iterator folder(path);
      std::copy(begin(folder), end(folder), std::back_inserter(files));
    } else {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::printf("%s\n", file.c_str());
    std::fflush(stdout);
    run(file);
  }
  std::printf("%zu programs ran\n", files.size());
  return files.empty() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) { return runAll({argv + 1, argv + argc}); }
