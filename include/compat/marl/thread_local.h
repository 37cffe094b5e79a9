// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"

// A static pointer for each thread: MARL_DECLARE_THREAD_LOCAL in a class, MARL_INSTANTIATE_THREAD_LOCAL
// outside of it. With MARL_USE_PTHREAD_THREAD_LOCAL by keys of POSIX threads, if thread_local does not work.

#if defined(MARL_USE_PTHREAD_THREAD_LOCAL)

#include <pthread.h>

#include <type_traits>

#include "debug.h"

// A pointer, one for each thread.
template <class T>
class ThreadLocal {
  static_assert(std::is_pointer_v<T>, "a ThreadLocal is a pointer");

 public:
  explicit(false) ThreadLocal(T value) {
    const int error = pthread_key_create(&key_, nullptr);
    WEFT_ASSERT(error == 0, "ThreadLocal: the system has no more keys for threads (error %d).", error);
    *this = value;
  }
  ~ThreadLocal() { pthread_key_delete(key_); }
  ThreadLocal(const ThreadLocal&) = delete;
  ThreadLocal& operator=(const ThreadLocal&) = delete;

  explicit(false) operator T() const { return static_cast<T>(pthread_getspecific(key_)); }
  T operator->() const { return static_cast<T>(pthread_getspecific(key_)); }
  ThreadLocal& operator=(T value) {
    const int error = pthread_setspecific(key_, value);
    WEFT_ASSERT(error == 0, "ThreadLocal: the value cannot be stored (error %d).", error);
    return *this;
  }

 private:
  pthread_key_t key_;
};

#define MARL_DECLARE_THREAD_LOCAL(TYPE, NAME) static ThreadLocal<TYPE> NAME
#define MARL_INSTANTIATE_THREAD_LOCAL(TYPE, NAME, VALUE) ThreadLocal<TYPE> NAME(VALUE)

#else

#define MARL_DECLARE_THREAD_LOCAL(TYPE, NAME) static thread_local TYPE NAME
#define MARL_INSTANTIATE_THREAD_LOCAL(TYPE, NAME, VALUE) thread_local TYPE NAME(VALUE)

#endif
