// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <pthread.h>

#include "os/keep_loaded.h"

namespace weft::inline v0_1::detail {

// Starts a thread that is never joined. Returns: 0, or the error number.
inline int startDetachedThread(void* (*entry)(void*), void* argument) {
  keepLoaded();
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error == 0) {
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread{};
    error = pthread_create(&thread, &attributes, entry, argument);
    pthread_attr_destroy(&attributes);
  }
  return error;
}

}  // namespace weft::inline v0_1::detail
