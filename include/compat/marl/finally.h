// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"

#include <functional>
#include <memory>

#include <weft/finally.h>

namespace marl {

using weft::Finally;
using weft::FinallyImpl;
using weft::make_finally;
using weft::make_shared_finally;

}  // namespace marl
