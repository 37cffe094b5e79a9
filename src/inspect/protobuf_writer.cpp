// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/protobuf_writer.h"

#include <bit>

#include "inspect/utf8.h"

namespace weft::inline v0_1::detail::inspect {

void ProtobufWriter::bytes(std::string_view bytes) {
  size_ += bytes.size();
  if (out_ != nullptr) {
    *out_ << bytes;
  }
}

// Seven bits in a byte, the lowest first.
void ProtobufWriter::varint(uint64_t value) {
  char encoded[10];
  size_t size = 0;
  for (; value >= 0x80; value >>= 7) {
    encoded[size++] = static_cast<char>(value | 0x80);
  }
  encoded[size++] = static_cast<char>(value);
  bytes({encoded, size});
}

void ProtobufWriter::number(uint32_t field, uint64_t value) {
  key(field, kVarint);
  varint(value);
}

void ProtobufWriter::fixed64(uint32_t field, uint64_t value) {
  key(field, kFixed64);
  char encoded[8];
  for (char& byte : encoded) {
    byte = static_cast<char>(value);
    value >>= 8;
  }
  bytes({encoded, sizeof encoded});
}

void ProtobufWriter::real(uint32_t field, double value) { fixed64(field, std::bit_cast<uint64_t>(value)); }

void ProtobufWriter::text(uint32_t field, std::string_view text) {
  key(field, kSized);
  if (validUtf8(text) == text.size()) {
    varint(text.size());
    bytes(text);
    return;
  }
  ProtobufWriter counted(nullptr);
  counted.utf8(text);
  varint(counted.size_);
  utf8(text);
}

void ProtobufWriter::utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t valid = validUtf8(text);
    bytes(text.substr(0, valid));
    text.remove_prefix(valid);
    if (!text.empty()) {
      bytes(kReplacementCharacter);
      text.remove_prefix(1);
    }
  }
}

}  // namespace weft::inline v0_1::detail::inspect
