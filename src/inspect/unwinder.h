// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "inspect/byte_reader.h"
#include "inspect/images.h"
#include "inspect/memory.h"
#include "os/registers.h"

namespace weft::inline v0_1::detail::inspect {

struct FrameEntry;

// A stack as it was when its fiber was suspended: a copy of it, or of its innermost part. Backtraces end
// where the copy does.
struct StackCopy {
  const void* bytes = nullptr;
  size_t size = 0;
  Address begin = 0;  // where the first byte lay in the process

  // Returns: whether all of it lies in the copy.
  [[nodiscard]] bool read(Address address, void* to, size_t size) const;
};

// What is known of a processor's registers, by the numbers that DWARF gives them. The pc has a place of its
// own. Where calls leave their return address in a register, that one is another.
struct Registers {
  static constexpr size_t kCount = processor::kCount;
  static constexpr size_t kFramePointer = processor::kFramePointer;
  static constexpr size_t kStackPointer = processor::kStackPointer;
  static constexpr size_t kPc = processor::kPc;

  Address values[kCount] = {};
  std::bitset<kCount> known;
  bool isInterrupted = false;  // the pc is that of the next instruction, and not where a call returns to

  Address pc() const { return values[kPc]; }
  bool isKnown(uint64_t number) const { return number < kCount && known[number]; }
  void set(size_t number, Address value) {
    values[number] = value;
    known.set(number);
  }
  void forget(size_t number) { known.reset(number); }
};

// Finds the return addresses on stacks of suspended fibers, by the call frame information that compilers
// write into .eh_frame for exceptions. Keeps what it has learned of each address, since very many fibers are
// suspended at few places. Reads nothing of the process itself.
class Unwinder {
 public:
  // Both outlive the unwinder. `signatureBits`: those bits of return addresses that are no part of them.
  Unwinder(Images& images, std::pmr::memory_resource* memory,
           Address signatureBits = processor::signatureBits());

  // Returns: the registers of a fiber that weft_fiber_switch has suspended with this stack pointer, with the
  // pc to which it returns. The pc is 0, if they do not lie in the copy.
  Registers suspendedAt(Address stackPointer, const StackCopy& stack) const;

  // Fills `frames` with the pc of `from` and of the calls around it, innermost first: return addresses, one
  // byte behind the calls. Ends at a fiber's base or at a thread's start, where the copy ends, where nothing
  // is known of the code, or after `most` frames. Returns: how many there are.
  // Without memory std::bad_alloc comes from the memory resource.
  size_t unwind(const Registers& from, const StackCopy& stack, Address* frames, size_t most);

  // Makes the registers those of the caller. Returns: whether there is one, and all of it is known. If not,
  // the registers may be half changed.
  bool toCaller(Registers& registers, const StackCopy& stack);

  // Returns: the lowest address where the frame has saved what toCaller() reads; the stack pointer, if there
  // is none. If the copy lacks what tells where the frame begins, it is the address of that.
  Address lowestSaved(const Registers& registers, const StackCopy& stack);

  // Returns: whether that is the outermost call, the base of a fiber or the start of a thread.
  bool isOutermost(const Registers& registers);

  // Returns: whether the address lies in the code of a file that could be opened, and not in its data.
  bool isInCode(Address address);

 private:
  enum class Kind : uint8_t {
    Undefined,
    SavedAt,        // at the CFA + value
    IsCfaPlus,      // is the CFA + value
    InRegister,     // number `value`
    SavedAtResult,  // at the address that the expression number `value` gives
    IsResult,       // what the expression number `value` gives
    Same,           // never in a Row: it needs no rule
  };

  struct Rule {
    Kind kind = Kind::Same;
    uint8_t number = 0;  // of the register
    int32_t value = 0;
  };

  // How the registers of a caller follow from those of its callee, at one address of the callee's code. The
  // CFA is what the stack pointer was before the call.
  struct Row {
    Rule cfa;  // IsCfaPlus: register `number` + value; IsResult
    uint8_t numRules = 0;
    bool isSignalFrame = false;
    bool isOutermost = false;    // there is no return address
    uint8_t returnRegister = 0;  // whose value in the caller is the return address
    bool isReturnSaved = false;  // else the call's return address is still in that register
    Rule rules[Registers::kCount];
  };

  class Table;  // reads instructions

  // Of the cache, a hash table.
  struct Slot {
    Address code = 0;  // 0: free
    uint32_t row = 0;
  };

  const Row* rowOf(const Registers& registers);
  const Row* rowFor(Address code);
  uint32_t makeRow(Address code);
  void grow();
  Slot& slotOf(Address code);
  bool step(const Row& row, const StackCopy& stack, Registers& registers) const;
  bool findCfa(const Row& row, const StackCopy& stack, const Registers& registers, Address& cfa) const;
  bool findSaved(const Rule& rule, Address cfa, const StackCopy& stack, const Registers& old,
                 Address& place) const;
  bool apply(const Rule& rule, Address cfa, const StackCopy& stack, const Registers& old,
             Address& value) const;

  static constexpr uint32_t kNoRow = ~uint32_t{0};

  void returnTo(Registers& registers, Address address) const;

  Images& images_;
  const Address signatureBits_;
  std::pmr::vector<Slot> slots_;
  size_t numSlotsUsed_ = 0;
  std::pmr::vector<Row> rows_;
  std::pmr::vector<ByteReader> expressions_;
};

}  // namespace weft::inline v0_1::detail::inspect
