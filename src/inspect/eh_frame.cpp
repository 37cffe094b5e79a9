// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/eh_frame.h"

#include <elf.h>

namespace weft::inline v0_1::detail::inspect {
namespace {

// Encodings of addresses: the low four bits say how it is written, the next three what it is relative to.
constexpr uint8_t kOmitted = 0xff;
constexpr uint8_t kRelativeToItself = 0x10;
constexpr uint8_t kRelativeToData = 0x30;
constexpr uint8_t kSortedTable = kRelativeToData | 0x0b;  // of int32_t

Address readValue(ByteReader& from, uint8_t format) {
  switch (format) {
    case 0x00:  // as wide as a pointer
      if constexpr (sizeof(Address) != sizeof(uint64_t)) {
        return from.get<Address>();
      }
      [[fallthrough]];
    case 0x04:
    case 0x0c:
      return static_cast<Address>(from.get<uint64_t>());
    case 0x01:
      return static_cast<Address>(from.unsignedLeb());
    case 0x02:
      return from.get<uint16_t>();
    case 0x03:
      return from.get<uint32_t>();
    case 0x09:
      return static_cast<Address>(from.signedLeb());
    case 0x0a:
      return static_cast<Address>(int64_t{from.get<int16_t>()});
    case 0x0b:
      return static_cast<Address>(int64_t{from.get<int32_t>()});
    default:
      from.fail();
      return 0;
  }
}

// Reads what the letters after the "z" of a CIE stand for.
bool parseAugmentation(ByteReader letters, ByteReader content, FrameEntry& entry) {
  for (char letter = letters.get<char>(); letter != '\0'; letter = letters.get<char>()) {
    switch (letter) {
      case 'R':
        entry.pointerEncoding = content.get<uint8_t>();
        break;
      case 'P': {
        const auto encoding = content.get<uint8_t>();
        readEncoded(content, encoding, 0);
        break;
      }
      case 'L':
        content.skip(1);
        break;
      case 'S':
        entry.isSignalFrame = true;
        break;
      case 'B':  // return addresses are signed with key B
      case 'G':  // the stack has tags
        break;
      default:
        return false;
    }
  }
  return content.isOk();
}

}  // namespace

Address readEncoded(ByteReader& from, uint8_t encoding, Address base) {
  if (encoding == kOmitted) {
    return 0;
  }
  const Address own = from.address();
  const Address value = readValue(from, encoding & 0x0f);
  switch (encoding & 0x70) {
    case 0:
      return value;
    case kRelativeToItself:
      return own + value;
    case kRelativeToData:
      return base + value;
    default:
      from.fail();
      return 0;
  }
}

EhFrame::EhFrame(const ElfFile& file) {
  ByteReader header = file.firstOfType(PT_GNU_EH_FRAME);
  base_ = header.address();
  if (header.get<uint8_t>() == 1) {
    const auto framesEncoding = header.get<uint8_t>();
    const auto countEncoding = header.get<uint8_t>();
    const auto tableEncoding = header.get<uint8_t>();
    const Address frames = readEncoded(header, framesEncoding, base_);
    const uint64_t count = readEncoded(header, countEncoding, base_);
    if (header.isOk()) {
      frames_ = file.loadedFrom(frames);
      if (tableEncoding == kSortedTable && countEncoding != kOmitted && count <= header.left() / 8) {
        table_ = header;
        numEntries_ = count;
      }
    }
  }
  if (frames_.left() == 0) {
    frames_ = file.section(".eh_frame");
  }
}

bool EhFrame::find(Address code, FrameEntry& entry) const {
  if (!hasTable()) {
    return scan(code, entry);
  }
  const Address address = entryFor(code);
  return address != 0 && parse(recordAt(address), entry) && code >= entry.begin && code < entry.end;
}

// Returns: the address of the last entry whose code does not begin after `code`; 0: there is none.
Address EhFrame::entryFor(Address code) const {
  auto pairAt = [this](uint64_t index) {
    ByteReader at = table_;
    at.skip(index * 8);
    return at;
  };
  uint64_t begin = 0;
  uint64_t end = numEntries_;
  while (begin != end) {
    const uint64_t middle = begin + (end - begin) / 2;
    ByteReader pair = pairAt(middle);
    if (readEncoded(pair, kSortedTable, base_) <= code) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  if (begin == 0) {
    return 0;
  }
  ByteReader pair = pairAt(begin - 1);
  pair.skip(4);
  return readEncoded(pair, kSortedTable, base_);
}

// Returns: a reader of what follows the record's length; empty at the end, or where none is.
ByteReader EhFrame::recordAt(Address address) const {
  ByteReader at = frames_;
  at.skip(address - at.address());  // before its beginning that is too much as well
  uint64_t size = at.get<uint32_t>();
  if (size == 0xffffffff) {
    size = at.get<uint64_t>();
  }
  return at.take(size);
}

bool EhFrame::scan(Address code, FrameEntry& entry) const {
  Address next = frames_.address();
  for (;;) {
    const ByteReader record = recordAt(next);
    if (record.left() == 0) {
      return false;
    }
    if (parse(record, entry) && code >= entry.begin && code < entry.end) {
      return true;
    }
    next = record.address() + record.left();
  }
}

// Returns: whether it is an entry, and understood.
bool EhFrame::parse(ByteReader record, FrameEntry& entry) const {
  const Address own = record.address();
  const auto toCommon = record.get<uint32_t>();
  bool hasAugmentation = false;
  entry = {};
  if (toCommon == 0 || !parseCommon(own - toCommon, entry, hasAugmentation)) {
    return false;
  }
  entry.begin = readEncoded(record, entry.pointerEncoding, 0);
  entry.end = entry.begin + readEncoded(record, entry.pointerEncoding & 0x0f, 0);
  if (hasAugmentation) {
    record.skip(record.unsignedLeb());
  }
  entry.instructions = record;
  return record.isOk();
}

// Reads the CIE.
bool EhFrame::parseCommon(Address address, FrameEntry& entry, bool& hasAugmentation) const {
  ByteReader record = recordAt(address);
  const auto id = record.get<uint32_t>();
  const auto version = record.get<uint8_t>();
  if (id != 0 || (version != 1 && version != 3)) {
    return false;
  }
  ByteReader augmentation = record;
  while (record.get<char>() != '\0') {
  }
  entry.codeAlignment = record.unsignedLeb();
  entry.dataAlignment = record.signedLeb();
  entry.returnRegister = version == 1 ? record.get<uint8_t>() : record.unsignedLeb();
  const char first = augmentation.get<char>();
  hasAugmentation = first == 'z';
  if (hasAugmentation && !parseAugmentation(augmentation, record.take(record.unsignedLeb()), entry)) {
    return false;
  }
  entry.initial = record;
  return record.isOk() && (hasAugmentation || first == '\0');
}

}  // namespace weft::inline v0_1::detail::inspect
