// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/unwinder.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "inspect/dwarf_expression.h"
#include "inspect/eh_frame.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

constexpr size_t kFirstSlots = 256;  // a power of two, as all later sizes

// The instructions of call frame information, by the names of the standard. The first three have an operand
// in their low six bits.
enum Instruction : uint8_t {
  DW_CFA_advance_loc = 0x40,
  DW_CFA_offset = 0x80,
  DW_CFA_restore = 0xc0,
  DW_CFA_nop = 0x00,
  DW_CFA_set_loc = 0x01,
  DW_CFA_advance_loc1 = 0x02,
  DW_CFA_advance_loc2 = 0x03,
  DW_CFA_advance_loc4 = 0x04,
  DW_CFA_offset_extended = 0x05,
  DW_CFA_restore_extended = 0x06,
  DW_CFA_undefined = 0x07,
  DW_CFA_same_value = 0x08,
  DW_CFA_register = 0x09,
  DW_CFA_remember_state = 0x0a,
  DW_CFA_restore_state = 0x0b,
  DW_CFA_def_cfa = 0x0c,
  DW_CFA_def_cfa_register = 0x0d,
  DW_CFA_def_cfa_offset = 0x0e,
  DW_CFA_def_cfa_expression = 0x0f,
  DW_CFA_expression = 0x10,
  DW_CFA_offset_extended_sf = 0x11,
  DW_CFA_def_cfa_sf = 0x12,
  DW_CFA_def_cfa_offset_sf = 0x13,
  DW_CFA_val_offset = 0x14,
  DW_CFA_val_offset_sf = 0x15,
  DW_CFA_val_expression = 0x16,
  DW_CFA_AARCH64_negate_ra_state_with_pc = 0x2c,
  DW_CFA_AARCH64_negate_ra_state = 0x2d,
  DW_CFA_GNU_args_size = 0x2e,
};

}  // namespace

bool StackCopy::read(Address address, void* to, size_t wanted) const {
  if (address < begin || address - begin > size || wanted > size - (address - begin)) {
    return false;
  }
  std::memcpy(to, static_cast<const char*>(bytes) + (address - begin), wanted);
  return true;
}

// The rules for all registers, as they change from instruction to instruction.
class Unwinder::Table {
 public:
  Table(const FrameEntry& entry, std::pmr::vector<ByteReader>& expressions)
      : entry_(entry), expressions_(expressions), location_(entry.begin) {}

  // Carries out the instructions up to the row for `code`. Returns: whether all of them are known.
  bool run(Address code) {
    code_ = code;
    if (!runAll(entry_.initial)) {
      return false;
    }
    first_ = now_;
    return runAll(entry_.instructions);
  }

  bool makeRow(Row& row) const {
    row.cfa = now_.cfa;
    row.isSignalFrame = entry_.isSignalFrame;
    for (size_t i = 0; i < Registers::kCount; ++i) {
      Rule rule = now_.rules[i];
      rule.number = static_cast<uint8_t>(i);
      if (rule.kind != Kind::Same) {
        row.rules[row.numRules++] = rule;
      }
    }
    if (row.cfa.kind == Kind::Same || entry_.returnRegister >= Registers::kCount) {
      return false;
    }
    row.returnRegister = static_cast<uint8_t>(entry_.returnRegister);
    const Kind how = now_.rules[row.returnRegister].kind;
    row.isOutermost = how == Kind::Undefined;
    row.isReturnSaved = how != Kind::Same;
    // Else the caller would be the callee again.
    return row.isReturnSaved || row.returnRegister != Registers::kPc;
  }

 private:
  struct State {
    Rule cfa;
    Rule rules[Registers::kCount];
  };

  static constexpr size_t kRemembered = 8;

  bool runAll(ByteReader from) {
    while (from.left() != 0 && location_ <= code_) {
      const auto instruction = from.get<uint8_t>();
      const uint64_t operand = instruction & 0x3f;
      switch (instruction & 0xc0) {
        case DW_CFA_advance_loc:
          advance(operand);
          break;
        case DW_CFA_offset:
          set(operand, Kind::SavedAt, factored(from.unsignedLeb()));
          break;
        case DW_CFA_restore:
          restore(operand);
          break;
        default:
          if (!defineCfa(instruction, from) && !setRule(instruction, from) && !other(instruction, from)) {
            return false;
          }
      }
      if (!from.isOk() || !isOk_) {
        return false;
      }
    }
    return true;
  }

