// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/mpi/request.h"

#include <algorithm>
#include <utility>

#include "mpi/engine.h"
#include "mpi/few.h"
#include "mpi/throw_error.h"
#include "weft/debug.h"

namespace weft::inline v0_1 {

namespace detail {

// Waits on Requests, and tells misuse.
struct MpiRequests {
  using Request = mpi::Request;
  using State = Request::State;

  static bool isPersistent(const Request& request) { return request.kind_ >= Request::Kind::Persistent; }
  static bool isReceive(const Request& request) {
    return request.kind_ == Request::Kind::Receive || request.kind_ == Request::Kind::PersistentReceive;
  }

  // Returns: MPI's request, for a wait that ends with endWait().
  static MPI_Request beginWait(Request& request, const char* what) {
    // relaxed, as in what follows: tells misuse.
    const State was = request.state_.exchange(State::WaitedFor, std::memory_order_relaxed);
    WEFT_ASSERT(was != State::WaitedFor, "%s: another fiber waits for this request. One may.", what);
    WEFT_ASSERT(was == State::Active,
                "%s: the request has no operation under way: it was waited for before, moved from, or not "
                "started.",
                what);
    return request.request_;
  }
  static void endWait(Request& request, MPI_Request left, bool isDone) {
    request.request_ = left;
    State next = State::Active;
    if (isDone) {
      next = isPersistent(request) ? State::Inactive : State::None;
    }
    request.state_.store(next, std::memory_order_relaxed);
  }
  static void setStarted(Request& request) {
    const State was = request.state_.load(std::memory_order_relaxed);
    WEFT_ASSERT(isPersistent(request) && was != State::None,
                "mpi::Request::start(): the request is not persistent. sendInit() and recvInit() make some.");
    WEFT_ASSERT(was == State::Inactive,
                "mpi::Request::start(): the operation is under way. Wait for it before.");
    request.state_.store(State::Active, std::memory_order_relaxed);
  }

  // The requests of several, for a wait of at most once.
  class Several {
   public:
    Several(std::span<Request> requests, const char* what, bool mayBeInactive)
        : requests_(requests), natives_(requests.size()) {
      for (size_t i = 0; i < requests.size(); ++i) {
        const bool isLeftOut = mayBeInactive && !requests[i].isActive();
        natives_[i] = isLeftOut ? MPI_REQUEST_NULL : beginWait(requests[i], what);
      }
    }
    std::span<MPI_Request> natives() { return natives_.span(); }
    // What isDone(index) tells is done, and so is what has failed. The others are under way still.
    template <class IsDone>
    void end(const IsDone& isDone) {
      for (size_t i = 0; i < requests_.size(); ++i) {
        if (requests_[i].state_.load(std::memory_order_relaxed) == State::WaitedFor) {
          endWait(requests_[i], natives_[i], natives_[i] == MPI_REQUEST_NULL || isDone(i));
        }
      }
    }

