// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/descriptor.h"

#include <cerrno>

#include "io/backend.h"
#include "io/file_transfer.h"
#include "io/posix_operations.h"
#include "io/result.h"

namespace weft::inline v0_1::io {
namespace {

using detail::FileRequest;
using detail::IoResult;
using detail::orThrow;
using detail::toErrorCode;
using detail::toSize;
using Files = detail::FileTransfer<detail::IoSystem>;
using Ops = detail::PosixOperations<detail::IoSystem>;

template <class Byte>
iovec toPart(std::span<Byte> bytes) noexcept {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

}  // namespace

void UniqueFd::reset(int fd) noexcept {
  const int before = fd_.exchange(fd, std::memory_order_relaxed);
  if (before >= 0 && before != fd) {
    detail::closeUnused(before);
  }
}

size_t read(int fd, std::span<std::byte> buffer, std::error_code& error, const Wait& wait) noexcept {
  const iovec part = toPart(buffer);
  return toSize(Files::readParts(fd, {&part, 1}, -1, wait, "io::read"), error);
}

size_t read(int fd, std::span<std::byte> buffer, const Wait& wait) {
  return orThrow("io::read", fd, [&](auto& error) { return read(fd, buffer, error, wait); });
}

size_t write(int fd, std::span<const std::byte> data, std::error_code& error, const Wait& wait) noexcept {
  const iovec part = toPart(data);
  return toSize(Files::writeParts(fd, {&part, 1}, wait, "io::write"), error);
}

size_t write(int fd, std::span<const std::byte> data, const Wait& wait) {
  return orThrow("io::write", fd, [&](auto& error) { return write(fd, data, error, wait); });
}

size_t readAt(int fd, std::span<std::byte> buffer, uint64_t offset, std::error_code& error,
              const Wait& wait) noexcept {
  return toSize(Files::readAt(fd, toPart(buffer), offset, wait), error);
}

size_t readAt(int fd, std::span<std::byte> buffer, uint64_t offset, const Wait& wait) {
  return orThrow("io::readAt", fd, [&](auto& error) { return readAt(fd, buffer, offset, error, wait); });
}

size_t writeAt(int fd, std::span<const std::byte> data, uint64_t offset, std::error_code& error,
               const Wait& wait) noexcept {
  return toSize(Files::writeAt(fd, toPart(data), offset, wait), error);
}

size_t writeAt(int fd, std::span<const std::byte> data, uint64_t offset, const Wait& wait) {
  return orThrow("io::writeAt", fd, [&](auto& error) { return writeAt(fd, data, offset, error, wait); });
}

size_t readv(int fd, std::span<const iovec> buffers, std::error_code& error, const Wait& wait) noexcept {
  return toSize(Files::readParts(fd, buffers, -1, wait, "io::readv"), error);
}

size_t readv(int fd, std::span<const iovec> buffers, const Wait& wait) {
  return orThrow("io::readv", fd, [&](auto& error) { return readv(fd, buffers, error, wait); });
}

size_t writev(int fd, std::span<const iovec> data, std::error_code& error, const Wait& wait) noexcept {
  return toSize(Files::writeParts(fd, data, wait, "io::writev"), error);
}

size_t writev(int fd, std::span<const iovec> data, const Wait& wait) {
  return orThrow("io::writev", fd, [&](auto& error) { return writev(fd, data, error, wait); });
}

size_t recv(int fd, std::span<std::byte> buffer, int flags, std::error_code& error,
            const Wait& wait) noexcept {
  return toSize(Ops::receive(fd, buffer, flags, wait), error);
}

size_t recv(int fd, std::span<std::byte> buffer, int flags, const Wait& wait) {
  return orThrow("io::recv", fd, [&](auto& error) { return recv(fd, buffer, flags, error, wait); });
}

size_t send(int fd, std::span<const std::byte> data, int flags, std::error_code& error,
            const Wait& wait) noexcept {
  return toSize(Ops::send(fd, data, flags, wait), error);
}

size_t send(int fd, std::span<const std::byte> data, int flags, const Wait& wait) {
  return orThrow("io::send", fd, [&](auto& error) { return send(fd, data, flags, error, wait); });
}

size_t recvmsg(int fd, msghdr& message, int flags, std::error_code& error, const Wait& wait) noexcept {
  return toSize(Ops::receiveMessage(fd, message, flags, wait), error);
}

size_t recvmsg(int fd, msghdr& message, int flags, const Wait& wait) {
  return orThrow("io::recvmsg", fd, [&](auto& error) { return recvmsg(fd, message, flags, error, wait); });
}

size_t sendmsg(int fd, const msghdr& message, int flags, std::error_code& error, const Wait& wait) noexcept {
  return toSize(Ops::sendMessage(fd, message, flags, wait), error);
}

size_t sendmsg(int fd, const msghdr& message, int flags, const Wait& wait) {
  return orThrow("io::sendmsg", fd, [&](auto& error) { return sendmsg(fd, message, flags, error, wait); });
}

size_t readAll(int fd, std::span<std::byte> buffer, std::error_code& error, const Wait& wait) noexcept {
  error.clear();
  return detail::doAll(buffer, [&](std::span<std::byte> rest) { return read(fd, rest, error, wait); });
}

size_t readAll(int fd, std::span<std::byte> buffer, const Wait& wait) {
  return orThrow("io::readAll", fd, [&](auto& error) { return readAll(fd, buffer, error, wait); });
}

size_t writeAll(int fd, std::span<const std::byte> data, std::error_code& error, const Wait& wait) noexcept {
  error.clear();
  return detail::doAll(data, [&](std::span<const std::byte> rest) { return write(fd, rest, error, wait); });
}

size_t writeAll(int fd, std::span<const std::byte> data, const Wait& wait) {
  return orThrow("io::writeAll", fd, [&](auto& error) { return writeAll(fd, data, error, wait); });
}

size_t sendAll(int fd, std::span<const std::byte> data, std::error_code& error, const Wait& wait) noexcept {
  error.clear();
  return detail::doAll(data, [&](std::span<const std::byte> rest) { return send(fd, rest, 0, error, wait); });
}

size_t sendAll(int fd, std::span<const std::byte> data, const Wait& wait) {
  return orThrow("io::sendAll", fd, [&](auto& error) { return sendAll(fd, data, error, wait); });
}

UniqueFd open(const char* path, int flags, mode_t mode, std::error_code& error, const Wait& wait) noexcept {
  const FileRequest request{
      .kind = FileRequest::Kind::Open, .path = path, .flags = flags | O_CLOEXEC, .mode = mode};
  const IoResult result =
      path == nullptr ? IoResult{-1, EFAULT} : Files(-1, wait, "io::open").runOnFile(request);
  error = toErrorCode(result.error);
  return UniqueFd(static_cast<int>(result.value));
}

UniqueFd open(const char* path, int flags, mode_t mode, const Wait& wait) {
  return orThrow([&] { return "io::open, " + std::string(path != nullptr ? path : "no path"); },
                 [&](auto& error) { return open(path, flags, mode, error, wait); });
}

void fsync(int fd, std::error_code& error, const Wait& wait) noexcept {
  error =
      toErrorCode(Files(fd, wait, "io::fsync").runOnFile({.kind = FileRequest::Kind::Sync, .fd = fd}).error);
}

void fsync(int fd, const Wait& wait) {
  orThrow("io::fsync", fd, [&](auto& error) { return fsync(fd, error, wait), 0; });
}

// The number is free again also where close(2) fails, even with EINTR.
void close(UniqueFd&& fd, std::error_code& error) noexcept {
  const int number = fd.release();
  error = toErrorCode(detail::closeUnused(number) == 0 || errno == EINTR ? 0 : errno);
}

void close(UniqueFd&& fd) {
  orThrow("io::close", fd.get(), [&](auto& error) { return close(std::move(fd), error), 0; });
}

short waitFor(int fd, short events, std::error_code& error, const Wait& wait) noexcept {
  return static_cast<short>(toSize(Ops::waitFor(fd, events, wait), error));
}

short waitFor(int fd, short events, const Wait& wait) {
  return orThrow("io::waitFor", fd, [&](auto& error) { return waitFor(fd, events, error, wait); });
}

const char* backend() {
  // Where the system could not be asked, it has not refused.
  int error = 0;
  return detail::chosenBackend(error) == detail::IoBackend::Uring ? "uring" : "epoll";
}

void cancelAll(const Scheduler& scheduler) noexcept { detail::cancelWaits(detail::ioDomain(scheduler)); }

}  // namespace weft::inline v0_1::io