  bool defineCfa(uint8_t instruction, ByteReader& from) {
    if (instruction == DW_CFA_def_cfa_expression) {
      now_.cfa = {Kind::IsResult, 0, expression(from)};
      return true;
    }
    const bool hasNumber = instruction == DW_CFA_def_cfa || instruction == DW_CFA_def_cfa_sf ||
                           instruction == DW_CFA_def_cfa_register;
    const uint64_t number = hasNumber ? from.unsignedLeb() : now_.cfa.number;
    switch (instruction) {
      case DW_CFA_def_cfa_register:
        setCfa(number, now_.cfa.value);
        return true;
      case DW_CFA_def_cfa:
      case DW_CFA_def_cfa_offset:
        setCfa(number, static_cast<int64_t>(from.unsignedLeb()));
        return true;
      case DW_CFA_def_cfa_sf:
      case DW_CFA_def_cfa_offset_sf:
        setCfa(number, factored(static_cast<uint64_t>(from.signedLeb())));
        return true;
      default:
        return false;
    }
  }

  bool setRule(uint8_t instruction, ByteReader& from) {
    if (instruction < DW_CFA_offset_extended || instruction > DW_CFA_val_expression) {
      return false;
    }
    if (instruction == DW_CFA_remember_state || instruction == DW_CFA_restore_state) {
      return false;
    }
    const uint64_t number = from.unsignedLeb();
    switch (instruction) {
      case DW_CFA_offset_extended:
        set(number, Kind::SavedAt, factored(from.unsignedLeb()));
        return true;
      case DW_CFA_offset_extended_sf:
        set(number, Kind::SavedAt, factored(static_cast<uint64_t>(from.signedLeb())));
        return true;
      case DW_CFA_val_offset:
        set(number, Kind::IsCfaPlus, factored(from.unsignedLeb()));
        return true;
      case DW_CFA_val_offset_sf:
        set(number, Kind::IsCfaPlus, factored(static_cast<uint64_t>(from.signedLeb())));
        return true;
      case DW_CFA_register:
        set(number, Kind::InRegister, static_cast<int64_t>(from.unsignedLeb()));
        return true;
      case DW_CFA_expression:
        set(number, Kind::SavedAtResult, expression(from));
        return true;
      case DW_CFA_val_expression:
        set(number, Kind::IsResult, expression(from));
        return true;
      case DW_CFA_undefined:
        set(number, Kind::Undefined, 0);
        return true;
      case DW_CFA_same_value:
        set(number, Kind::Same, 0);
        return true;
      case DW_CFA_restore_extended:
        restore(number);
        return true;
      default:
        return false;
    }
  }

  bool other(uint8_t instruction, ByteReader& from) {
    switch (instruction) {
      case DW_CFA_nop:
      // Whether return addresses are signed from here on. A signature is taken off wherever there may be one.
      case DW_CFA_AARCH64_negate_ra_state_with_pc:
      case DW_CFA_AARCH64_negate_ra_state:
        return true;
      case DW_CFA_set_loc:
        location_ = readEncoded(from, entry_.pointerEncoding, 0);
        return true;
      case DW_CFA_advance_loc1:
        advance(from.get<uint8_t>());
        return true;
      case DW_CFA_advance_loc2:
        advance(from.get<uint16_t>());
        return true;
      case DW_CFA_advance_loc4:
        advance(from.get<uint32_t>());
        return true;
      case DW_CFA_GNU_args_size:
        from.unsignedLeb();
        return true;
      case DW_CFA_remember_state:
        isOk_ = numRemembered_ < kRemembered;
        if (isOk_) {
          remembered_[numRemembered_++] = now_;
        }
        return true;
      case DW_CFA_restore_state:
        isOk_ = numRemembered_ > 0;
        if (isOk_) {
          now_ = remembered_[--numRemembered_];
        }
        return true;
      default:
        return false;
    }
  }

  void advance(uint64_t distance) { location_ += distance * entry_.codeAlignment; }

  int64_t factored(uint64_t value) const {
    return static_cast<int64_t>(value * static_cast<uint64_t>(entry_.dataAlignment));
  }

  void setCfa(uint64_t number, int64_t offset) {
    isOk_ = number < Registers::kCount && static_cast<int32_t>(offset) == offset;
    now_.cfa = {Kind::IsCfaPlus, static_cast<uint8_t>(number), static_cast<int32_t>(offset)};
  }

  // Registers beyond those that are followed, such as vector registers, are left out.
  void set(uint64_t number, Kind kind, int64_t value) {
    if (number < Registers::kCount) {
      isOk_ = static_cast<int32_t>(value) == value;
      now_.rules[number] = {kind, 0, static_cast<int32_t>(value)};
    }
  }

