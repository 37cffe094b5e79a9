// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "inspect/memory.h"
#include "inspect/text.h"

namespace weft::inline v0_1::detail::inspect {

// What code is called. A report asks for the names of what it prints only.
class Names {
 public:
  // Writes the name of the code of a task: "serve(Connection&)", "main::{lambda()#2}".
  virtual void writeTask(Text& out, Address code) = 0;
  // Writes the place of a return address: "serve(Connection&)+0x12 (server+0x3412)".
  virtual void writeFrame(Text& out, Address pc) = 0;
  // Writes only the name of the function that a return address is in: "serve(Connection&)"; without a name,
  // that of its file: "(server)". For the code of a task it is one byte behind its beginning.
  virtual void writeFunctionAt(Text& out, Address pc) = 0;
  // Returns: whether a return address is in a function of weft's own. False where that is not known.
  virtual bool isOfWeft(Address pc) = 0;
  // Writes a line that says why names are missing, if a file with names could not be read.
  virtual void writeFailure(Text&) {}

 protected:
  Names() = default;
  Names(const Names&) = default;
  Names& operator=(const Names&) = default;
  ~Names() = default;
};

}  // namespace weft::inline v0_1::detail::inspect
