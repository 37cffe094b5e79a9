// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>
#include <vector>

#include "mpi/communicator.h"
#include "weft/debug.h"

namespace weft::inline v0_1::mpi {
namespace {

using detail::finish;
using detail::MpiOperation;
using detail::start;

// The buffers of one rank have as many values.
void assertEqual(const ConstBuffer& data, const ConstBuffer& result, const char* what) {
  WEFT_ASSERT(data.count == result.count, "mpi::Communicator::%s(): %d values, and room for %d.", what,
              data.count, result.count);
}

// `all` has those of all ranks.
void assertAll(const ConstBuffer& mine, const ConstBuffer& all, int size, const char* what) {
  WEFT_ASSERT(static_cast<int64_t>(mine.count) * size == all.count,
              "mpi::Communicator::%s(): %d values of each of %d ranks, and %d of all.", what, mine.count,
              size, all.count);
}

// Where the values of each rank begin that lie one after the other. `buffer` has `count` of them.
class Offsets {
 public:
  Offsets(std::span<const int> counts, int count, int size, const char* what) : offsets_(counts.size()) {
    WEFT_ASSERT(counts.size() == static_cast<size_t>(size),
                "mpi::Communicator::%s(): %zu counts for %d ranks.", what, counts.size(), size);
    const int64_t sum = std::accumulate(counts.begin(), counts.end(), int64_t{0});
    WEFT_ASSERT(sum == count, "mpi::Communicator::%s(): the counts sum up to %lld, and there are %d values.",
                what, static_cast<long long>(sum), count);
    std::exclusive_scan(counts.begin(), counts.end(), offsets_.begin(), 0);
  }
  const int* data() const { return offsets_.data(); }

