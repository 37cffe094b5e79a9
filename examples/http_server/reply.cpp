// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "reply.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <ctime>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace {

std::optional<uint64_t> parseNumber(std::string_view text, int base = 10) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

// Replaces each %XX. Returns: nothing if that is none, or is a zero, which no path contains.
std::optional<std::string> decode(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    const std::optional<uint64_t> code = parseNumber(text.substr(i + 1, 2), 16);
    if (!code || *code == 0 || i + 2 >= text.size()) {
      return std::nullopt;
    }
    result += static_cast<char>(*code);
    i += 2;
  }
  return result;
}

// The path of what was asked for, without the query.
std::optional<std::string> pathOf(const std::string& target) {
  http_parser_url url;
  http_parser_url_init(&url);
  if (http_parser_parse_url(target.data(), target.size(), 0, &url) != 0) {
    return std::nullopt;
  }
  if ((url.field_set & (1u << UF_PATH)) == 0) {
    return "/";
  }
  const auto& path = url.field_data[UF_PATH];
  if (target[path.off] != '/') {
    return std::nullopt;
  }
  return decode(std::string_view(target).substr(path.off, path.len));
}

// Whether it leads up. A symbolic link may lead out of the folder: it is there by its owner's will.
bool leadsUp(std::string_view path) {
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    if (path.substr(0, end) == "..") {
      return true;
    }
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return false;
}

http_status statusOf(const std::error_code& error) {
  if (error == std::errc::permission_denied) {
    return HTTP_STATUS_FORBIDDEN;
  }
  const bool isMissing = error == std::errc::no_such_file_or_directory ||
                         error == std::errc::not_a_directory || error == std::errc::filename_too_long ||
                         error == std::errc::too_many_symbolic_link_levels;
  return isMissing ? HTTP_STATUS_NOT_FOUND : HTTP_STATUS_SERVICE_UNAVAILABLE;
}

std::string typeOf(std::string_view path) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {".css", "text/css"},       {".html", "text/html; charset=utf-8"}, {".jpg", "image/jpeg"},
      {".js", "text/javascript"}, {".json", "application/json"},         {".png", "image/png"},
      {".svg", "image/svg+xml"},  {".txt", "text/plain; charset=utf-8"}};
  for (const auto& [ending, type] : kTypes) {
    if (path.ends_with(ending)) {
      return std::string(type);
    }
  }
  return "application/octet-stream";
}

struct Range {
  uint64_t begin, size;  // a size of 0: it begins behind the end
};

// Returns: nothing where the whole file is to be sent: without a range, with one that is not understood, and
// with several.
std::optional<Range> rangeOf(const Request& request, uint64_t fileSize) {
  constexpr std::string_view kUnit = "bytes=";
  const std::string* header = request.header("range");
  // What If-Range compares is never sent, so that the file counts as changed.
  if (header == nullptr || !header->starts_with(kUnit) || request.header("if-range") != nullptr) {
    return std::nullopt;
  }
  const std::string_view range = std::string_view(*header).substr(kUnit.size());
  const size_t dash = std::min(range.find('-'), range.size() - 1);
  if (range.empty() || range[dash] != '-') {
    return std::nullopt;
  }
  const std::optional<uint64_t> first = parseNumber(range.substr(0, dash));
  const std::optional<uint64_t> last = parseNumber(range.substr(dash + 1));
  if (dash == 0) {  // the last bytes
    return last ? std::optional(Range{fileSize - std::min(*last, fileSize), std::min(*last, fileSize)})
                : std::nullopt;
  }
  if (!first || (!last && dash + 1 < range.size()) || (last && *last < *first)) {
    return std::nullopt;
  }
  if (*first >= fileSize) {
    return Range{fileSize, 0};
  }
  return Range{*first, std::min(last.value_or(fileSize), fileSize - 1) - *first + 1};
}

