# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Checks that clang's thread-safety analysis accepts weft's headers and marl's, understands the mutex and the lock of both,
# and finds what is wrong: cmake -DCOMPILER=clang++ -DINCLUDE=<root>/include -DWORK=<dir> -P this

file(GLOB_RECURSE headers RELATIVE ${INCLUDE} ${INCLUDE}/weft/*.h)
list(FILTER headers EXCLUDE REGEX "_inl\\.h$")  # the second half of another header
include(${CMAKE_CURRENT_LIST_DIR}/without_missing.cmake)
list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>")
list(JOIN headers "\n" includes)

# What all have in common is compiled once.
set(options -std=c++20 -Wall -Wextra -Wthread-safety -Wthread-safety-beta -Werror -I${INCLUDE} -I${INCLUDE}/compat)
set(marlIncludes "#include <marl/conditionvariable.h>\n#include <marl/event.h>\n#include <marl/waitgroup.h>\n")
include(${CMAKE_CURRENT_LIST_DIR}/precompile.cmake)
precompile(weft "#include <chrono>\n${includes}\n" ${options})
precompile(marl "#include <chrono>\n${marlIncludes}" ${options})

set(account "
class Account {
 public:
  void lockFirst() { weft::lock held(guard_); ++balance_; addLocked(); }
  void lockByHand() WEFT_EXCLUDES(guard_) { guard_.lock(); ++balance_; guard_.unlock(); }
  void tryToLock() { if (guard_.try_lock()) { addLocked(); guard_.unlock(); } }
  void wait() {
    weft::lock held(guard_);
    changed_.wait(held);
    ++balance_;
    changed_.wait(held, [this]() WEFT_REQUIRES(guard_) { return balance_ > 0; });
    changed_.wait_for(held, std::chrono::seconds(1), [this]() WEFT_REQUIRES(guard_) { return balance_ > 0; });
    changed_.wait_for(held, std::chrono::seconds(1), [] { return true; });
    ++balance_;
  }
  BODY
 private:
  void addLocked() WEFT_REQUIRES(guard_) { ++balance_; }
  weft::mutex guard_;
  weft::ConditionVariable changed_;
  int balance_ WEFT_GUARDED_BY(guard_) = 0;
};
")

# Compiles the class, in weft's names and in marl's, with one more member function. `expected`: what the analysis says of it,
# or OK.
function(check body expected)
  string(REPLACE BODY "${body}" code "${account}")
  check_code(weft "${code}" "${expected}")
  string(REPLACE weft:: marl:: code "${code}")
  string(REPLACE WEFT_ "" code "${code}")
  check_code(marl "${code}" "${expected}")
endfunction()

function(check_code common code expected)
  file(WRITE ${WORK}/thread_safety.cpp "${code}")
  execute_process(COMMAND ${COMPILER} ${options} -fsyntax-only -include ${WORK}/${common}.h ${WORK}/thread_safety.cpp
    RESULT_VARIABLE result ERROR_VARIABLE messages)
  if(expected STREQUAL OK)
    if(NOT result EQUAL 0)
      message(SEND_ERROR "does not pass the analysis:\n${code}\n${messages}")
    endif()
  elseif(result EQUAL 0 OR NOT messages MATCHES "${expected}")
    message(SEND_ERROR "the analysis should have said \"${expected}\" of:\n${code}\n${messages}")
  endif()
endfunction()

check("" OK)
check("void wrong() { ++balance_; }" "requires holding mutex 'guard_'")
check("void wrong() { addLocked(); }" "requires holding mutex 'guard_'")
check("void wrong() { guard_.unlock(); }" "releasing mutex 'guard_' that was not held")
check("void wrong() { guard_.lock(); }" "mutex 'guard_' is still held at the end of function")
check("void wrong() { weft::lock held(guard_); guard_.lock(); guard_.unlock(); }"
  "acquiring mutex 'guard_' that is already held")
check("void wrong() { guard_.try_lock(); ++balance_; }" "requires holding mutex 'guard_'")
check("void wrong() { { weft::lock held(guard_); } ++balance_; }" "requires holding mutex 'guard_'")
check("void wrong() { weft::lock held(guard_); lockByHand(); }"
  "cannot call function 'lockByHand' while mutex 'guard_' is held")

# The mutex that readers share, which marl does not have.
function(check_shared body expected)
  check_code(weft "
class Table {
 public:
  void write() { mutex_.lock(); ++size_; mutex_.unlock(); }
  int read() { mutex_.lock_shared(); const int size = size_; mutex_.unlock_shared(); return size; }
  void tryToWrite(const std::stop_token& token) { if (mutex_.lock(token)) { ++size_; mutex_.unlock(); } }
  void tryToRead() { if (mutex_.try_lock_shared_for(std::chrono::seconds(1))) { mutex_.unlock_shared(); } }
  ${body}
 private:
  weft::SharedMutex mutex_;
  int size_ WEFT_GUARDED_BY(mutex_) = 0;
};
" "${expected}")
endfunction()
check_shared("" OK)
check_shared("void wrong() { mutex_.lock_shared(); ++size_; mutex_.unlock_shared(); }"
  "requires holding shared_mutex 'mutex_' exclusively")
check_shared("int wrong() { return size_; }" "requires holding shared_mutex 'mutex_'")
check_shared("void wrong() { mutex_.lock(); mutex_.unlock_shared(); }" "expected exclusive access")
