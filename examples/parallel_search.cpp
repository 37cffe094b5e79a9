// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Looks for the word that has a hash: parallel_search [HASH [MAX_LETTERS]]. All cores try words of small
// letters, and end once one has found it. Otherwise eight letters would take hours.

#include <weft/weft.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

namespace {

constexpr uint64_t kLetters = 26;
constexpr int kMaxLetters = 12;  // more would not fit into the number of a word

// Returns: word number `n` of a, b, ..., z, aa, ab, ...
std::string wordOf(uint64_t n) {
  std::string word;
  for (uint64_t left = n + 1; left > 0; left = (left - 1) / kLetters) {
    word.insert(word.begin(), static_cast<char>('a' + (left - 1) % kLetters));
  }
  return word;
}

// Returns: how many words there are of up to `maxLetters` letters.
uint64_t numWords(int maxLetters) {
  uint64_t count = 0;
  for (int i = 0; i < maxLetters; ++i) {
    count = (count + 1) * kLetters;
  }
  return count;
}

// FNV-1a.
uint64_t hashOf(const std::string& word) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : word) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

std::optional<std::string> find(uint64_t hash, int maxLetters) {
  const uint64_t end = numWords(maxLetters);
  const uint64_t found =
      weft::parallelFind(uint64_t{0}, end, [hash](uint64_t n) { return hashOf(wordOf(n)) == hash; });
  return found == end ? std::nullopt : std::optional(wordOf(found));
}

}  // namespace

int main(int argc, char** argv) {
  char* end = nullptr;
  const uint64_t hash = argc > 1 ? std::strtoull(argv[1], &end, 16) : hashOf("weft");
  const bool isHash = argc == 1 || (end != argv[1] && *end == '\0');
  const int maxLetters = argc > 2 ? std::atoi(argv[2]) : 4;
  if (argc > 3 || !isHash || maxLetters < 1 || maxLetters > kMaxLetters) {
    std::fprintf(stderr,
                 "usage: parallel_search [HASH [MAX_LETTERS]], a hash in hex digits and 1 to %d letters\n",
                 kMaxLetters);
    return 2;
  }
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  const std::optional<std::string> word = find(hash, maxLetters);
  if (!word) {
    std::fprintf(stderr, "parallel_search: no word has the hash %016" PRIx64 "\n", hash);
    return 1;
  }
  std::printf("%s has the hash %016" PRIx64 "\n", word->c_str(), hash);
}
