// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/mail_reader.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

// More would be a sign of damage.
constexpr uint64_t kMostLetters = 100'000;

// In place of a letter: the owner of the mailbox looks for none, or a letter is not linked yet.
constexpr Address kNoLetter = 1;

// Goes from `letter` to `end`, as far as letters are linked. Returns: how many it has passed.
uint64_t passLetters(const Memory& memory, const Offsets& offsets, Address& letter, Address end) {
  uint64_t count = 0;
  while (letter != end && letter > kNoLetter && count < kMostLetters) {
    ++count;
    if (!memory.get(letter + offsets.letterNext, letter)) {
      letter = 0;
    }
  }
  return count;
}

}  // namespace

bool hasLetters(const Memory& memory, const Offsets& offsets, Address worker) {
  Address newest = 0;
  return memory.get(worker + offsets.workerLetters, newest) && newest > kNoLetter;
}

// The mailbox is a list, the newest first, which only grows, or is taken whole. So a count is right if the
// letter that was the newest is in the mailbox afterwards too. If it never is, the worker takes its letters
// all the time.
uint64_t countLetters(const Memory& memory, const Offsets& offsets, Address worker) {
  constexpr int kTries = 3;
  const Address mailbox = worker + offsets.workerLetters;
  for (int i = 0; i < kTries; ++i) {
    Address newest = 0;
    if (!memory.get(mailbox, newest) || newest <= kNoLetter) {
      return 0;
    }
    Address letter = newest;
    const uint64_t count = passLetters(memory, offsets, letter, 0);
    if (memory.get(mailbox, letter)) {
      (void)passLetters(memory, offsets, letter, newest);
      if (letter == newest) {
        return count;
      }
    }
  }
  return 0;
}

void completeLetters(const Memory& memory, const Offsets& offsets, Worker& worker) {
  if (worker.areLettersCounted) {
    return;
  }
  worker.areLettersCounted = true;
  const uint64_t count = countLetters(memory, offsets, worker.address);
  if (count > 1) {  // if they have been taken meanwhile, the one stays that was there
    worker.numPinned += count - 1;
    worker.numQueued += count - 1;
  }
}

}  // namespace weft::inline v0_1::detail::inspect
