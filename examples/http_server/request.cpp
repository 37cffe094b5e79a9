// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "request.h"

#include <algorithm>
#include <cctype>

namespace {

// Whether a header's name is `name`, which is in lower case.
bool isNamed(std::string_view header, std::string_view name) {
  const auto isAlike = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return std::ranges::equal(header, name, isAlike);
}

bool hasOnly(std::string_view text, std::string_view marks) {
  return std::ranges::all_of(text, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || marks.find(c) != marks.npos;
  });
}

// What http_parser lets pass, and what another program between here and the client might take for something
// else: names of headers that are none, and a host that is missing, given twice, or none.
bool isSound(const Request& request) {
  int numHosts = 0;
  for (const auto& [name, value] : request.headers) {
    if (name.empty() || !hasOnly(name, "!#$%&'*+-.^_`|~")) {
      return false;
    }
    numHosts += isNamed(name, "host") ? 1 : 0;
  }
  const std::string* const host = request.header("host");
  const bool needsHost = request.minor > 0;
  return numHosts <= 1 && (host != nullptr || !needsHost) &&
         (host == nullptr ||
          hasOnly(host->substr(0, host->find_last_not_of(" \t") + 1), "-._~%!$&'()*+,;=:[]"));
}

Arrival judge(const Request& request) {
  if (request.major != 1) {
    return Arrival::OfAnotherVersion;
  }
  return isSound(request) ? Arrival::Complete : Arrival::Malformed;
}

}  // namespace

const std::string* Request::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (isNamed(key, name)) {
      return &value;
    }
  }
  return nullptr;
}

RequestReader::RequestReader(weft::io::Socket& socket, std::chrono::milliseconds patience,
                             std::stop_token stop)
    : socket_(socket), patience_(patience), stop_(std::move(stop)) {
  http_parser_init(&parser_, HTTP_REQUEST);
  parser_.data = this;
}

Arrival RequestReader::next(Request& request) {
  request = {};
  request_ = &request;
  isInValue_ = true;  // so that the first name begins a header
  const auto now = [] { return std::chrono::steady_clock::now(); };
  bool hasBegun = !unread_.empty();
  weft::io::Wait wait{.deadline = now() + patience_, .stop = hasBegun ? std::stop_token() : stop_};
  for (;;) {
    if (const std::optional<Arrival> result = parse()) {
      return *result;
    }
    std::error_code error;
    const size_t count = socket_.recv(buffer_, error, wait);
    if (count == 0) {
      return hasBegun && error == std::errc::timed_out ? Arrival::TimedOut : Arrival::Ended;
    }
    if (!hasBegun) {
      hasBegun = true;
      wait = {.deadline = now() + patience_};
    }
    unread_ = std::span(buffer_).first(count);
  }
}

std::optional<Arrival> RequestReader::parse() {
  if (unread_.empty()) {
    return std::nullopt;
  }
  const auto* data = reinterpret_cast<const char*>(unread_.data());
  unread_ = unread_.subspan(http_parser_execute(&parser_, &callbacks(), data, unread_.size()));
  switch (HTTP_PARSER_ERRNO(&parser_)) {
    case HPE_OK:
      return std::nullopt;
    case HPE_PAUSED:  // by on_message_complete
      http_parser_pause(&parser_, 0);
      return judge(*request_);
    case HPE_INVALID_VERSION:
      return Arrival::OfAnotherVersion;
    case HPE_HEADER_OVERFLOW:
      return Arrival::TooLarge;
    default:
      return Arrival::Malformed;
  }
}

void RequestReader::addHeaderName(std::string_view piece) {
  if (isInValue_) {
    request_->headers.emplace_back();
    isInValue_ = false;
  }
  request_->headers.back().first += piece;
}

const http_parser_settings& RequestReader::callbacks() {
  static const http_parser_settings settings = [] {
    http_parser_settings s;
    http_parser_settings_init(&s);
    s.on_url = [](http_parser* parser, const char* data, size_t size) {
      of(parser).request_->target.append(data, size);
      return 0;
    };
    s.on_header_field = [](http_parser* parser, const char* data, size_t size) {
      of(parser).addHeaderName({data, size});
      return 0;
    };
    s.on_header_value = [](http_parser* parser, const char* data, size_t size) {
      of(parser).isInValue_ = true;
      of(parser).request_->headers.back().second.append(data, size);
      return 0;
    };
    s.on_headers_complete = [](http_parser* parser) {
      Request& request = *of(parser).request_;
      request.method = parser->method;
      request.isKeptAlive = http_should_keep_alive(parser) != 0;
      request.major = parser->http_major;
      request.minor = parser->http_minor;
      request.hasBody = (parser->flags & (F_CHUNKED | F_CONTENTLENGTH)) != 0 && parser->content_length != 0;
      return request.hasBody ? 1 : 0;  // 1: nothing reads it
    };
    s.on_message_complete = [](http_parser* parser) {
      http_parser_pause(parser, 1);
      return 0;
    };
    return s;
  }();
  return settings;
}