   private:
    std::span<Request> requests_;
    Few<MPI_Request> natives_;
  };
};

}  // namespace detail

namespace mpi {
namespace {

using detail::Few;
using detail::MpiEngine;
using detail::MpiRequests;
using detail::MpiWait;

constexpr const char* kWait = "mpi::wait()";
constexpr const char* kWaitAll = "mpi::waitAll()";
constexpr const char* kWaitAny = "mpi::waitAny()";

// Each waits until `limit`, and sets `code` to MPI's.
std::optional<Status> awaitNative(MPI_Request& request, const Limit& limit, int& code) {
  MpiWait wait{.requests = {&request, 1}};
  const bool isDone = MpiEngine::await(wait, limit, kWait);
  code = wait.result;
  return isDone ? std::optional(Status(wait.status)) : std::nullopt;
}

std::optional<Status> awaitOne(MPI_Request& request, const Limit& limit, int& code) {
  WEFT_ASSERT(request != MPI_REQUEST_NULL,
              "mpi::wait(): the request is MPI_REQUEST_NULL: it was waited for before, or never started.");
  return awaitNative(request, limit, code);
}

std::optional<Status> awaitOne(Request& request, const Limit& limit, int& code) {
  MPI_Request native = MpiRequests::beginWait(request, kWait);
  const std::optional<Status> status = awaitNative(native, limit, code);
  MpiRequests::endWait(request, native, status.has_value());
  return status;
}

bool awaitAll(std::span<MPI_Request> requests, std::span<MPI_Status> statuses, const Limit& limit,
              int& code) {
  WEFT_ASSERT(statuses.empty() || statuses.size() == requests.size(),
              "mpi::waitAll(): there are %zu statuses for %zu requests.", statuses.size(), requests.size());
  Few<MPI_Status> own(statuses.empty() ? requests.size() : 0);
  MpiWait wait{
      .kind = MpiWait::Kind::All, .requests = requests, .statuses = statuses.empty() ? own.span() : statuses};
  const bool areDone = MpiEngine::await(wait, limit, kWaitAll);
  code = wait.result;
  return areDone;
}

bool awaitAll(std::span<Request> requests, const Limit& limit, int& code) {
  Few<MPI_Status> statuses(requests.size());  // before the wait begins, since it may throw
  MpiRequests::Several several(requests, kWaitAll, false);
  const bool areDone = awaitAll(several.natives(), statuses.span(), limit, code);
  several.end([&](size_t) { return areDone; });
  return areDone;
}

std::optional<Completed> awaitAny(std::span<MPI_Request> requests, const Limit& limit, int& code) {
  MpiWait wait{.kind = MpiWait::Kind::Any, .requests = requests};
  const bool isAnyDone = MpiEngine::await(wait, limit, kWaitAny);
  code = wait.result;
  if (!isAnyDone || wait.index == MPI_UNDEFINED) {
    return std::nullopt;
  }
  return Completed{static_cast<size_t>(wait.index), Status(wait.status)};
}

std::optional<Completed> awaitAny(std::span<Request> requests, const Limit& limit, int& code) {
  MpiRequests::Several several(requests, kWaitAny, true);
  const std::optional<Completed> done = awaitAny(several.natives(), limit, code);
  several.end([&](size_t index) { return done && done->index == index; });
  return done;
}

// Calls function(code), and makes an exception of the code, or sets `error`.
template <class F>
auto orThrow(const char* name, const F& function) {
  int code = MPI_SUCCESS;
  auto result = function(code);
  detail::check(code, name);
  return result;
}
template <class F>
auto orSet(std::error_code& error, const F& function) {
  int code = MPI_SUCCESS;
  auto result = function(code);
  detail::setError(error, code);
  return result;
}

}  // namespace

int Status::count(MPI_Datatype type) const {
  int number = 0;
  detail::check(MPI_Get_count(&status_, type, &number), "MPI_Get_count");
  return number;
}

bool Status::isCancelled() const {
  int wasCancelled = 0;
  detail::check(MPI_Test_cancelled(&status_, &wasCancelled), "MPI_Test_cancelled");
  return wasCancelled != 0;
}

Request::Request(MPI_Request taken, Kind kind) noexcept : request_(taken), kind_(kind) {
  if (taken != MPI_REQUEST_NULL) {
    state_.store(kind >= Kind::Persistent ? State::Inactive : State::Active, std::memory_order_relaxed);
  }
}

Request::Request(Request&& other) noexcept
    : request_(std::exchange(other.request_, MPI_REQUEST_NULL)), kind_(other.kind_) {
  const State state = other.state_.exchange(State::None, std::memory_order_relaxed);
  WEFT_ASSERT(state != State::WaitedFor, "an mpi::Request was moved while a fiber waits for it.");
  state_.store(state, std::memory_order_relaxed);
}

Request& Request::operator=(Request&& other) noexcept {
  if (this != &other) {
    std::destroy_at(this);
    std::construct_at(this, std::move(other));
  }
  return *this;
}

Request::~Request() {
  if (state_.load(std::memory_order_relaxed) == State::None) {
    return;
  }
  detail::MpiEngine& engine = detail::MpiEngine::current("~mpi::Request()");
  if (isActive()) {
    if (MpiRequests::isReceive(*this)) {
      engine.call([&] { return MPI_Cancel(&request_); });
    }
    std::error_code ignored;
    wait(ignored);
  }
  if (request_ != MPI_REQUEST_NULL) {
    engine.call([&] { return MPI_Request_free(&request_); });
  }
}

void Request::start() {
  MpiRequests::setStarted(*this);
  const int code =
      detail::MpiEngine::current("mpi::Request::start()").call([&] { return MPI_Start(&request_); });
  if (code != MPI_SUCCESS) {
    state_.store(State::Inactive, std::memory_order_relaxed);
    detail::check(code, "MPI_Start");
  }
}

void Request::cancel() {
  WEFT_ASSERT(isActive(), "mpi::Request::cancel(): the request has no operation under way.");
  const int code =
      detail::MpiEngine::current("mpi::Request::cancel()").call([&] { return MPI_Cancel(&request_); });
  detail::check(code, "MPI_Cancel");
}

Status Request::wait() { return mpi::wait(*this); }
Status Request::wait(std::error_code& error) { return mpi::wait(*this, error); }
std::optional<Status> Request::waitFor(const Limit& limit) { return mpi::waitFor(*this, limit); }
std::optional<Status> Request::test() { return mpi::waitFor(*this, detail::TimePoint::min()); }

Status wait(Request& request) {
  return *orThrow("MPI_Wait", [&](int& code) { return awaitOne(request, {}, code); });
}
Status wait(Request& request, std::error_code& error) {
  return *orSet(error, [&](int& code) { return awaitOne(request, {}, code); });
}
Status wait(MPI_Request& request) {
  return *orThrow("MPI_Wait", [&](int& code) { return awaitOne(request, {}, code); });
}
Status wait(MPI_Request& request, std::error_code& error) {
  return *orSet(error, [&](int& code) { return awaitOne(request, {}, code); });
}
std::optional<Status> waitFor(Request& request, const Limit& limit) {
  return orThrow("MPI_Wait", [&](int& code) { return awaitOne(request, limit, code); });
}
std::optional<Status> waitFor(MPI_Request& request, const Limit& limit) {
  return orThrow("MPI_Wait", [&](int& code) { return awaitOne(request, limit, code); });
}

void waitAll(std::span<Request> requests) { (void)waitAllFor(requests, {}); }
void waitAll(std::span<Request> requests, std::error_code& error) {
  orSet(error, [&](int& code) { return awaitAll(requests, {}, code); });
}
void waitAll(std::span<MPI_Request> requests, std::span<MPI_Status> statuses) {
  orThrow("MPI_Waitall", [&](int& code) { return awaitAll(requests, statuses, {}, code); });
}
void waitAll(std::span<MPI_Request> requests, std::error_code& error, std::span<MPI_Status> statuses) {
  orSet(error, [&](int& code) { return awaitAll(requests, statuses, {}, code); });
}
bool waitAllFor(std::span<Request> requests, const Limit& limit) {
  return orThrow("MPI_Waitall", [&](int& code) { return awaitAll(requests, limit, code); });
}
bool waitAllFor(std::span<MPI_Request> requests, const Limit& limit) {
  return orThrow("MPI_Waitall", [&](int& code) { return awaitAll(requests, {}, limit, code); });
}

std::optional<Completed> waitAny(std::span<Request> requests) { return waitAnyFor(requests, {}); }
std::optional<Completed> waitAny(std::span<Request> requests, std::error_code& error) {
  return orSet(error, [&](int& code) { return awaitAny(requests, {}, code); });
}
std::optional<Completed> waitAny(std::span<MPI_Request> requests) { return waitAnyFor(requests, {}); }
std::optional<Completed> waitAny(std::span<MPI_Request> requests, std::error_code& error) {
  return orSet(error, [&](int& code) { return awaitAny(requests, {}, code); });
}
std::optional<Completed> waitAnyFor(std::span<Request> requests, const Limit& limit) {
  return orThrow("MPI_Waitany", [&](int& code) { return awaitAny(requests, limit, code); });
}
std::optional<Completed> waitAnyFor(std::span<MPI_Request> requests, const Limit& limit) {
  return orThrow("MPI_Waitany", [&](int& code) { return awaitAny(requests, limit, code); });
}

}  // namespace mpi
}  // namespace weft::inline v0_1
