// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <cstddef>
#include <iterator>
#include <ranges>
#include <stop_token>
#include <utility>

#include "weft/detail/future/when.h"

namespace weft::inline v0_1 {

// The value of whenAny()'s future: all the futures, and which of them was the first to be ready.
template <class Futures>
struct WhenAnyResult {
  static constexpr size_t kNone = static_cast<size_t>(-1);  // the index if there were no futures
  size_t index = kNone;                                     // of the future that was ready first
  Futures futures;                                          // in their order: a std::vector or a std::tuple
};

// Makes one future of several: it is ready when all of them are. They are the elements of a range, lie
// between two iterators, or are the arguments. A Future is taken over, a SharedFuture is copied. Without
// futures the result is ready at once. Neither suspends nor blocks.
//
//   std::vector<weft::Future<Page>> pages;
//   for (const std::string& address : addresses) {
//     pages.push_back(weft::async([address] { return fetch(address); }));
//   }
//   for (weft::Future<Page>& page : weft::whenAll(pages).get()) {
//     show(page.get());
//   }
// Requires: each future is valid().
// Returns: a future whose value is all the futures, in their order: a std::vector, or a std::tuple if they
// are the arguments. It has no exception itself: each of its futures throws its own.
// Errors: std::bad_alloc. Then the caller keeps the futures, except those of a single-pass range of unknown
// size.
template <std::input_iterator Iterator, std::sentinel_for<Iterator> End>
auto whenAll(Iterator begin, End end) {
  return detail::whenOf<detail::WhenAllRule>(detail::NoSource(), std::move(begin), std::move(end));
}
template <std::ranges::input_range Range>
  requires(!detail::kIsFuture<Range>)
auto whenAll(Range&& range) {
  return weft::whenAll(std::ranges::begin(range), std::ranges::end(range));
}
template <class... Futures>
  requires(!detail::kAreRange<Futures...> && !detail::kBeginWithSource<Futures...>)
auto whenAll(Futures&&... futures) {
  return detail::whenOf<detail::WhenAllRule>(detail::NoSource(), std::forward<Futures>(futures)...);
}

// As whenAll(), but fails fast: when one of the futures has failed, requests a stop of `source`, and then the
// result has that future's exception. Work that was given a token of `source` can end early. `futures` is a
// range, two iterators, or futures. The other tasks run to their ends; the result does not wait for them.
//
//   std::stop_source stop;
//   auto a = weft::async(stop.get_token(), readA);
//   auto both = weft::whenAll(stop, std::move(a), weft::async(stop.get_token(), readB));
// Threads: what is called at the stop is called by the thread that makes a future ready. It must not wait.
template <class... Futures>
auto whenAll(std::stop_source source, Futures&&... futures) {
  return detail::whenOf<detail::FailFastRule>(detail::LosersSource(std::move(source)),
                                              std::forward<Futures>(futures)...);
}

// As whenAll(), but ready when one of the futures is. The value is a WhenAnyResult. Afterwards the other
// futures keep no memory of the call, so a loop may pass one SharedFuture again and again.
//
//   auto first = weft::whenAny(std::move(cached), std::move(fetched)).get();
//   show(first.index == 0 ? std::get<0>(first.futures).get() : std::get<1>(first.futures).get());
template <std::input_iterator Iterator, std::sentinel_for<Iterator> End>
auto whenAny(Iterator begin, End end) {
  return detail::whenOf<detail::WhenAnyRule>(detail::NoSource(), std::move(begin), std::move(end));
}
template <std::ranges::input_range Range>
  requires(!detail::kIsFuture<Range>)
auto whenAny(Range&& range) {
  return weft::whenAny(std::ranges::begin(range), std::ranges::end(range));
}
template <class... Futures>
  requires(!detail::kAreRange<Futures...> && !detail::kBeginWithSource<Futures...>)
auto whenAny(Futures&&... futures) {
  return detail::whenOf<detail::WhenAnyRule>(detail::NoSource(), std::forward<Futures>(futures)...);
}

// As whenAny(), and requests a stop of `source` before the result is there. `futures` and threads: as with
// whenAll(source, futures...).
template <class... Futures>
auto whenAny(std::stop_source source, Futures&&... futures) {
  return detail::whenOf<detail::WhenAnyRule>(detail::LosersSource(std::move(source)),
                                             std::forward<Futures>(futures)...);
}

// Gives the first value of several futures of one type. `futures` is a range, two iterators, or futures. They
// are taken over as by whenAll(). With `source`, requests a stop of it once there is a value, and before the
// result has it; threads: as whenAll(source, futures...). Neither suspends nor blocks.
//
//   weft::Future<Page> page = weft::firstSuccess(std::move(cached), std::move(fetched));
// Requires: each future is valid().
// Returns: a future of that value. If all fail, it has the exception of the last to fail. If the range is
// empty, it has a std::invalid_argument.
template <class... Futures>
  requires(!detail::kBeginWithSource<Futures...>)
auto firstSuccess(Futures&&... futures) {
  return detail::whenOf<detail::FirstSuccessRule>(detail::NoSource(), std::forward<Futures>(futures)...);
}
template <class... Futures>
auto firstSuccess(std::stop_source source, Futures&&... futures) {
  return detail::whenOf<detail::FirstSuccessRule>(detail::LosersSource(std::move(source)),
                                                  std::forward<Futures>(futures)...);
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
