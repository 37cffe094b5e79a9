// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"

// Warns of deprecated names if MARL_WARN_DEPRECATED is defined.
#if defined(MARL_WARN_DEPRECATED)
#define MARL_DEPRECATED(issue_num, message) [[deprecated("marl issue #" #issue_num ": " message)]]
#else
#define MARL_DEPRECATED(issue_num, message)
#endif
