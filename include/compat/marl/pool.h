// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"

#include <atomic>
#include <mutex>

#include <weft/pool.h>

#include "conditionvariable.h"
#include "memory.h"
#include "mutex.h"

namespace marl {

using weft::BoundedPool;
using weft::Loan;
using weft::Pool;
using weft::PoolPolicy;
using weft::UnboundedPool;

}  // namespace marl
