// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory_resource>
#include <unordered_map>

#include "inspect/images.h"
#include "inspect/names.h"

namespace weft::inline v0_1::detail::inspect {

// The names that the files of the process have. Places are those of calls, one byte before the return
// address, as addr2line wants them.
class ImageNames final : public Names {
 public:
  ImageNames(Images& images, std::pmr::memory_resource* memory) : images_(images), areOfWeft_(memory) {}

  void writeTask(Text& out, Address code) override;
  void writeFrame(Text& out, Address pc) override;
  void writeFunctionAt(Text& out, Address pc) override;
  bool isOfWeft(Address pc) override;
  void writeFailure(Text& out) override { images_.writeFailure(out); }

 private:
  Images& images_;
  std::pmr::unordered_map<Address, bool> areOfWeft_;  // return addresses that were asked for
};

}  // namespace weft::inline v0_1::detail::inspect
