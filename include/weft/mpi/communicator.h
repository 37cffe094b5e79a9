// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "weft/export.h"
#include "weft/mpi/buffer.h"
#include "weft/mpi/native.h"
#include "weft/mpi/request.h"

namespace weft::inline v0_1::mpi {

class Message;

// Ranks that exchange messages, and one's own place among them: owns an MPI_Comm.
//
//   const weft::mpi::Communicator& world = weft::mpi::world();
//   const int right = (world.rank() + 1) % world.size();
//   const int left = (world.rank() + world.size() - 1) % world.size();
//   std::vector<double> mine(100, 1), theirs(100);
//   world.sendrecv(mine, right, theirs, left);
//   double sum = 0;
//   world.allreduce(theirs.front(), sum, MPI_SUM);
// Each function does what the one of MPI of its name does, and suspends the fiber, or blocks the thread, for
// as long. Those whose names begin with i start it, and return a Request. Several fibers may use a
// communicator. But all ranks must call its collective functions, from barrier() on, in one order: so one
// fiber of each rank calls them, or those that do have a communicator of their own, which duplicate() makes.
// Errors: Error, or the code in `error`; mismatched sizes end the program with a message.
class Communicator {
 public:
  // A receive or a probe takes a message of any rank, or with any tag.
  static constexpr int kAnySource = MPI_ANY_SOURCE;
  static constexpr int kAnyTag = MPI_ANY_TAG;

  // Has no ranks, or takes over `taken`, whose errors are returned from now on (MPI_ERRORS_RETURN).
  Communicator() = default;
  WEFT_EXPORT explicit Communicator(MPI_Comm taken);
  Communicator(Communicator&& other) noexcept { swap(other); }
  Communicator& operator=(Communicator&& other) noexcept {
    Communicator taken(std::move(other));
    swap(taken);
    return *this;
  }
  // Frees the MPI_Comm, unless it is MPI_COMM_WORLD or MPI_COMM_SELF.
  WEFT_EXPORT ~Communicator();

  // Returns: the caller's number, from 0; how many ranks there are.
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  MPI_Comm get() const noexcept { return comm_; }

  // Return a communicator of the same ranks, or of those with one `color`, in the order of `key`. All ranks
  // call it. split() blocks a thread of blocking_call(), or with another level than Multiple that of MPI.
  WEFT_EXPORT Communicator duplicate() const;
  WEFT_EXPORT Communicator split(int color, int key = 0) const;

  // Send to the rank `to`, and receive from the rank `from`, a message with the tag `tag`. recv() returns who
  // has sent it, and how much. sendrecv() does both at the same time.
  WEFT_EXPORT void send(ConstBuffer data, int to, int tag = 0) const;
  WEFT_EXPORT void send(ConstBuffer data, int to, int tag, std::error_code& error) const;
  WEFT_EXPORT Request isend(ConstBuffer data, int to, int tag = 0) const;
  WEFT_EXPORT Status recv(Buffer room, int from = kAnySource, int tag = kAnyTag) const;
  WEFT_EXPORT Status recv(Buffer room, int from, int tag, std::error_code& error) const;
  WEFT_EXPORT Request irecv(Buffer room, int from = kAnySource, int tag = kAnyTag) const;
  WEFT_EXPORT Status sendrecv(ConstBuffer data, int to, Buffer room, int from, int sendTag = 0,
                              int recvTag = kAnyTag) const;
  // Make persistent requests, for Request::start().
  WEFT_EXPORT Request sendInit(ConstBuffer data, int to, int tag = 0) const;
  WEFT_EXPORT Request recvInit(Buffer room, int from = kAnySource, int tag = kAnyTag) const;

  // Wait until a message is there, or ask whether one is, without receiving it. What probe() has seen may be
  // received by another fiber meanwhile. What mprobe() returns is the caller's alone.
  WEFT_EXPORT Status probe(int from = kAnySource, int tag = kAnyTag) const;
  WEFT_EXPORT std::optional<Status> probeFor(const Limit& limit, int from = kAnySource,
                                             int tag = kAnyTag) const;
  WEFT_EXPORT std::optional<Status> tryProbe(int from = kAnySource, int tag = kAnyTag) const;
  WEFT_EXPORT Message mprobe(int from = kAnySource, int tag = kAnyTag) const;

