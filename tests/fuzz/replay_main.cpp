// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Runs inputs of the fuzzer, for compilers without libFuzzer:
//
//   fuzz_replay FILE_OR_FOLDER...
//   fuzz_replay --random SECONDS [SEED]     programs made at random

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
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

int runRandom(int seconds, uint64_t seed) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  std::mt19937_64 random(seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  size_t numRuns = 0;
  for (; std::chrono::steady_clock::now() < end; ++numRuns) {
    std::vector<uint8_t> input(1 + 4 * (random() % 60));
    std::generate(input.begin(), input.end(), [&] { return static_cast<uint8_t>(random()); });
    for (size_t i = 1; i < input.size(); i += 4) {
      if (random() % 6 == 0) {
        input[i] = 63;  // another script
      }
    }
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%zu programs ran\n", numRuns);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() >= 2 && arguments[0] == "--random") {
    const uint64_t seed =
        arguments.size() > 2 ? std::strtoull(arguments[2].c_str(), nullptr, 10) : std::random_device()();
    return runRandom(std::atoi(arguments[1].c_str()), seed);
  }
  return runAll({arguments.begin(), arguments.end()});
}
