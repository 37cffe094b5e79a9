// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/dwarf_expression.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace weft::inline v0_1::detail::inspect {
namespace {

// The operations, by the names of the standard.
enum Operation : uint8_t {
  DW_OP_addr = 0x03,
  DW_OP_deref = 0x06,
  DW_OP_const1u = 0x08,
  DW_OP_const1s = 0x09,
  DW_OP_const2u = 0x0a,
  DW_OP_const2s = 0x0b,
  DW_OP_const4u = 0x0c,
  DW_OP_const4s = 0x0d,
  DW_OP_const8u = 0x0e,
  DW_OP_const8s = 0x0f,
  DW_OP_constu = 0x10,
  DW_OP_consts = 0x11,
  DW_OP_dup = 0x12,
  DW_OP_drop = 0x13,
  DW_OP_over = 0x14,
  DW_OP_pick = 0x15,
  DW_OP_swap = 0x16,
  DW_OP_abs = 0x19,
  DW_OP_and = 0x1a,
  DW_OP_minus = 0x1c,
  DW_OP_mul = 0x1e,
  DW_OP_neg = 0x1f,
  DW_OP_not = 0x20,
  DW_OP_or = 0x21,
  DW_OP_plus = 0x22,
  DW_OP_plus_uconst = 0x23,
  DW_OP_shl = 0x24,
  DW_OP_shr = 0x25,
  DW_OP_shra = 0x26,
  DW_OP_xor = 0x27,
  DW_OP_bra = 0x28,
  DW_OP_eq = 0x29,
  DW_OP_ge = 0x2a,
  DW_OP_gt = 0x2b,
  DW_OP_le = 0x2c,
  DW_OP_lt = 0x2d,
  DW_OP_ne = 0x2e,
  DW_OP_skip = 0x2f,
  DW_OP_lit0 = 0x30,
  DW_OP_lit31 = 0x4f,
  DW_OP_breg0 = 0x70,
  DW_OP_breg31 = 0x8f,
  DW_OP_bregx = 0x92,
  DW_OP_deref_size = 0x94,
  DW_OP_nop = 0x96,
};

class Evaluation {
 public:
  Evaluation(ByteReader expression, const Registers& registers, const StackCopy& stack)
      : whole_(expression), left_(expression), registers_(registers), stack_(stack) {}

  void push(Address value) {
    if (depth_ == kDepth) {
      isOk_ = false;
      return;
    }
    values_[depth_++] = value;
  }

  bool run(Address& result) {
    for (int steps = 0; isOk_ && left_.isOk() && left_.left() != 0; ++steps) {
      isOk_ = steps < kMostSteps;
      const auto operation = left_.get<uint8_t>();
      if (!constant(operation) && !stackOrMemory(operation) && !arithmetic(operation)) {
        branch(operation);
      }
    }
    const Address value = pop();
    const bool isComplete = isOk_ && left_.isOk();
    result = isComplete ? value : missing_;
    return isComplete;
  }

 private:
  static constexpr size_t kDepth = 32;
  static constexpr int kMostSteps = 1000;  // it may loop

  Address pop() { return pick(0, true); }

  // Returns: the value that lies so deep.
  Address pick(size_t index, bool isTaken = false) {
    if (index >= depth_) {
      isOk_ = false;
      return 0;
    }
    const Address value = values_[depth_ - 1 - index];
    depth_ -= isTaken ? 1 : 0;
    return value;
  }

  template <class T>
  void pushSigned() {
    push(static_cast<Address>(int64_t{left_.get<T>()}));
  }

  void pushRegister(uint64_t number) {
    const int64_t offset = left_.signedLeb();
    if (!registers_.isKnown(number)) {
      isOk_ = false;
      return;
    }
    push(registers_.values[number] + static_cast<Address>(offset));
  }

  void dereference(size_t size) {
    Address value = 0;
    const Address place = pop();
    if (isOk_ && size <= sizeof value && !stack_.read(place, &value, size)) {
      missing_ = place;
      isOk_ = false;
    }
    isOk_ = isOk_ && size <= sizeof value;
    push(value);
  }

  bool constant(uint8_t operation) {
    if (operation >= DW_OP_lit0 && operation <= DW_OP_lit31) {
      push(operation - DW_OP_lit0);
      return true;
    }
    switch (operation) {
      case DW_OP_const1u:
        push(left_.get<uint8_t>());
        return true;
      case DW_OP_const1s:
        pushSigned<int8_t>();
        return true;
      case DW_OP_const2u:
        push(left_.get<uint16_t>());
        return true;
      case DW_OP_const2s:
        pushSigned<int16_t>();
        return true;
      case DW_OP_const4u:
        push(left_.get<uint32_t>());
        return true;
      case DW_OP_const4s:
        pushSigned<int32_t>();
        return true;
      case DW_OP_addr:
        if constexpr (sizeof(Address) != sizeof(uint64_t)) {
          push(left_.get<Address>());
          return true;
        }
        [[fallthrough]];
      case DW_OP_const8u:
      case DW_OP_const8s:
        push(static_cast<Address>(left_.get<uint64_t>()));
        return true;
      case DW_OP_constu:
        push(left_.unsignedLeb());
        return true;
      case DW_OP_consts:
        push(static_cast<Address>(left_.signedLeb()));
        return true;
      default:
        return false;
    }
  }

