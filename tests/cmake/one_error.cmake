# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# For scripts that try small programs: `program` has the word BODY in its last function, which begins with "void use(";
# `warnings` are further options. COMPILER, INCLUDE and WORK are those of the script.

string(FIND "${program}" "void use(" start)
string(SUBSTRING "${program}" 0 ${start} common)
string(SUBSTRING "${program}" ${start} -1 program)
include(${CMAKE_CURRENT_LIST_DIR}/precompile.cmake)
precompile(common "${common}" -std=c++20 ${warnings} -I${INCLUDE})

# Fails unless the program with this body gives one error, which matches `expected`, or none where that is OK.
function(check body expected)
  string(REPLACE BODY "${body}" code "${program}")
  file(WRITE ${WORK}/errors.cpp "${code}")
  execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${warnings} -I${INCLUDE} -include ${WORK}/common.h
      ${WORK}/errors.cpp
    RESULT_VARIABLE result ERROR_VARIABLE messages)
  if(expected STREQUAL OK)
    if(NOT result EQUAL 0)
      message(SEND_ERROR "does not compile:\n${body}\n${messages}")
    endif()
    return()
  endif()
  string(REPLACE ";" "," messages "${messages}")
  string(REGEX MATCHALL "error: [^\n]*" errors "${messages}")
  list(LENGTH errors count)
  if(result EQUAL 0 OR NOT errors MATCHES "${expected}" OR count GREATER 1)
    message(SEND_ERROR "should be the one error \"${expected}\":\n${body}\n${messages}")
  endif()
endfunction()
