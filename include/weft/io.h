// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

// I/O for fibers: a fiber that waits for a socket or a file suspends like for anything else. Needs the
// library weft::io. docs/io.md
#include "weft/io/descriptor.h"
#include "weft/io/endpoint.h"
#include "weft/io/file.h"
#include "weft/io/socket.h"

#include "weft/detail/base/macros_end.h"
