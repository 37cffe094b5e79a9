// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <system_error>
#include <utility>

#include "weft/detail/base/deadline.h"
#include "weft/export.h"
#include "weft/mpi/buffer.h"
#include "weft/mpi/native.h"

namespace weft::inline v0_1::detail {
struct MpiRequests;
}

namespace weft::inline v0_1::mpi {

// What has come of an operation.
class Status {
 public:
  // Has nothing, or what MPI has told.
  Status() = default;
  explicit Status(const MPI_Status& status) noexcept : status_(status) {}

  // Return, of a receive or probe: the rank that has sent the message; its tag.
  int source() const noexcept { return status_.MPI_SOURCE; }
  int tag() const noexcept { return status_.MPI_TAG; }
  // Returns, of a receive or probe: how many values of `type`, or of type T, the message has; MPI_UNDEFINED
  // if it ends in the middle of one.
  WEFT_EXPORT int count(MPI_Datatype type) const;
  template <Transferable T>
  int count() const {
    const MPI_Datatype type = DatatypeOf<T>::get();
    const int number = count(type);
    constexpr int kSize = static_cast<int>(sizeof(T));
    return type != MPI_BYTE ? number : number % kSize == 0 ? number / kSize : MPI_UNDEFINED;
  }
  // Returns: whether the operation was canceled before it had begun.
  WEFT_EXPORT bool isCancelled() const;
  const MPI_Status& get() const noexcept { return status_; }

 private:
  MPI_Status status_{};
};

// How long a wait lasts at most: a duration, a time, until a stop, or until what comes first. Without any of
// them it has no end.
class Limit {
 public:
  // No end; or one after `duration`, at `time`, or at a stop.
  Limit() = default;
  template <class Rep, class Period>
  Limit(const std::chrono::duration<Rep, Period>& duration,  // NOLINT(google-explicit-constructor)
        std::stop_token stop = {})
      : deadline(detail::deadlineAfter(duration)), token(std::move(stop)) {}
  Limit(detail::TimePoint time, std::stop_token stop = {})  // NOLINT(google-explicit-constructor)
      : deadline(time), token(std::move(stop)) {}
  Limit(std::stop_token stop) : token(std::move(stop)) {}  // NOLINT(google-explicit-constructor)

  detail::TimePoint deadline = detail::kNever;  // the wait ends then
  std::stop_token token;                        // or at a stop
};

// Owns a request of MPI: an operation that is under way, such as Communicator::isend() starts.
//
//   weft::mpi::Request received = world.irecv(column, left);
//   work();
//   const weft::mpi::Status status = received.wait();
// A persistent one, such as Communicator::sendInit() makes, is started by start(), again after each wait.
// One fiber or thread waits for it at a time, and once for each operation: otherwise a message ends the
// program.
// Lifetime: what the operation sends, or the room for what it receives, stays where it is until it is done.
class Request {
 public:
  // What a Request is besides MPI's.
  enum class Kind : uint8_t { Once, Receive, Persistent, PersistentReceive };

  // Has no request, or takes over `taken`: one that is under way, or a persistent one that is not.
  Request() = default;
  WEFT_EXPORT explicit Request(MPI_Request taken, Kind kind = Kind::Once) noexcept;
  WEFT_EXPORT Request(Request&& other) noexcept;
  WEFT_EXPORT Request& operator=(Request&& other) noexcept;
  // Waits for an operation that is under way, so that MPI does not write into what is gone. Cancels a receive
  // before, which ends unless its message has begun to come.
  WEFT_EXPORT ~Request();

  // Begins the operation of a persistent request. Errors: Error. A message ends the program if it is under
  // way, or not persistent.
  WEFT_EXPORT void start();

