// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>

// Whether a file is the one that a process had mapped. What is compared are the file and the first page of
// its mapping, each as far as it is known.
namespace weft::inline v0_1::detail::tools {

using Bytes = std::span<const unsigned char>;

constexpr size_t kFirstPage = 4096;

// Returns: the build id in an ELF file or in its first page, as bytes; empty, if there is none.
std::string buildIdOf(Bytes file);

// Whether both files have their code and data at the same places, so that one may be read for the other.
bool hasSameSegments(Bytes one, Bytes other);

// Whether the file is the one whose first bytes are `start`, by their build ids and segments if both have an
// id, or else by the bytes. A file that was stripped later keeps its build id.
bool isFileThatBegins(Bytes file, Bytes start);

}  // namespace weft::inline v0_1::detail::tools
