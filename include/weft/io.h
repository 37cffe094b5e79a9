// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

// I/O for fibers, which suspend to wait for a socket or a file. Needs the library weft::io. See docs/io.md.
#include "weft/io/descriptor.h"
#include "weft/io/endpoint.h"
#include "weft/io/file.h"
#include "weft/io/process.h"
#include "weft/io/select.h"
#include "weft/io/signals.h"
#include "weft/io/socket.h"

#include "weft/detail/base/macros_end.h"
