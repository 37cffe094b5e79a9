// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <complex>
#include <concepts>
#include <cstddef>
#include <memory>
#include <ranges>
#include <type_traits>

#include "weft/export.h"
#include "weft/mpi/native.h"

namespace weft::inline v0_1::detail {

// Returns: what MPI calls a T, or MPI_BYTE if it has no name for it.
template <class T>
MPI_Datatype mpiNameOf() {
  if constexpr (std::is_enum_v<T> && !std::same_as<T, std::byte>) {
    return detail::mpiNameOf<std::underlying_type_t<T>>();
  }
#define WEFT_MPI_NAME(type, name)             \
  else if constexpr (std::same_as<T, type>) { \
    return name;                              \
  }
  WEFT_MPI_NAME(bool, MPI_CXX_BOOL)
  WEFT_MPI_NAME(char, MPI_CHAR)
  WEFT_MPI_NAME(signed char, MPI_SIGNED_CHAR)
  WEFT_MPI_NAME(unsigned char, MPI_UNSIGNED_CHAR)
  WEFT_MPI_NAME(wchar_t, MPI_WCHAR)
  WEFT_MPI_NAME(short, MPI_SHORT)
  WEFT_MPI_NAME(unsigned short, MPI_UNSIGNED_SHORT)
  WEFT_MPI_NAME(int, MPI_INT)
  WEFT_MPI_NAME(unsigned, MPI_UNSIGNED)
  WEFT_MPI_NAME(long, MPI_LONG)
  WEFT_MPI_NAME(unsigned long, MPI_UNSIGNED_LONG)
  WEFT_MPI_NAME(long long, MPI_LONG_LONG)
  WEFT_MPI_NAME(unsigned long long, MPI_UNSIGNED_LONG_LONG)
  WEFT_MPI_NAME(float, MPI_FLOAT)
  WEFT_MPI_NAME(double, MPI_DOUBLE)
  WEFT_MPI_NAME(long double, MPI_LONG_DOUBLE)
  WEFT_MPI_NAME(std::complex<float>, MPI_CXX_FLOAT_COMPLEX)
  WEFT_MPI_NAME(std::complex<double>, MPI_CXX_DOUBLE_COMPLEX)
  WEFT_MPI_NAME(std::complex<long double>, MPI_CXX_LONG_DOUBLE_COMPLEX)
#undef WEFT_MPI_NAME
  else {
    return MPI_BYTE;
  }
}

}  // namespace weft::inline v0_1::detail

namespace weft::inline v0_1::mpi {

// What MPI calls a value of type T.
//
//   template <>
//   struct weft::mpi::DatatypeOf<Particle> {
//     static MPI_Datatype get() { return particleType; }  // a Datatype of the program's
//   };
// Without such a specialisation, numbers, bool, std::complex and enumerations have MPI's own, and a value of
// another type that may be copied as bytes is sent as bytes: then all ranks must have processors of one kind.
template <class T>
struct DatatypeOf {
  // Returns: MPI's datatype. It is called at each use.
  static MPI_Datatype get() { return detail::mpiNameOf<T>(); }
};

// A type whose values MPI moves: one with a DatatypeOf of its own, or one that may be copied as bytes.
template <class T>
concept Transferable = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;

}  // namespace weft::inline v0_1::mpi

namespace weft::inline v0_1::detail {

// MPI's count is an int. Ends the program with a message if `count` is more.
WEFT_EXPORT int checkedCount(size_t count);

// Whether the elements of R lie in a row.
template <class R>
concept Row = std::ranges::contiguous_range<R> && std::ranges::sized_range<R>;

// How many values of MPI's `count` values of type T are.
template <class T>
int countOf(size_t count) {
  return checkedCount(mpi::DatatypeOf<T>::get() == MPI_BYTE ? count * sizeof(T) : count);
}

}  // namespace weft::inline v0_1::detail

namespace weft::inline v0_1::mpi {

class Buffer;

// Values to be sent: a range whose elements lie in a row, one value, or `count` values of a type of MPI's.
// Lifetime: refers to the values, which stay as they are until the operation is done.
class ConstBuffer {
 public:
  // Has no values, or those that are given.
  ConstBuffer() = default;
  template <detail::Row R>
    requires Transferable<std::ranges::range_value_t<R>>
  ConstBuffer(const R& range)  // NOLINT(google-explicit-constructor)
      : data(std::ranges::data(range)),
        count(detail::countOf<std::ranges::range_value_t<R>>(std::ranges::size(range))),
        type(DatatypeOf<std::ranges::range_value_t<R>>::get()) {}
  template <class T>
    requires(Transferable<T> && !detail::Row<T> && !std::same_as<T, Buffer>)
  ConstBuffer(const T& value)  // NOLINT(google-explicit-constructor)
      : data(std::addressof(value)), count(detail::countOf<T>(1)), type(DatatypeOf<T>::get()) {}
  ConstBuffer(const Buffer& room);  // NOLINT(google-explicit-constructor)
  ConstBuffer(const void* values, size_t number, MPI_Datatype datatype)
      : data(values), count(detail::checkedCount(number)), type(datatype) {}

  // As MPI takes them: where the first value lies, how many there are, of which type.
  const void* data = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
};

// Room for values that are received, as ConstBuffer.
class Buffer {
 public:
  // Has no room, or what is given.
  Buffer() = default;
  template <detail::Row R>
    requires(Transferable<std::ranges::range_value_t<R>> &&
             !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>> &&
             (std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<R>))
  Buffer(R&& range)  // NOLINT(google-explicit-constructor)
      : data(std::ranges::data(range)),
        count(detail::countOf<std::ranges::range_value_t<R>>(std::ranges::size(range))),
        type(DatatypeOf<std::ranges::range_value_t<R>>::get()) {}
  template <class T>
    requires(Transferable<T> && !std::is_const_v<T> && !detail::Row<T> && !std::same_as<T, Buffer> &&
             !std::same_as<T, ConstBuffer>)
  Buffer(T& value)  // NOLINT(google-explicit-constructor)
      : data(std::addressof(value)), count(detail::countOf<T>(1)), type(DatatypeOf<T>::get()) {}
  Buffer(void* room, size_t number, MPI_Datatype datatype)
      : data(room), count(detail::checkedCount(number)), type(datatype) {}

  // As MPI takes them: where the first value lies, how many there are, of which type.
  void* data = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
};

inline ConstBuffer::ConstBuffer(const Buffer& room) : data(room.data), count(room.count), type(room.type) {}

}  // namespace weft::inline v0_1::mpi

#include "weft/detail/base/macros_end.h"
