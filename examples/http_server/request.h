// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <weft/io.h>

#include <http_parser.h>

#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

inline constexpr uint32_t kMaxHeaderBytes = 8192;

// A request without its body.
struct Request {
  unsigned method = HTTP_GET;
  std::string target;
  std::vector<std::pair<std::string, std::string>> headers;
  bool isKeptAlive = false;  // the client will send more on this connection
  bool hasBody = false;
  unsigned major = 1, minor = 1;  // of the version

  // Returns: null if there is no such header. Its name is given in lower case.
  const std::string* header(std::string_view name) const;
};

enum class Arrival { Complete, Ended, TimedOut, TooLarge, Malformed, OfAnotherVersion };

// The requests of a connection, one after another, also where the client sends several at once.
class RequestReader {
 public:
  RequestReader(weft::io::Socket& socket, std::chrono::milliseconds patience, std::stop_token stop);
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // Waits for the next request. Before its first byte, patience and stop end the connection. From then on the
  // patience is for all of the request, so that a client does not hold it open byte by byte.
  Arrival next(Request& request);

 private:
  static const http_parser_settings& callbacks();
  static RequestReader& of(http_parser* parser) { return *static_cast<RequestReader*>(parser->data); }
  void addHeaderName(std::string_view piece);
  // Returns: nothing where more has to be received.
  std::optional<Arrival> parse();

  weft::io::Socket& socket_;
  const std::chrono::milliseconds patience_;
  const std::stop_token stop_;
  http_parser parser_;
  Request* request_ = nullptr;
  bool isInValue_ = false;  // of the last header
  std::array<std::byte, 4096> buffer_;
  std::span<const std::byte> unread_;
};
