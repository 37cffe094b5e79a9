// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "mpi/communicator.h"

#include "weft/blockingcall.h"
#include "weft/debug.h"

namespace weft::inline v0_1::mpi {
namespace {

using detail::finish;
using detail::MpiEngine;
using detail::MpiOperation;
using detail::MpiWait;
using detail::start;
using Kind = Request::Kind;

auto sendOf(const ConstBuffer& data, int to, int tag, MPI_Comm comm) {
  return MpiOperation{"MPI_Isend", [=](MPI_Request* request) {
                        return MPI_Isend(data.data, data.count, data.type, to, tag, comm, request);
                      }};
}

auto recvOf(const Buffer& room, int from, int tag, MPI_Comm comm) {
  return MpiOperation{"MPI_Irecv", [=](MPI_Request* request) {
                        return MPI_Irecv(room.data, room.count, room.type, from, tag, comm, request);
                      }};
}

bool awaitMessage(MpiWait& wait, const Limit& limit, const char* name) {
  const bool isThere = MpiEngine::await(wait, limit, name);
  detail::check(wait.result, name);
  return isThere;
}

}  // namespace

Communicator::Communicator(MPI_Comm taken) : comm_(taken) {
  if (taken == MPI_COMM_NULL) {
    return;
  }
  auto returnErrors = [&] { return MPI_Comm_set_errhandler(taken, MPI_ERRORS_RETURN); };
  detail::check(MpiEngine::callOrHere(returnErrors), "MPI_Comm_set_errhandler");
  detail::check(MPI_Comm_rank(taken, &rank_), "MPI_Comm_rank");
  detail::check(MPI_Comm_size(taken, &size_), "MPI_Comm_size");
}

Communicator::~Communicator() {
  if (comm_ != MPI_COMM_NULL && comm_ != MPI_COMM_WORLD && comm_ != MPI_COMM_SELF) {
    MpiEngine::current("~mpi::Communicator()").call([&] { return MPI_Comm_free(&comm_); });
  }
}

Communicator Communicator::duplicate() const {
  MPI_Comm made = MPI_COMM_NULL;
  finish(MpiOperation{"MPI_Comm_idup",
                      [&](MPI_Request* request) { return MPI_Comm_idup(comm_, &made, request); }});
  return Communicator(made);
}

// No function of MPI starts a split.
Communicator Communicator::split(int color, int key) const {
  MpiEngine& engine = MpiEngine::current("MPI_Comm_split");
  MPI_Comm made = MPI_COMM_NULL;
  int code = MPI_SUCCESS;
  auto splitNow = [&] { return code = MPI_Comm_split(comm_, color, key, &made); };
  if (engine.level() == ThreadLevel::Multiple) {
    blocking_call(splitNow);
  } else {
    engine.call(splitNow);
  }
  detail::check(code, "MPI_Comm_split");
  return Communicator(made);
}

void Communicator::send(ConstBuffer data, int to, int tag) const { finish(sendOf(data, to, tag, comm_)); }
void Communicator::send(ConstBuffer data, int to, int tag, std::error_code& error) const {
  Status status;
  detail::setError(error, finish(sendOf(data, to, tag, comm_), status));
}
Request Communicator::isend(ConstBuffer data, int to, int tag) const {
  return start(sendOf(data, to, tag, comm_));
}

Status Communicator::recv(Buffer room, int from, int tag) const {
  return finish(recvOf(room, from, tag, comm_));
}
Status Communicator::recv(Buffer room, int from, int tag, std::error_code& error) const {
  Status status;
  detail::setError(error, finish(recvOf(room, from, tag, comm_), status));
  return status;
}
Request Communicator::irecv(Buffer room, int from, int tag) const {
  return start(recvOf(room, from, tag, comm_), Kind::Receive);
}

// The receive is posted first, so that the message has a place to go to.
Status Communicator::sendrecv(ConstBuffer data, int to, Buffer room, int from, int sendTag,
                              int recvTag) const {
  Request received = irecv(room, from, recvTag);
  send(data, to, sendTag);
  return received.wait();
}

Request Communicator::sendInit(ConstBuffer data, int to, int tag) const {
  return start(MpiOperation{"MPI_Send_init",
                            [&](MPI_Request* request) {
                              return MPI_Send_init(data.data, data.count, data.type, to, tag, comm_, request);
                            }},
               Kind::Persistent);
}
Request Communicator::recvInit(Buffer room, int from, int tag) const {
  return start(MpiOperation{"MPI_Recv_init",
                            [&](MPI_Request* request) {
                              return MPI_Recv_init(room.data, room.count, room.type, from, tag, comm_,
                                                   request);
                            }},
               Kind::PersistentReceive);
}

Status Communicator::probe(int from, int tag) const { return *probeFor({}, from, tag); }
std::optional<Status> Communicator::probeFor(const Limit& limit, int from, int tag) const {
  MpiWait wait{.kind = MpiWait::Kind::Probe, .comm = comm_, .source = from, .tag = tag};
  return awaitMessage(wait, limit, "MPI_Iprobe") ? std::optional(Status(wait.status)) : std::nullopt;
}
std::optional<Status> Communicator::tryProbe(int from, int tag) const {
  return probeFor(detail::TimePoint::min(), from, tag);
}
Message Communicator::mprobe(int from, int tag) const {
  MpiWait wait{.kind = MpiWait::Kind::MatchedProbe, .comm = comm_, .source = from, .tag = tag};
  (void)awaitMessage(wait, {}, "MPI_Improbe");
  return {wait.message, Status(wait.status)};
}

Message::~Message() {
  WEFT_ASSERT(message_ == MPI_MESSAGE_NULL, "an mpi::Message was destroyed that nobody has received.");
}

Status Message::recv(Buffer room) {
  WEFT_ASSERT(message_ != MPI_MESSAGE_NULL, "mpi::Message::recv(): the message was received before.");
  return finish(MpiOperation{"MPI_Imrecv", [&](MPI_Request* request) {
                               return MPI_Imrecv(room.data, room.count, room.type, &message_, request);
                             }});
}

const Communicator& world() { return MpiEngine::current("mpi::world()").world(); }
const Communicator& self() { return MpiEngine::current("mpi::self()").self(); }

}  // namespace weft::inline v0_1::mpi
