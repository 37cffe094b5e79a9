// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"

#include <functional>

#include <weft/ticket.h>

#include "conditionvariable.h"
#include "pool.h"
#include "waitgroup.h"

namespace marl {

using weft::Ticket;

}  // namespace marl