  void restore(uint64_t number) {
    if (number < Registers::kCount) {
      now_.rules[number] = first_.rules[number];
    }
  }

  // Returns: the number of the expression that comes next.
  int32_t expression(ByteReader& from) {
    expressions_.push_back(from.take(from.unsignedLeb()));
    return static_cast<int32_t>(expressions_.size() - 1);
  }

  const FrameEntry& entry_;
  std::pmr::vector<ByteReader>& expressions_;
  Address code_ = 0;
  Address location_;
  bool isOk_ = true;
  State now_;
  State first_;  // after the initial instructions
  State remembered_[kRemembered];
  size_t numRemembered_ = 0;
};

Unwinder::Unwinder(Images& images, std::pmr::memory_resource* memory, Address signatureBits)
    : images_(images), signatureBits_(signatureBits), slots_(memory), rows_(memory), expressions_(memory) {}

Registers Unwinder::suspendedAt(Address stackPointer, const StackCopy& stack) const {
  Registers registers;
  Address saved = stackPointer;
  for (const uint8_t number : processor::kSuspended) {
    Address value = 0;
    if (!stack.read(saved, &value, sizeof value)) {
      return {};
    }
    registers.set(number, value);
    saved += sizeof value;
  }
  registers.set(Registers::kStackPointer, stackPointer + processor::kSuspendedSize);
  returnTo(registers, registers.pc());
  return registers;
}

size_t Unwinder::unwind(const Registers& from, const StackCopy& stack, Address* frames, size_t most) {
  Registers registers = from;
  size_t count = 0;
  while (count < most && registers.pc() != 0) {
    frames[count++] = registers.pc();
    if (!toCaller(registers, stack)) {
      break;
    }
  }
  return count;
}

bool Unwinder::toCaller(Registers& registers, const StackCopy& stack) {
  const Row* row = rowOf(registers);
  return row != nullptr && !row->isOutermost && step(*row, stack, registers);
}

Address Unwinder::lowestSaved(const Registers& registers, const StackCopy& stack) {
  const Row* row = rowOf(registers);
  Address cfa = 0;
  Address lowest = ~Address{0};
  if (row != nullptr && !findCfa(*row, stack, registers, cfa)) {
    lowest = cfa != 0 ? cfa : lowest;
  } else if (row != nullptr) {
    for (size_t i = 0; i < row->numRules; ++i) {
      Address place = 0;
      if (findSaved(row->rules[i], cfa, stack, registers, place)) {
        lowest = std::min(lowest, place);
      }
    }
  }
  return lowest != ~Address{0} ? lowest : registers.values[Registers::kStackPointer];
}

bool Unwinder::isOutermost(const Registers& registers) {
  const Row* row = rowOf(registers);
  return row != nullptr && row->isOutermost;
}

// A call may be the last instruction of a function, which then ends where the call returns to.
const Unwinder::Row* Unwinder::rowOf(const Registers& registers) {
  return rowFor(registers.pc() - (registers.isInterrupted ? 0 : 1));
}

bool Unwinder::isInCode(Address address) {
  const Image* image = images_.find(address);
  if (image == nullptr || image->file == nullptr) {
    return false;
  }
  const Address inImage = address - image->bias;
  for (uint64_t i = 0; i < image->file->numSegments(); ++i) {
    const ElfFile::Segment segment = image->file->segment(i);
    if (segment.type == PT_LOAD && (segment.flags & PF_X) != 0 && inImage >= segment.address &&
        inImage - segment.address < segment.memorySize) {
      return true;
    }
  }
  return false;
}

// Makes the registers those of the caller. Returns: whether they are known.
bool Unwinder::step(const Row& row, const StackCopy& stack, Registers& registers) const {
  // What has made a call has saved its own return address, as the call has put another one there.
  if (!row.isReturnSaved && !(registers.isInterrupted && registers.isKnown(row.returnRegister))) {
    return false;
  }
  Address cfa = 0;
  if (!findCfa(row, stack, registers, cfa)) {
    return false;
  }
  // Only what calls nothing may have no frame, and only where its return address is in a register.
  const bool mayLackFrame = registers.isInterrupted && row.returnRegister != Registers::kPc;
  const Address stackPointer = registers.values[Registers::kStackPointer];
  const Address callersStackPointer = cfa - processor::kBelowCfa;
  if (callersStackPointer < stackPointer || (callersStackPointer == stackPointer && !mayLackFrame)) {
    return false;  // a stack that does not end
  }
  const Registers old = registers;
  registers.set(Registers::kStackPointer, callersStackPointer);
  for (size_t i = 0; i < row.numRules; ++i) {
    const Rule& rule = row.rules[i];
    if (rule.kind == Kind::Undefined) {
      registers.forget(rule.number);
      continue;
    }
    Address value = 0;
    if (!apply(rule, cfa, stack, old, value)) {
      return false;
    }
    registers.set(rule.number, value);
  }
  returnTo(registers, registers.values[row.returnRegister]);
  registers.isInterrupted = row.isSignalFrame;
  return true;
}