 private:
  std::vector<int> offsets_;
};

auto barrierOf(MPI_Comm comm) {
  return MpiOperation{"MPI_Ibarrier", [=](MPI_Request* request) { return MPI_Ibarrier(comm, request); }};
}

auto bcastOf(const Buffer& data, int root, MPI_Comm comm) {
  return MpiOperation{"MPI_Ibcast", [=](MPI_Request* request) {
                        return MPI_Ibcast(data.data, data.count, data.type, root, comm, request);
                      }};
}

auto reduceOf(const ConstBuffer& data, const Buffer& result, MPI_Op operation, int root,
              const Communicator& ranks) {
  if (ranks.rank() == root) {
    assertEqual(data, result, "reduce");
  }
  return MpiOperation{"MPI_Ireduce", [=, comm = ranks.get()](MPI_Request* request) {
                        return MPI_Ireduce(data.data, result.data, data.count, data.type, operation, root,
                                           comm, request);
                      }};
}

auto allreduceOf(const ConstBuffer& data, const Buffer& result, MPI_Op operation, MPI_Comm comm) {
  assertEqual(data, result, "allreduce");
  return MpiOperation{"MPI_Iallreduce", [=](MPI_Request* request) {
                        return MPI_Iallreduce(data.data, result.data, data.count, data.type, operation, comm,
                                              request);
                      }};
}

auto gatherOf(const ConstBuffer& mine, const Buffer& all, int root, const Communicator& ranks) {
  if (ranks.rank() == root) {
    assertAll(mine, all, ranks.size(), "gather");
  }
  return MpiOperation{"MPI_Igather", [=, comm = ranks.get()](MPI_Request* request) {
                        return MPI_Igather(mine.data, mine.count, mine.type, all.data, mine.count, all.type,
                                           root, comm, request);
                      }};
}

auto scatterOf(const ConstBuffer& all, const Buffer& mine, int root, const Communicator& ranks) {
  if (ranks.rank() == root) {
    assertAll(mine, all, ranks.size(), "scatter");
  }
  return MpiOperation{"MPI_Iscatter", [=, comm = ranks.get()](MPI_Request* request) {
                        return MPI_Iscatter(all.data, mine.count, all.type, mine.data, mine.count, mine.type,
                                            root, comm, request);
                      }};
}

auto allgatherOf(const ConstBuffer& mine, const Buffer& all, const Communicator& ranks) {
  assertAll(mine, all, ranks.size(), "allgather");
  return MpiOperation{"MPI_Iallgather", [=, comm = ranks.get()](MPI_Request* request) {
                        return MPI_Iallgather(mine.data, mine.count, mine.type, all.data, mine.count,
                                              all.type, comm, request);
                      }};
}

auto alltoallOf(const ConstBuffer& data, const Buffer& result, const Communicator& ranks) {
  assertEqual(data, result, "alltoall");
  const int size = std::max(ranks.size(), 1);  // MPI refuses a communicator without ranks
  WEFT_ASSERT(data.count % size == 0,
              "mpi::Communicator::alltoall(): %d values are not as many for each of %d ranks.", data.count,
              size);
  const int each = data.count / size;
  return MpiOperation{"MPI_Ialltoall", [=, comm = ranks.get()](MPI_Request* request) {
                        return MPI_Ialltoall(data.data, each, data.type, result.data, each, result.type, comm,
                                             request);
                      }};
}

}  // namespace

void Communicator::barrier() const { finish(barrierOf(comm_)); }
Request Communicator::ibarrier() const { return start(barrierOf(comm_)); }

void Communicator::bcast(Buffer data, int root) const { finish(bcastOf(data, root, comm_)); }
Request Communicator::ibcast(Buffer data, int root) const { return start(bcastOf(data, root, comm_)); }

void Communicator::reduce(ConstBuffer data, Buffer result, MPI_Op operation, int root) const {
  finish(reduceOf(data, result, operation, root, *this));
}
Request Communicator::ireduce(ConstBuffer data, Buffer result, MPI_Op operation, int root) const {
  return start(reduceOf(data, result, operation, root, *this));
}

void Communicator::allreduce(ConstBuffer data, Buffer result, MPI_Op operation) const {
  finish(allreduceOf(data, result, operation, comm_));
}
void Communicator::allreduce(Buffer data, MPI_Op operation) const {
  finish(allreduceOf({MPI_IN_PLACE, static_cast<size_t>(data.count), data.type}, data, operation, comm_));
}
Request Communicator::iallreduce(ConstBuffer data, Buffer result, MPI_Op operation) const {
  return start(allreduceOf(data, result, operation, comm_));
}

void Communicator::scan(ConstBuffer data, Buffer result, MPI_Op operation) const {
  assertEqual(data, result, "scan");
  finish(MpiOperation{"MPI_Iscan", [&](MPI_Request* request) {
                        return MPI_Iscan(data.data, result.data, data.count, data.type, operation, comm_,
                                         request);
                      }});
}
void Communicator::exscan(ConstBuffer data, Buffer result, MPI_Op operation) const {
  assertEqual(data, result, "exscan");
  finish(MpiOperation{"MPI_Iexscan", [&](MPI_Request* request) {
                        return MPI_Iexscan(data.data, result.data, data.count, data.type, operation, comm_,
                                           request);
                      }});
}

void Communicator::gather(ConstBuffer mine, Buffer all, int root) const {
  finish(gatherOf(mine, all, root, *this));
}
Request Communicator::igather(ConstBuffer mine, Buffer all, int root) const {
  return start(gatherOf(mine, all, root, *this));
}

void Communicator::scatter(ConstBuffer all, Buffer mine, int root) const {
  finish(scatterOf(all, mine, root, *this));
}
Request Communicator::iscatter(ConstBuffer all, Buffer mine, int root) const {
  return start(scatterOf(all, mine, root, *this));
}

void Communicator::allgather(ConstBuffer mine, Buffer all) const { finish(allgatherOf(mine, all, *this)); }
Request Communicator::iallgather(ConstBuffer mine, Buffer all) const {
  return start(allgatherOf(mine, all, *this));
}

void Communicator::alltoall(ConstBuffer data, Buffer result) const {
  finish(alltoallOf(data, result, *this));
}
Request Communicator::ialltoall(ConstBuffer data, Buffer result) const {
  return start(alltoallOf(data, result, *this));
}

void Communicator::gatherv(ConstBuffer mine, Buffer all, std::span<const int> counts, int root) const {
  const bool isRoot = rank_ == root;
  const Offsets offsets(isRoot ? counts : std::span<const int>(), isRoot ? all.count : 0, isRoot ? size_ : 0,
                        "gatherv");
  finish(MpiOperation{"MPI_Igatherv", [&](MPI_Request* request) {
                        return MPI_Igatherv(mine.data, mine.count, mine.type, all.data, counts.data(),
                                            offsets.data(), all.type, root, comm_, request);
                      }});
}

void Communicator::scatterv(ConstBuffer all, std::span<const int> counts, Buffer mine, int root) const {
  const bool isRoot = rank_ == root;
  const Offsets offsets(isRoot ? counts : std::span<const int>(), isRoot ? all.count : 0, isRoot ? size_ : 0,
                        "scatterv");
  finish(MpiOperation{"MPI_Iscatterv", [&](MPI_Request* request) {
                        return MPI_Iscatterv(all.data, counts.data(), offsets.data(), all.type, mine.data,
                                             mine.count, mine.type, root, comm_, request);
                      }});
}

void Communicator::allgatherv(ConstBuffer mine, Buffer all, std::span<const int> counts) const {
  const Offsets offsets(counts, all.count, size_, "allgatherv");
  finish(MpiOperation{"MPI_Iallgatherv", [&](MPI_Request* request) {
                        return MPI_Iallgatherv(mine.data, mine.count, mine.type, all.data, counts.data(),
                                               offsets.data(), all.type, comm_, request);
                      }});
}

void Communicator::alltoallv(ConstBuffer data, std::span<const int> counts, Buffer result,
                             std::span<const int> resultCounts) const {
  const Offsets from(counts, data.count, size_, "alltoallv");
  const Offsets to(resultCounts, result.count, size_, "alltoallv");
  // MPICH takes two null pointers, which empty ranges may have, for one buffer.
  char none = 0;
  void* const room = result.data != nullptr ? result.data : &none;
  finish(MpiOperation{"MPI_Ialltoallv", [&](MPI_Request* request) {
                        return MPI_Ialltoallv(data.data, counts.data(), from.data(), data.type, room,
                                              resultCounts.data(), to.data(), result.type, comm_, request);
                      }});
}

}  // namespace weft::inline v0_1::mpi