Reply replyWithFile(const Request& request, weft::io::File file, const std::string& path) {
  struct stat status{};
  if (::fstat(file.fd(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return makeReply(HTTP_STATUS_NOT_FOUND);
  }
  const auto size = static_cast<uint64_t>(status.st_size);
  Reply reply{.headers = "Content-Type: " + typeOf(path) + "\r\nAccept-Ranges: bytes\r\n",
              .text = {},
              .file = std::move(file),
              .size = size};
  const std::optional<Range> range = request.method == HTTP_GET ? rangeOf(request, size) : std::nullopt;
  if (!range) {
    return reply;
  }
  const std::string ofSize = "/" + std::to_string(size) + "\r\n";
  if (range->size == 0) {
    return makeReply(HTTP_STATUS_RANGE_NOT_SATISFIABLE, "Content-Range: bytes *" + ofSize);
  }
  reply.status = HTTP_STATUS_PARTIAL_CONTENT;
  reply.begin = range->begin;
  reply.size = range->size;
  reply.headers += "Content-Range: bytes " + std::to_string(range->begin) + "-" +
                   std::to_string(range->begin + range->size - 1) + ofSize;
  return reply;
}

std::string headOf(const Reply& reply, const char* connection) {
  char date[64];
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", ::gmtime_r(&now, &parts));
  const uint64_t size = reply.file ? reply.size : reply.text.size();
  return "HTTP/1.1 " + std::to_string(reply.status) + " " + http_status_str(reply.status) +
         "\r\nDate: " + date + "\r\nContent-Length: " + std::to_string(size) + "\r\n" + reply.headers +
         connection + "\r\n";
}

}  // namespace

Reply makeReply(http_status status, std::string headers) {
  return {.status = status,
          .headers = std::move(headers) + "Content-Type: text/plain; charset=utf-8\r\n",
          .text = std::to_string(status) + " " + http_status_str(status) + "\n"};
}

Reply replyTo(const Request& request, const std::string& folder) {
  if (request.method != HTTP_GET && request.method != HTTP_HEAD) {
    return makeReply(HTTP_STATUS_METHOD_NOT_ALLOWED, "Allow: GET, HEAD\r\n");
  }
  if (request.hasBody) {
    return makeReply(HTTP_STATUS_PAYLOAD_TOO_LARGE);
  }
  std::optional<std::string> path = pathOf(request.target);
  if (!path) {
    return makeReply(HTTP_STATUS_BAD_REQUEST);
  }
  if (leadsUp(*path)) {
    return makeReply(HTTP_STATUS_FORBIDDEN);
  }
  if (path->ends_with('/')) {
    *path += "index.html";
  }
  std::error_code error;
  // O_NONBLOCK: a named pipe without a writer is opened at once.
  weft::io::File file =
      weft::io::File::open((folder + *path).c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, error);
  return error ? makeReply(statusOf(error)) : replyWithFile(request, std::move(file), *path);
}

bool sendReply(weft::io::Socket& socket, const Reply& reply, bool hasBody, const char* connection,
               std::chrono::milliseconds patience) {
  std::string head = headOf(reply, connection);
  if (hasBody) {
    head += reply.text;
  }
  // A small file goes out together with the head.
  std::array<std::byte, 16384> buffer;
  size_t filled = std::min(head.size(), buffer.size());
  std::memcpy(buffer.data(), head.data(), filled);
  uint64_t offset = reply.begin;
  uint64_t left = hasBody && reply.file ? reply.size : 0;
  std::error_code error;
  for (;;) {
    const std::span<std::byte> room = std::span(buffer).subspan(filled);
    if (left > 0) {
      const size_t count =
          weft::io::readAt(reply.file.fd(), room.first(std::min<uint64_t>(left, room.size())), offset, error);
      if (count == 0) {  // an error, or somebody has made the file shorter
        return false;
      }
      filled += count;
      offset += count;
      left -= count;
    }
    const auto deadline = std::chrono::steady_clock::now() + patience;
    socket.send(std::span(buffer).first(filled), error, {.deadline = deadline});
    if (error || left == 0) {
      return !error;
    }
    filled = 0;
  }
}
