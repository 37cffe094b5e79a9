// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <cstddef>
#include <initializer_list>
#include <utility>

#include "weft/export.h"
#include "weft/mpi/native.h"

namespace weft::inline v0_1::mpi {

// Owns a derived datatype of MPI, which may be used at once. Of struct Particle { double place[3]; int kind;
// }:
//
//   const weft::mpi::Datatype particle = weft::mpi::Datatype::structure(
//       sizeof(Particle),
//       {{offsetof(Particle, place), 3, MPI_DOUBLE}, {offsetof(Particle, kind), 1, MPI_INT}});
//   weft::mpi::Request sent = world.isend({particles.data(), particles.size(), particle.get()}, right);
// Errors: Error, where MPI refuses.
class Datatype {
 public:
  // A part of a structure: `count` values of `type`, `offset` bytes from its beginning.
  struct Member {
    size_t offset;      // in bytes
    size_t count;       // values in a row
    MPI_Datatype type;  // of each
  };

  // Has no datatype, or takes over `taken`, which MPI_Type_commit(3) was called for.
  Datatype() = default;
  explicit Datatype(MPI_Datatype taken) noexcept : type_(taken) {}
  Datatype(Datatype&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  Datatype& operator=(Datatype&& other) noexcept {
    Datatype taken(std::move(other));
    std::swap(type_, taken.type_);
    return *this;
  }
  // Frees the datatype. Operations that use it are not affected.
  WEFT_EXPORT ~Datatype();

  // Return: contiguous(): `count` values in a row. vector(): `count` blocks of `length` values, whose
  // beginnings are `stride` values apart, such as a column of a matrix. structure(): the members of an object
  // of `size` bytes.
  WEFT_EXPORT static Datatype contiguous(size_t count, MPI_Datatype type);
  WEFT_EXPORT static Datatype vector(size_t count, size_t length, size_t stride, MPI_Datatype type);
  WEFT_EXPORT static Datatype structure(size_t size, std::initializer_list<Member> members);

  // Return: get(): MPI's handle, or MPI_DATATYPE_NULL; operator bool: whether there is one.
  MPI_Datatype get() const noexcept { return type_; }
  explicit operator bool() const noexcept { return type_ != MPI_DATATYPE_NULL; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace weft::inline v0_1::mpi

#include "weft/detail/base/macros_end.h"
