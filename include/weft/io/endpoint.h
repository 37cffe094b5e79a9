// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "weft/export.h"
#include "weft/io/descriptor.h"

namespace weft::inline v0_1::io {

// The address of one end of a connection: IPv4, IPv6 or local ("unix").
//
//   weft::io::Endpoint server = weft::io::Endpoint::parse("127.0.0.1", 8080);
class Endpoint {
 public:
  // Has no address, or a copy of `address`, which has `size` bytes.
  Endpoint() = default;
  WEFT_EXPORT Endpoint(const sockaddr* address, socklen_t size) noexcept;

  // Makes an endpoint of an internet address such as "127.0.0.1" or "::1". "0.0.0.0" and "::" mean all
  // addresses of this machine. For names use resolve().
  // Returns: the endpoint.
  // Errors: invalid_argument if `address` is neither an IPv4 nor an IPv6 address.
  WEFT_EXPORT static Endpoint parse(std::string_view address, uint16_t port);
  WEFT_EXPORT static Endpoint parse(std::string_view address, uint16_t port, std::error_code& error) noexcept;

  // Makes an endpoint of a path: of a local socket in the file system.
  // Returns: the endpoint.
  // Errors: filename_too_long beyond 107 bytes, invalid_argument if the path is empty or has a zero byte.
  WEFT_EXPORT static Endpoint local(std::string_view path);
  WEFT_EXPORT static Endpoint local(std::string_view path, std::error_code& error) noexcept;

  // Return: the address of this end, or of the other end, of the connection of the socket `fd`; none after an
  // error.
  WEFT_EXPORT static Endpoint ofSocket(int fd, std::error_code& error) noexcept;
  WEFT_EXPORT static Endpoint ofPeer(int fd, std::error_code& error) noexcept;

  // Returns: AF_INET, AF_INET6 or AF_UNIX; AF_UNSPEC if there is no address.
  int family() const noexcept { return address_.ss_family; }
  // Returns: the port; 0 if there is none.
  WEFT_EXPORT uint16_t port() const noexcept;
  // Returns: a text such as 127.0.0.1:80, [::1]:80, or a path.
  WEFT_EXPORT std::string toString() const;

  // Return: the address for system calls, and its size in bytes.
  const sockaddr* data() const noexcept { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t size() const noexcept { return size_; }

 private:
  sockaddr_storage address_{};
  socklen_t size_ = 0;
};

// Looks up the addresses of a host and a service, such as "example.org" and "443" or "https". Suspends the
// fiber, or blocks the thread, while a thread of blocking_call() calls getaddrinfo(3). That call cannot be
// stopped: it goes on when `wait` ends the wait. After a deadline in the past, or a stop, it is not made.
// Within a call of blocking_call(), if BlockingThreads::setMaxCount() leaves no other thread, the caller
// makes it, and `wait` ends nothing.
// Returns: the endpoints in the order in which to try them.
// Errors: those of getaddrinfo(3), in their own category; resource_unavailable_try_again if there is no
// thread.
WEFT_EXPORT std::vector<Endpoint> resolve(const std::string& host, const std::string& service,
                                          const Wait& wait = {});
WEFT_EXPORT std::vector<Endpoint> resolve(const std::string& host, const std::string& service,
                                          std::error_code& error, const Wait& wait = {});

}  // namespace weft::inline v0_1::io

#include "weft/detail/base/macros_end.h"
