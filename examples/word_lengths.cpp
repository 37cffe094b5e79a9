// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Makes a text, and finds its longest words with parallel algorithms.

#include <weft/weft.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace {

// Returns: the word that comes at `place`, of 1 to 12 letters, always the same.
std::string wordAt(uint64_t place) {
  // The finalizer of splitmix64 (Steele, Lea and Flood 2014).
  place += 0x9e3779b97f4a7c15u;
  place = (place ^ (place >> 30)) * 0xbf58476d1ce4e5b9u;
  place = (place ^ (place >> 27)) * 0x94d049bb133111ebu;
  place ^= place >> 31;
  std::string word;
  for (uint64_t length = place % 12 + 1; length != 0; --length, place /= 26) {
    word += static_cast<char>('a' + place % 26);
  }
  return word;
}

}  // namespace

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  std::vector<std::string> words(500'000);
  weft::parallelFor(size_t{0}, words.size(), [&](size_t i) { words[i] = wordAt(i); });

  std::vector<size_t> ends(words.size());
  weft::parallelTransform(words, ends.begin(), [](const std::string& word) { return word.size() + 1; });
  weft::parallelScan(ends, ends.begin());
  std::printf("%zu words in %zu letters and spaces\n", words.size(), ends.back());

  const size_t longest = weft::parallelMapReduce(
      words, size_t{0}, [](const std::string& word) { return word.size(); },
      [](size_t a, size_t b) { return std::max(a, b); });
  weft::parallelStableSort(words,
                           [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  std::printf("the first of %zu letters is %s\n", longest, words.front().c_str());
  weft::parallelSort(words);
  std::printf("the first of all is %s, the last %s\n", words.front().c_str(), words.back().c_str());
}
