// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "inspect/text.h"

namespace weft::inline v0_1::detail::inspect {

// Writes fields in the wire format of Protocol Buffers: https://protobuf.dev/programming-guides/encoding.
// Without an output it only counts bytes.
class ProtobufWriter {
 public:
  explicit ProtobufWriter(Text* out) : out_(out) {}

  void number(uint32_t field, uint64_t value);
  void signedNumber(uint32_t field, int64_t value) { number(field, static_cast<uint64_t>(value)); }
  void fixed64(uint32_t field, uint64_t value);
  void real(uint32_t field, double value);
  void text(uint32_t field, std::string_view text);  // a byte that is not UTF-8 becomes U+FFFD

  // A message whose fields `write(ProtobufWriter&)` writes. Its size stands before it: `write` is called to
  // count and again to write, instead of a buffer that would have to hold the largest message.
  template <class Write>
  void message(uint32_t field, const Write& write) {
    ProtobufWriter counted(nullptr);
    write(counted);
    key(field, kSized);
    varint(counted.size_);
    if (out_ != nullptr) {
      write(*this);
    } else {
      size_ += counted.size_;
    }
  }

 private:
  static constexpr uint32_t kVarint = 0, kFixed64 = 1, kSized = 2;  // the wire types

  void key(uint32_t field, uint32_t type) { varint(uint64_t{field} << 3 | type); }
  void varint(uint64_t value);
  void bytes(std::string_view bytes);
  void utf8(std::string_view text);

  Text* const out_;
  size_t size_ = 0;
};

}  // namespace weft::inline v0_1::detail::inspect