  // Suspends the fiber, or blocks the thread, until the operation is done.
  // Returns: what has come of it. Errors: Error, or the code in `error`.
  WEFT_EXPORT Status wait();
  WEFT_EXPORT Status wait(std::error_code& error);
  // As wait(), until `limit` at most. A result wins against a limit.
  // Returns: nothing if the limit came first: the operation is still under way.
  WEFT_EXPORT std::optional<Status> waitFor(const Limit& limit);
  // Asks once, and does not wait. Returns: nothing if the operation is not done.
  WEFT_EXPORT std::optional<Status> test();
  // Asks MPI to end the operation without an effect: see MPI_Cancel(3). A wait must follow.
  WEFT_EXPORT void cancel();

  // Returns: whether an operation is under way.
  bool isActive() const noexcept { return state_.load(std::memory_order_relaxed) >= State::Active; }
  MPI_Request get() const noexcept { return request_; }

 private:
  friend struct detail::MpiRequests;
  enum class State : uint8_t { None, Inactive, Active, WaitedFor };

  MPI_Request request_ = MPI_REQUEST_NULL;
  Kind kind_ = Kind::Once;
  // relaxed: tells misuse.
  std::atomic<State> state_{State::None};
};

// Suspend the fiber, or block the thread, until the operation of the request, or of all, is done. A request
// of MPI's is MPI_REQUEST_NULL afterwards, unless it is persistent. `statuses`: as many as requests, or none.
// Errors: Error, or the code in `error`: that of the first operation that has failed; all are done then.
WEFT_EXPORT Status wait(Request& request);
WEFT_EXPORT Status wait(Request& request, std::error_code& error);
WEFT_EXPORT Status wait(MPI_Request& request);
WEFT_EXPORT Status wait(MPI_Request& request, std::error_code& error);
inline Status wait(Request&& request) { return mpi::wait(request); }
inline Status wait(Request&& request, std::error_code& error) { return mpi::wait(request, error); }
WEFT_EXPORT void waitAll(std::span<Request> requests);
WEFT_EXPORT void waitAll(std::span<Request> requests, std::error_code& error);
WEFT_EXPORT void waitAll(std::span<MPI_Request> requests, std::span<MPI_Status> statuses = {});
WEFT_EXPORT void waitAll(std::span<MPI_Request> requests, std::error_code& error,
                         std::span<MPI_Status> statuses = {});

// One of several operations that is done.
struct Completed {
  size_t index;  // among the requests
  Status status;
};

// Suspend the fiber, or block the thread, until the operation of one request is done. Those that are not
// under way do not count.
// Returns: which one; nothing if none is under way. Errors: Error, or the code in `error`.
WEFT_EXPORT std::optional<Completed> waitAny(std::span<Request> requests);
WEFT_EXPORT std::optional<Completed> waitAny(std::span<Request> requests, std::error_code& error);
WEFT_EXPORT std::optional<Completed> waitAny(std::span<MPI_Request> requests);
WEFT_EXPORT std::optional<Completed> waitAny(std::span<MPI_Request> requests, std::error_code& error);

// As wait(), waitAll() and waitAny(), until `limit` at most. A result wins against a limit.
// Return: nothing, or false, if the limit came first: the operations are still under way. waitAnyFor()
// returns nothing as well if none is under way. Errors: Error; of waitAllFor() also at the limit, if an
// operation has failed by then: others may still be under way.
WEFT_EXPORT std::optional<Status> waitFor(Request& request, const Limit& limit);
WEFT_EXPORT std::optional<Status> waitFor(MPI_Request& request, const Limit& limit);
WEFT_EXPORT bool waitAllFor(std::span<Request> requests, const Limit& limit);
WEFT_EXPORT bool waitAllFor(std::span<MPI_Request> requests, const Limit& limit);
WEFT_EXPORT std::optional<Completed> waitAnyFor(std::span<Request> requests, const Limit& limit);
WEFT_EXPORT std::optional<Completed> waitAnyFor(std::span<MPI_Request> requests, const Limit& limit);

}  // namespace weft::inline v0_1::mpi

#include "weft/detail/base/macros_end.h"
