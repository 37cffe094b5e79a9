// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "delay.h"

#include <mpi.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace delay {
namespace {

using Clock = std::chrono::steady_clock;

// The requests that are under way, and when they may be done at the earliest.
//
// MPI may give one handle to several requests that are done at once. Then all of them wait for the last one.
class Posted {
 public:
  void setDelay(std::chrono::nanoseconds least) {
    const std::lock_guard lock(mutex_);
    delay_ = least;
  }
  void add(MPI_Request request) {
    const std::lock_guard lock(mutex_);
    requests_.emplace_back(request, Clock::now() + delay_);
  }
  void remove(MPI_Request request) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(requests_.begin(), requests_.end(),
                                    [request](const auto& entry) { return entry.first == request; });
    if (found != requests_.end()) {
      requests_.erase(found);
    }
  }
  Clock::time_point due(MPI_Request request) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(requests_.rbegin(), requests_.rend(),
                                    [request](const auto& entry) { return entry.first == request; });
    return found != requests_.rend() ? found->second : Clock::time_point();
  }
  bool isDue(MPI_Request request) { return due(request) <= Clock::now(); }

 private:
  std::mutex mutex_;
  std::vector<std::pair<MPI_Request, Clock::time_point>> requests_;
  std::chrono::nanoseconds delay_{};
};

Posted posted;

int post(int code, int peer, const MPI_Request* request) {
  if (code == MPI_SUCCESS && peer != MPI_PROC_NULL) {
    posted.add(*request);
  }
  return code;
}

// MPI moves messages on, as a test of the request would.
void progress(MPI_Request request) {
  int isDone = 0;
  PMPI_Request_get_status(request, &isDone, MPI_STATUS_IGNORE);
}

void sleepUntilDue(MPI_Request request) {
  constexpr auto kLatest = std::chrono::microseconds(100);  // by which a sleep may be too long
  const Clock::time_point due = posted.due(request);
  if (due - kLatest > Clock::now()) {
    std::this_thread::sleep_until(due - kLatest);
  }
  while (Clock::now() < due) {
    progress(request);
  }
}

// What a test of several requests may see: those that are due.
class Due {
 public:
  Due(int count, MPI_Request* requests)
      : requests_(requests), before_(requests, requests + count), seen_(before_) {
    for (MPI_Request& request : seen_) {
      if (request != MPI_REQUEST_NULL && !posted.isDue(request)) {
        progress(request);
        request = MPI_REQUEST_NULL;
        areAll_ = false;
      }
    }
  }
  MPI_Request* seen() { return seen_.data(); }
  bool areAll() const { return areAll_; }
  void setDone(int index) {
    const auto i = static_cast<size_t>(index);
    posted.remove(before_[i]);
    requests_[i] = seen_[i];
  }

 private:
  MPI_Request* requests_;
  std::vector<MPI_Request> before_;
  std::vector<MPI_Request> seen_;
  bool areAll_ = true;
};

}  // namespace

void set(std::chrono::nanoseconds least) { posted.setDelay(least); }

}  // namespace delay

using delay::posted;

extern "C" {

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return delay::post(PMPI_Isend(data, count, type, to, tag, comm, request), to, request);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return delay::post(PMPI_Irecv(data, count, type, from, tag, comm, request), from, request);
}

int MPI_Test(MPI_Request* request, int* isDone, MPI_Status* status) {
  const MPI_Request before = *request;
  if (!posted.isDue(before)) {
    delay::progress(before);
    *isDone = 0;
    return MPI_SUCCESS;
  }
  const int code = PMPI_Test(request, isDone, status);
  if (*isDone != 0) {
    posted.remove(before);
  }
  return code;
}

int MPI_Testsome(int count, MPI_Request requests[], int* numDone, int done[], MPI_Status statuses[]) {
  delay::Due due(count, requests);
  const int code = PMPI_Testsome(count, due.seen(), numDone, done, statuses);
  if (*numDone == MPI_UNDEFINED && !due.areAll()) {
    *numDone = 0;
  }
  for (int i = 0; i < *numDone; ++i) {
    due.setDone(done[i]);
  }
  return code;
}

int MPI_Testall(int count, MPI_Request requests[], int* areDone, MPI_Status statuses[]) {
  delay::Due due(count, requests);
  *areDone = 0;
  if (!due.areAll()) {
    return MPI_SUCCESS;
  }
  const int code = PMPI_Testall(count, due.seen(), areDone, statuses);
  for (int i = 0; i < count && *areDone != 0; ++i) {
    due.setDone(i);
  }
  return code;
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* isDone, MPI_Status* status) {
  delay::Due due(count, requests);
  const int code = PMPI_Testany(count, due.seen(), index, isDone, status);
  if (*index == MPI_UNDEFINED && !due.areAll()) {
    *isDone = 0;
  } else if (*index != MPI_UNDEFINED && *isDone != 0) {
    due.setDone(*index);
  }
  return code;
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const MPI_Request before = *request;
  delay::sleepUntilDue(before);
  const int code = PMPI_Wait(request, status);
  posted.remove(before);
  return code;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const std::vector<MPI_Request> before(requests, requests + count);
  for (const MPI_Request request : before) {
    delay::sleepUntilDue(request);
  }
  const int code = PMPI_Waitall(count, requests, statuses);
  for (const MPI_Request request : before) {
    posted.remove(request);
  }
  return code;
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_Isend(data, count, type, to, tag, comm, &request);
  return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_Irecv(data, count, type, from, tag, comm, &request);
  return code != MPI_SUCCESS ? code : MPI_Wait(&request, status);
}

int MPI_Sendrecv(const void* data, int count, MPI_Datatype type, int to, int tag, void* room, int roomCount,
                 MPI_Datatype roomType, int from, int roomTag, MPI_Comm comm, MPI_Status* status) {
  MPI_Request received = MPI_REQUEST_NULL;
  MPI_Request sent = MPI_REQUEST_NULL;
  int code = MPI_Irecv(room, roomCount, roomType, from, roomTag, comm, &received);
  if (code == MPI_SUCCESS) {
    code = MPI_Isend(data, count, type, to, tag, comm, &sent);
  }
  if (code == MPI_SUCCESS) {
    code = MPI_Wait(&sent, MPI_STATUS_IGNORE);
  }
  return code != MPI_SUCCESS ? code : MPI_Wait(&received, status);
}
}