void Unwinder::returnTo(Registers& registers, Address address) const {
  registers.set(Registers::kPc, address & ~signatureBits_);
}

// Returns: whether it is known. If not, `cfa` is the address that the copy lacks; 0: nothing is missing.
bool Unwinder::findCfa(const Row& row, const StackCopy& stack, const Registers& registers,
                       Address& cfa) const {
  if (row.cfa.kind != Kind::IsCfaPlus) {
    return evaluate(expressions_[static_cast<size_t>(row.cfa.value)], registers, stack, nullptr, cfa);
  }
  const bool isKnown = registers.isKnown(row.cfa.number);
  cfa = isKnown ? registers.values[row.cfa.number] + static_cast<Address>(int64_t{row.cfa.value}) : 0;
  return isKnown;
}

// Returns: whether the rule says that a register is saved, and where.
bool Unwinder::findSaved(const Rule& rule, Address cfa, const StackCopy& stack, const Registers& old,
                         Address& place) const {
  if (rule.kind == Kind::SavedAtResult) {
    return evaluate(expressions_[static_cast<size_t>(rule.value)], old, stack, &cfa, place);
  }
  place = cfa + static_cast<Address>(int64_t{rule.value});
  return rule.kind == Kind::SavedAt;
}

bool Unwinder::apply(const Rule& rule, Address cfa, const StackCopy& stack, const Registers& old,
                     Address& value) const {
  const auto index = static_cast<size_t>(rule.value);
  switch (rule.kind) {
    case Kind::SavedAt:
    case Kind::SavedAtResult: {
      Address place = 0;
      return findSaved(rule, cfa, stack, old, place) && stack.read(place, &value, sizeof value);
    }
    case Kind::IsCfaPlus:
      value = cfa + static_cast<Address>(int64_t{rule.value});
      return true;
    case Kind::InRegister:
      value = old.isKnown(index) ? old.values[index] : 0;
      return old.isKnown(index);
    case Kind::IsResult:
      return evaluate(expressions_[index], old, stack, &cfa, value);
    default:
      return false;
  }
}

const Unwinder::Row* Unwinder::rowFor(Address code) {
  if (code == 0) {
    return nullptr;
  }
  if (2 * numSlotsUsed_ >= slots_.size()) {
    grow();
  }
  Slot& slot = slotOf(code);
  if (slot.code == 0) {
    const uint32_t row = makeRow(code);
    slot = {code, row};
    ++numSlotsUsed_;
  }
  return slot.row == kNoRow ? nullptr : &rows_[slot.row];
}

// Returns: the number of the row for this address; kNoRow: there is none.
uint32_t Unwinder::makeRow(Address code) {
  const Image* image = images_.find(code);
  FrameEntry entry;
  if (image == nullptr || image->file == nullptr) {
    return kNoRow;
  }
  const Address inImage = code - image->bias;
  if (!EhFrame(*image->file).find(inImage, entry)) {
    return kNoRow;
  }
  Table table(entry, expressions_);
  Row row;
  if (!table.run(inImage) || !table.makeRow(row)) {
    return kNoRow;
  }
  rows_.push_back(row);
  return static_cast<uint32_t>(rows_.size() - 1);
}

void Unwinder::grow() {
  std::pmr::vector<Slot> old(std::max(kFirstSlots, 2 * slots_.size()), slots_.get_allocator());
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.code != 0) {
      slotOf(slot.code) = slot;
    }
  }
}

// Returns: the slot of this address, or the free one for it. Requires: there is a free one.
Unwinder::Slot& Unwinder::slotOf(Address code) {
  const size_t mask = slots_.size() - 1;
  size_t index = (code * 0x9e3779b97f4a7c15u >> 32) & mask;
  while (slots_[index].code != 0 && slots_[index].code != code) {
    index = (index + 1) & mask;
  }
  return slots_[index];
}

}  // namespace weft::inline v0_1::detail::inspect
