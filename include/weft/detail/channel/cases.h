// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "weft/channel.h"
#include "weft/detail/base/callable.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/channel/select_case.h"

namespace weft::inline v0_1::detail {

// The handler of a case that was given none.
struct Ignore {
  void operator()() const {}
};

template <class Handler>
void callHandler(Handler& handler) {
  constexpr bool kCanBeCalled = std::invocable<Handler&>;
  static_assert(kCanBeCalled,
                "the handler of this case of select() cannot be called without arguments. "
                "This kind of case gives it nothing.");
  if constexpr (kCanBeCalled) {
    handler();
  }
}

template <class T, class Handler>
class ReceiveCase final : public SelectCase {
 public:
  ReceiveCase(ChannelState& channel, Handler&& f)
      : SelectCase(Kind::Receive, channel, &value_), handler_(std::move(f)) {
    detail::assertCallable(handler_, "onReceive()");
  }
  ReceiveCase(Erase erase, ReceiveCase&& from) : SelectCase(erase, from), handler_(std::move(from.handler_)) {
    setValue(&value_);
  }
  void run() { handler_(std::move(value_)); }
  // Also leaves no value behind, so that the case may be used again.
  void runErased() {
    struct Reset {
      ~Reset() { value.reset(); }
      std::optional<T>& value;
    } reset{value_};
    run();
  }

 private:
  std::optional<T> value_;
  Handler handler_;
};

// Held: T (a copy), or T& (the caller's object).
template <class T, class Held, class Handler>
class SendCase final : public SelectCase {
 public:
  template <class U>
  SendCase(ChannelState& channel, U&& from, Handler&& f)
      : SelectCase(Kind::Send, channel, nullptr), value_(static_cast<Held&&>(from)), handler_(std::move(f)) {
    detail::assertCallable(handler_, "onSend()");
    setValue(std::addressof(value_));
  }
  // The case that is made has the value, whoever had it before.
  template <class U>
  SendCase(Erase erase, SendCase<T, U, Handler>&& from)
      : SelectCase(erase, from), value_(std::move(from.value_)), handler_(std::move(from.handler_)) {
    setValue(std::addressof(value_));
  }
  void run() {
    if (isClosed()) [[unlikely]] {
      throwOrDie(ChannelClosed());
    }
    detail::callHandler(handler_);
  }
  void runErased() { run(); }

 private:
  template <class, class, class>
  friend class SendCase;

  Held value_;
  Handler handler_;
};

// A case whose handler takes no argument.
template <class Handler, class Base = SelectCase>
class PlainCase final : public Base {
 public:
  template <class... What>
  explicit PlainCase(Handler&& f, const What&... what) : Base(what...), handler_(std::move(f)) {
    detail::assertCallable(handler_, "a case of select()");
  }
  PlainCase(Erase erase, PlainCase&& from) : Base(erase, from), handler_(std::move(from.handler_)) {}
  void run() { detail::callHandler(handler_); }
  void runErased() { run(); }

 private:
  Handler handler_;
};

// A case whose handler takes what the case is about, subject() of its class Base, or nothing. check() of
// Base, if there is one, throws where the case has failed.
template <class Base, class Handler>
class SubjectCase final : public Base {
 public:
  template <class... What>
  SubjectCase(const char* name, Handler&& f, What&... what) : Base(what...), handler_(std::move(f)) {
    detail::assertCallable(handler_, name);
  }
  SubjectCase(Erase erase, SubjectCase&& from) : Base(erase, from), handler_(std::move(from.handler_)) {}
  void run() {
    if constexpr (requires(const Base& base) { base.check(); }) {
      this->check();
    }
    if constexpr (std::invocable<Handler&, decltype(this->subject())>) {
      handler_(this->subject());
    } else {
      handler_();
    }
  }
  void runErased() { run(); }

 private:
  Handler handler_;
};

// The case that an AnyCase makes of a case: it keeps all that it uses.
template <class Case>
struct ErasedFrom {
  using type = Case;
};
template <class T, class Handler>
struct ErasedFrom<SendCase<T, T&, Handler>> {
  using type = SendCase<T, T, Handler>;
};

// What the copies of a handle to an erased case share: an AnyCase, and a call of its handler.
class ErasedCase {
 public:
  explicit ErasedCase(SelectCase& one) : it(one) {}
  ErasedCase(const ErasedCase&) = delete;
  virtual ~ErasedCase() = default;
  virtual void run() = 0;

  SelectCase& it;
  bool isUsedUp = false;  // its value was sent

 protected:
  std::stop_token token_;
};

template <class Case>
class ErasedCaseOf final : public ErasedCase {
 public:
  template <class From>
  explicit ErasedCaseOf(From&& from) : ErasedCase(case_), case_(Erase(), std::move(from)) {
    it.keepAll(token_);
  }
  ~ErasedCaseOf() override { it.letGo(); }
  void run() override {
    isUsedUp = it.hasSent();
    case_.runErased();
  }

 private:
  Case case_;
};

template <class Case>
concept IsSelectCase = std::derived_from<Case, SelectCase>;

}  // namespace weft::inline v0_1::detail