  bool stackOrMemory(uint8_t operation) {
    if (operation >= DW_OP_breg0 && operation <= DW_OP_breg31) {
      pushRegister(operation - DW_OP_breg0);
      return true;
    }
    switch (operation) {
      case DW_OP_bregx:
        pushRegister(left_.unsignedLeb());
        return true;
      case DW_OP_deref:
        dereference(sizeof(Address));
        return true;
      case DW_OP_deref_size:
        dereference(left_.get<uint8_t>());
        return true;
      case DW_OP_dup:
        push(pick(0));
        return true;
      case DW_OP_over:
        push(pick(1));
        return true;
      case DW_OP_pick:
        push(pick(left_.get<uint8_t>()));
        return true;
      case DW_OP_drop:
        pop();
        return true;
      case DW_OP_swap: {
        const Address top = pop();
        const Address next = pop();
        push(top);
        push(next);
        return true;
      }
      case DW_OP_nop:
        return true;
      default:
        return false;
    }
  }

  bool arithmetic(uint8_t operation) {
    switch (operation) {
      case DW_OP_abs: {
        const Address value = pop();
        push(static_cast<intptr_t>(value) < 0 ? 0 - value : value);
        return true;
      }
      case DW_OP_neg:
        push(0 - pop());
        return true;
      case DW_OP_not:
        push(~pop());
        return true;
      case DW_OP_plus_uconst:
        push(pop() + left_.unsignedLeb());
        return true;
      default:
        break;
    }
    if (operation < DW_OP_and || operation > DW_OP_ne || operation == DW_OP_bra) {
      return false;
    }
    const Address right = pop();
    const Address left = pop();
    Address value = 0;
    isOk_ = binary(operation, left, right, value) && isOk_;
    push(value);
    return true;
  }

  static bool binary(uint8_t operation, Address left, Address right, Address& value) {
    constexpr unsigned kBits = 8 * sizeof(Address);
    const auto signedLeft = static_cast<intptr_t>(left);
    const auto signedRight = static_cast<intptr_t>(right);
    switch (operation) {
      case DW_OP_and:
        value = left & right;
        return true;
      case DW_OP_or:
        value = left | right;
        return true;
      case DW_OP_xor:
        value = left ^ right;
        return true;
      case DW_OP_plus:
        value = left + right;
        return true;
      case DW_OP_minus:
        value = left - right;
        return true;
      case DW_OP_mul:
        value = left * right;
        return true;
      case DW_OP_shl:
        value = right < kBits ? left << right : 0;
        return true;
      case DW_OP_shr:
        value = right < kBits ? left >> right : 0;
        return true;
      case DW_OP_shra:
        value = static_cast<Address>(signedLeft >> std::min<Address>(right, kBits - 1));
        return true;
      case DW_OP_eq:
        value = left == right;
        return true;
      case DW_OP_ne:
        value = left != right;
        return true;
      case DW_OP_ge:
        value = signedLeft >= signedRight;
        return true;
      case DW_OP_gt:
        value = signedLeft > signedRight;
        return true;
      case DW_OP_le:
        value = signedLeft <= signedRight;
        return true;
      case DW_OP_lt:
        value = signedLeft < signedRight;
        return true;
      default:
        return false;  // a division
    }
  }

  void branch(uint8_t operation) {
    const auto distance = left_.get<int16_t>();
    if (operation != DW_OP_skip && operation != DW_OP_bra) {
      isOk_ = false;
      return;
    }
    if (operation == DW_OP_skip || pop() != 0) {
      const Address target = left_.address() + static_cast<Address>(int64_t{distance});
      left_ = whole_;
      left_.skip(target - whole_.address());
    }
  }

  const ByteReader whole_;
  ByteReader left_;
  const Registers& registers_;
  const StackCopy& stack_;
  Address values_[kDepth];
  size_t depth_ = 0;
  Address missing_ = 0;  // what could not be read
  bool isOk_ = true;
};

}  // namespace

bool evaluate(ByteReader expression, const Registers& registers, const StackCopy& stack, const Address* cfa,
              Address& result) {
  Evaluation evaluation(expression, registers, stack);
  if (cfa != nullptr) {
    evaluation.push(*cfa);
  }
  return evaluation.run(result);
}

}  // namespace weft::inline v0_1::detail::inspect