  // From here on all ranks take part. barrier() waits for all. bcast() sends what `root` has to all.
  WEFT_EXPORT void barrier() const;
  WEFT_EXPORT Request ibarrier() const;
  WEFT_EXPORT void bcast(Buffer data, int root = 0) const;
  WEFT_EXPORT Request ibcast(Buffer data, int root = 0) const;
  // `result` counts at `root` alone. All of these have as many values as `data`.
  WEFT_EXPORT void reduce(ConstBuffer data, Buffer result, MPI_Op operation, int root = 0) const;
  WEFT_EXPORT Request ireduce(ConstBuffer data, Buffer result, MPI_Op operation, int root = 0) const;
  WEFT_EXPORT void allreduce(ConstBuffer data, Buffer result, MPI_Op operation) const;
  WEFT_EXPORT Request iallreduce(ConstBuffer data, Buffer result, MPI_Op operation) const;
  // In place: `data` has the values, and then the result.
  WEFT_EXPORT void allreduce(Buffer data, MPI_Op operation) const;
  WEFT_EXPORT void scan(ConstBuffer data, Buffer result, MPI_Op operation) const;
  WEFT_EXPORT void exscan(ConstBuffer data, Buffer result, MPI_Op operation) const;
  // `all` has size() times as many values as `mine`; at `root` alone it counts.
  WEFT_EXPORT void gather(ConstBuffer mine, Buffer all, int root = 0) const;
  WEFT_EXPORT Request igather(ConstBuffer mine, Buffer all, int root = 0) const;
  WEFT_EXPORT void scatter(ConstBuffer all, Buffer mine, int root = 0) const;
  WEFT_EXPORT Request iscatter(ConstBuffer all, Buffer mine, int root = 0) const;
  WEFT_EXPORT void allgather(ConstBuffer mine, Buffer all) const;
  WEFT_EXPORT Request iallgather(ConstBuffer mine, Buffer all) const;
  // Both have size() times as many values as each rank sends to each.
  WEFT_EXPORT void alltoall(ConstBuffer data, Buffer result) const;
  WEFT_EXPORT Request ialltoall(ConstBuffer data, Buffer result) const;
  // Of different lengths: `counts` has, for each rank, how many values of the buffer are of or for that rank.
  // They lie one after the other.
  WEFT_EXPORT void gatherv(ConstBuffer mine, Buffer all, std::span<const int> counts, int root = 0) const;
  WEFT_EXPORT void scatterv(ConstBuffer all, std::span<const int> counts, Buffer mine, int root = 0) const;
  WEFT_EXPORT void allgatherv(ConstBuffer mine, Buffer all, std::span<const int> counts) const;
  WEFT_EXPORT void alltoallv(ConstBuffer data, std::span<const int> counts, Buffer result,
                             std::span<const int> resultCounts) const;

 private:
  void swap(Communicator& other) noexcept {
    std::swap(comm_, other.comm_);
    std::swap(rank_, other.rank_);
    std::swap(size_, other.size_);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = -1;
  int size_ = 0;
};

// Returns: the communicator of all ranks, or of this one alone. Lifetime: that of the Environment.
WEFT_EXPORT const Communicator& world();
WEFT_EXPORT const Communicator& self();

// A message that Communicator::mprobe() has taken out for its caller.
//
//   weft::mpi::Message message = world.mprobe();
//   std::vector<int> values(message.status().count<int>());
//   message.recv(values);
// Lifetime: it is received before it is destroyed; otherwise a message ends the program.
class Message {
 public:
  // Takes over a message that MPI_Mprobe(3) or MPI_Improbe(3) has matched.
  Message(MPI_Message taken, const Status& status) noexcept : message_(taken), status_(status) {}
  Message(Message&& other) noexcept
      : message_(std::exchange(other.message_, MPI_MESSAGE_NULL)), status_(other.status_) {}
  Message& operator=(Message&&) = delete;
  WEFT_EXPORT ~Message();

  // Returns: who has sent it, its tag, and how many values it has.
  const Status& status() const noexcept { return status_; }
  // Receives it, once.
  WEFT_EXPORT Status recv(Buffer room);

 private:
  MPI_Message message_;
  Status status_;
};

}  // namespace weft::inline v0_1::mpi

#include "weft/detail/base/macros_end.h"
