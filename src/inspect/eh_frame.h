// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "inspect/byte_reader.h"
#include "inspect/elf_file.h"
#include "inspect/memory.h"

namespace weft::inline v0_1::detail::inspect {

// How to unwind a frame of some code: an entry (FDE) of .eh_frame, with what its CIE says.
struct FrameEntry {
  Address begin = 0;  // of the code
  Address end = 0;
  uint64_t codeAlignment = 1;
  int64_t dataAlignment = 1;
  uint64_t returnRegister = 0;
  bool isSignalFrame = false;   // its caller was interrupted, and has not made a call
  uint8_t pointerEncoding = 0;  // of addresses in the instructions
  ByteReader initial;           // instructions for the first row
  ByteReader instructions;
};

// The section .eh_frame of a file, which stripping leaves. Lives no longer than the file.
class EhFrame {
 public:
  explicit EhFrame(const ElfFile& file);

  // Finds the entry for code at an address of the file, by the table of .eh_frame_hdr, or without one by
  // reading all entries. Returns: whether there is one.
  bool find(Address code, FrameEntry& entry) const;

 private:
  bool hasTable() const { return numEntries_ != 0; }
  Address entryFor(Address code) const;
  bool scan(Address code, FrameEntry& entry) const;
  ByteReader recordAt(Address address) const;
  bool parse(ByteReader record, FrameEntry& entry) const;
  bool parseCommon(Address address, FrameEntry& entry, bool& hasAugmentation) const;

  ByteReader frames_;
  ByteReader table_;  // of pairs of int32_t, relative to base_: code, entry
  Address base_ = 0;
  uint64_t numEntries_ = 0;
};

// Reads an address that is encoded as .eh_frame does. `base`: what "relative to data" means. An indirect one
// gives the address where the address lies. Fails the reader if the encoding is not known.
Address readEncoded(ByteReader& from, uint8_t encoding, Address base);

}  // namespace weft::inline v0_1::detail::inspect
