// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "inspect/unwinder.h"
#include "tools/core_file.h"

namespace weft::inline v0_1::detail::tools {

// Returns: in which calls a thread was when the process left its core file, innermost first. They are return
// addresses, as a Snapshot has them: of an instruction that was to come next it is one byte more.
std::vector<inspect::Address> stackOf(const CoreFile& core, const CoreFile::Thread& thread,
                                      inspect::Unwinder& unwinder);

}  // namespace weft::inline v0_1::detail::tools
