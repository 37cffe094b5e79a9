// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/mpi/datatype.h"

#include <vector>

#include "mpi/engine.h"
#include "mpi/throw_error.h"
#include "weft/mpi/buffer.h"

namespace weft::inline v0_1::mpi {
namespace {

using detail::MpiEngine;

Datatype committed(MPI_Datatype type) {
  Datatype owned(type);
  detail::check(MpiEngine::callOrHere([&] { return MPI_Type_commit(&type); }), "MPI_Type_commit");
  return owned;
}

}  // namespace

Datatype::~Datatype() {
  int isFinalized = 0;
  if (type_ != MPI_DATATYPE_NULL && MPI_Finalized(&isFinalized) == MPI_SUCCESS && isFinalized == 0) {
    MpiEngine::callOrHere([&] { return MPI_Type_free(&type_); });
  }
}

Datatype Datatype::contiguous(size_t count, MPI_Datatype type) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const int number = detail::checkedCount(count);
  detail::check(MpiEngine::callOrHere([&] { return MPI_Type_contiguous(number, type, &made); }),
                "MPI_Type_contiguous");
  return committed(made);
}

Datatype Datatype::vector(size_t count, size_t length, size_t stride, MPI_Datatype type) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  detail::check(MpiEngine::callOrHere([&] {
                  return MPI_Type_vector(detail::checkedCount(count), detail::checkedCount(length),
                                         detail::checkedCount(stride), type, &made);
                }),
                "MPI_Type_vector");
  return committed(made);
}

Datatype Datatype::structure(size_t size, std::initializer_list<Member> members) {
  std::vector<int> counts;
  std::vector<MPI_Aint> offsets;
  std::vector<MPI_Datatype> types;
  for (const Member& member : members) {
    counts.push_back(detail::checkedCount(member.count));
    offsets.push_back(static_cast<MPI_Aint>(member.offset));
    types.push_back(member.type);
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  detail::check(MpiEngine::callOrHere([&] {
                  return MPI_Type_create_struct(detail::checkedCount(members.size()), counts.data(),
                                                offsets.data(), types.data(), &made);
                }),
                "MPI_Type_create_struct");
  const Datatype withoutGap(made);
  // An array of such objects has them `size` bytes apart.
  MPI_Datatype resized = MPI_DATATYPE_NULL;
  detail::check(MpiEngine::callOrHere(
                    [&] { return MPI_Type_create_resized(made, 0, static_cast<MPI_Aint>(size), &resized); }),
                "MPI_Type_create_resized");
  return committed(resized);
}

}  // namespace weft::inline v0_1::mpi
