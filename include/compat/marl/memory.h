// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include <weft/memory.h>

#include "debug.h"

namespace marl {

using weft::aligned_storage;
using weft::alignUp;
using weft::Allocation;
using weft::Allocator;
using weft::pageSize;
using weft::StlAllocator;
using weft::TrackedAllocator;

}  // namespace marl
