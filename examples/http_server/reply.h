// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <weft/io.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "request.h"

struct Reply {
  http_status status = HTTP_STATUS_OK;
  std::string headers;    // those beside Date, Content-Length and Connection, each with its end of line
  std::string text;       // the body, unless there is a file
  weft::io::File file{};  // `size` bytes from `begin` on
  uint64_t begin = 0;
  uint64_t size = 0;
};

// A reply whose body names the status.
Reply makeReply(http_status status, std::string headers = {});

// Looks for the file below `folder`.
Reply replyTo(const Request& request, const std::string& folder);

// `connection`: the header that says whether the connection stays open, with its end of line; or nothing.
// Each piece has the `patience` of its own: a client that reads slowly, but reads, gets all.
// Returns: whether all was sent. Otherwise the connection is only good to be closed.
bool sendReply(weft::io::Socket& socket, const Reply& reply, bool hasBody, const char* connection,
               std::chrono::milliseconds patience);
