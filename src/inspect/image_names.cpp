// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/image_names.h"

#include "inspect/demangle.h"

namespace weft::inline v0_1::detail::inspect {

void ImageNames::writeTask(Text& out, Address code) {
  const CodePlace place = images_.place(code);
  if (place.image == nullptr || place.function.empty()) {
    writePlace(out, place);
    return;
  }
  writeFunction(out, place.function.data());
  writePlaceInFile(out << ' ', place);
}

void ImageNames::writeFrame(Text& out, Address pc) { writePlace(out, images_.place(pc - 1)); }

void ImageNames::writeFunctionAt(Text& out, Address pc) { writeFunctionOf(out, images_.place(pc - 1)); }

bool ImageNames::isOfWeft(Address pc) {
  const auto [known, isNew] = areOfWeft_.try_emplace(pc, false);
  if (isNew) {
    known->second = inspect::isOfWeft(images_.place(pc - 1));
  }
  return known->second;
}

}  // namespace weft::inline v0_1::detail::inspect
