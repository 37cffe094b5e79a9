// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/thread_stack.h"

#include <cstddef>

#include "os/registers.h"
#include "tools/thread_registers.h"

namespace weft::inline v0_1::detail::tools {
namespace {

using inspect::Address;
using inspect::Registers;

constexpr size_t kMostFrames = 1'000'000;
constexpr size_t kPage = 4096;
constexpr size_t kMostBelow = size_t{1} << 20;   // from a stack pointer up to the stack
constexpr size_t kMostBytes = size_t{16} << 20;  // of a stack, from the stack pointer on

// The part of a stack from an address on, up to the first page that the core does not have. After an
// overflow the stack pointer may lie below the stack: the part then begins at the first page above that the
// core has.
class StackPart {
 public:
  StackPart(const CoreFile& core, Address stackPointer) : begin_(firstReadable(core, stackPointer)) {
    while (bytes_.size() < kMostBytes) {
      const size_t size = kPage - (begin_ + bytes_.size()) % kPage;
      bytes_.resize(bytes_.size() + size);
      if (!core.read(begin_ + bytes_.size() - size, bytes_.data() + bytes_.size() - size, size)) {
        bytes_.resize(bytes_.size() - size);
        return;
      }
    }
  }

  inspect::StackCopy copy() const { return {bytes_.data(), bytes_.size(), begin_}; }
  bool contains(Address address) const { return address >= begin_ && address - begin_ < bytes_.size(); }

 private:
  static Address firstReadable(const CoreFile& core, Address address) {
    const Address end = address + kMostBelow;
    char byte;
    for (Address at = address; at >= address && at < end; at = (at / kPage + 1) * kPage) {
      if (core.get(at, byte)) {
        return at;
      }
    }
    return address;
  }

  Address begin_;
  std::vector<unsigned char> bytes_;
};

// Makes the registers those of the code that has called what is no code. Returns: whether they are known.
bool undoCall(Registers& registers, const inspect::StackCopy& stack) {
  Address returnTo = 0;
  if constexpr (processor::kLink != processor::kNoNumber) {
    returnTo = registers.values[processor::kLink];
  } else {
    const Address stackPointer = registers.values[Registers::kStackPointer];
    if (!stack.read(stackPointer, &returnTo, sizeof returnTo)) {
      return false;
    }
    registers.set(Registers::kStackPointer, stackPointer + sizeof returnTo);
  }
  registers.set(Registers::kPc, returnTo);
  registers.isInterrupted = false;
  return true;
}

}  // namespace

std::vector<Address> stackOf(const CoreFile& core, const CoreFile::Thread& thread,
                             inspect::Unwinder& unwinder) {
  std::vector<Address> frames;
  Registers registers = registersOf(thread.registers);
  StackPart part(core, registers.values[Registers::kStackPointer]);
  while (frames.size() < kMostFrames) {
    const Address stackPointer = registers.values[Registers::kStackPointer];
    if (!part.contains(stackPointer)) {  // as where a handler of signals had a stack of its own
      part = StackPart(core, stackPointer);
    }
    const bool isFirst = frames.empty();
    if (registers.pc() != 0) {
      frames.push_back(registers.pc() + (registers.isInterrupted ? 1 : 0));
    }
    Registers caller = registers;
    if (unwinder.toCaller(caller, part.copy())) {
      registers = caller;
      continue;
    }
    if (!isFirst || unwinder.isInCode(registers.pc()) || !undoCall(registers, part.copy()) ||
        !unwinder.isInCode(registers.pc())) {
      break;
    }
  }
  return frames;
}

}  // namespace weft::inline v0_1::detail::tools
