// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/endpoint.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "io/lookup.h"
#include "io/result.h"

namespace weft::inline v0_1::io {
namespace {

template <class Address>
Address as(const Endpoint& endpoint) {
  Address address{};
  std::memcpy(&address, endpoint.data(), std::min<size_t>(sizeof address, sizeof(sockaddr_storage)));
  return address;
}

// The errors of getaddrinfo(3).
class ResolveCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "getaddrinfo"; }
  std::string message(int value) const override { return gai_strerror(value); }
};

const std::error_category& resolveCategory() {
  static const ResolveCategory category;
  return category;
}

template <class Call>
Endpoint endOf(int fd, const Call& call, std::error_code& error) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  const bool isDone = call(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  error = detail::toErrorCode(isDone ? 0 : errno);
  return isDone ? Endpoint(reinterpret_cast<const sockaddr*>(&address), size) : Endpoint();
}

// The system would take what is before it for the whole.
bool hasNul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

// Calls make(error), and throws if it sets an error.
template <class Make>
Endpoint endpointOf(std::string_view text, const Make& make) {
  return detail::orThrow([&] { return "io::Endpoint of \"" + std::string(text) + "\""; }, make);
}

}  // namespace

Endpoint::Endpoint(const sockaddr* address, socklen_t size) noexcept
    : size_(std::min<socklen_t>(size, sizeof address_)) {
  std::memcpy(&address_, address, size_);
}

Endpoint Endpoint::parse(std::string_view address, uint16_t port, std::error_code& error) noexcept {
  char text[INET6_ADDRSTRLEN + 1] = "";
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  error.clear();
  if (address.size() < sizeof text && !hasNul(address)) {
    std::memcpy(text, address.data(), address.size());
    if (::inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
      v4.sin_family = AF_INET;
      v4.sin_port = htons(port);
      return {reinterpret_cast<const sockaddr*>(&v4), sizeof v4};
    }
    if (::inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
      v6.sin6_family = AF_INET6;
      v6.sin6_port = htons(port);
      return {reinterpret_cast<const sockaddr*>(&v6), sizeof v6};
    }
  }
  error = std::make_error_code(std::errc::invalid_argument);
  return {};
}

Endpoint Endpoint::parse(std::string_view address, uint16_t port) {
  return endpointOf(address, [&](auto& error) { return parse(address, port, error); });
}

Endpoint Endpoint::local(std::string_view path, std::error_code& error) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  error.clear();
  const bool isPath = !path.empty() && !hasNul(path);
  if (!isPath || path.size() >= sizeof address.sun_path) {
    error = std::make_error_code(isPath ? std::errc::filename_too_long : std::errc::invalid_argument);
    return {};
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return {reinterpret_cast<const sockaddr*>(&address), size};
}

Endpoint Endpoint::local(std::string_view path) {
  return endpointOf(path, [&](auto& error) { return local(path, error); });
}

Endpoint Endpoint::ofSocket(int fd, std::error_code& error) noexcept {
  return endOf(fd, ::getsockname, error);
}

Endpoint Endpoint::ofPeer(int fd, std::error_code& error) noexcept { return endOf(fd, ::getpeername, error); }

uint16_t Endpoint::port() const noexcept {
  switch (family()) {
    case AF_INET:
      return ntohs(as<sockaddr_in>(*this).sin_port);
    case AF_INET6:
      return ntohs(as<sockaddr_in6>(*this).sin6_port);
    default:
      return 0;
  }
}

std::string Endpoint::toString() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (family() == AF_INET) {
    const auto address = as<sockaddr_in>(*this);
    ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
    return std::string(text) + ":" + std::to_string(port());
  }
  if (family() == AF_INET6) {
    const auto address = as<sockaddr_in6>(*this);
    ::inet_ntop(AF_INET6, &address.sin6_addr, text, sizeof text);
    return "[" + std::string(text) + "]:" + std::to_string(port());
  }
  if (family() == AF_UNIX && size_ > offsetof(sockaddr_un, sun_path)) {
    const auto address = as<sockaddr_un>(*this);
    return {address.sun_path, ::strnlen(address.sun_path, size_ - offsetof(sockaddr_un, sun_path))};
  }
  return {};
}

std::vector<Endpoint> resolve(const std::string& host, const std::string& service, std::error_code& error,
                              const Wait& wait) {
  if (hasNul(host) || hasNul(service)) {
    error = std::error_code(EAI_NONAME, resolveCategory());
    return {};
  }
  const auto lookup = std::make_shared<detail::Lookup>(host, service);
  error = detail::toErrorCode(detail::awaitLookup(lookup, wait));
  if (error) {
    return {};
  }
  error = lookup->result == EAI_SYSTEM ? detail::toErrorCode(lookup->systemError)
                                       : std::error_code(lookup->result, resolveCategory());
  std::vector<Endpoint> endpoints;
  for (const addrinfo* each = lookup->found.get(); each != nullptr; each = each->ai_next) {
    endpoints.emplace_back(each->ai_addr, each->ai_addrlen);
  }
  return endpoints;
}

std::vector<Endpoint> resolve(const std::string& host, const std::string& service, const Wait& wait) {
  return detail::orThrow([&] { return "io::resolve, " + host + ", " + service; },
                         [&](auto& error) { return resolve(host, service, error, wait); });
}

}  // namespace weft::inline v0_1::io
