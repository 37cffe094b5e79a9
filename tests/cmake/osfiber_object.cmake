# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# What the object file of a switch backend must say about itself.
#   cmake -DCOMPILER=... -DREADELF=... -DOBJDUMP=... -DSOURCE=....S -DWORK=dir -P osfiber_object.cmake

file(MAKE_DIRECTORY ${WORK})

# Compiles the backend with the flags given and sets `out` to what the tool prints about it.
function(describe out flags)
  execute_process(COMMAND ${COMPILER} ${flags} -c ${SOURCE} -o ${WORK}/backend.o COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${ARGN} ${WORK}/backend.o OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

function(expect text pattern)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "expected ${pattern} in:\n${text}")
  endif()
endfunction()

function(expect_none text pattern)
  if(text MATCHES "${pattern}")
    message(FATAL_ERROR "unexpected ${pattern} in:\n${text}")
  endif()
endfunction()

describe(sections "-fcf-protection=none" ${READELF} -SW)
expect("${sections}" "\\.note\\.GNU-stack +PROGBITS +0+ [0-9a-f]+ 000000 00 +0 ")  # no flags, so no X

describe(frames "-fcf-protection=none" ${READELF} --debug-dump=frames)
expect("${frames}" "DW_CFA_undefined: r16 \\(rip\\)")

describe(code "-fcf-protection=none" ${OBJDUMP} -d --no-show-raw-insn)
expect("${code}" "<weft_fiber_switch>:[^<]*ret")
expect_none("${code}" "endbr64|mxcsr|fldcw|fnstcw|fnstenv|fldenv")

describe(marked "-fcf-protection" ${OBJDUMP} -d --no-show-raw-insn)
expect("${marked}" "<weft_fiber_switch>:\n[^\n]*endbr64")
expect("${marked}" "<weft_fiber_prepare>:\n[^\n]*endbr64")

describe(notes "-fcf-protection" ${READELF} -nW)
expect("${notes}" "x86 feature: IBT")
expect_none("${notes}" "SHSTK")

# The objects of other processors have no code. They are linked, too.
cmake_path(GET SOURCE PARENT_PATH folder)
file(GLOB backends ${folder}/*.S)
foreach(SOURCE IN LISTS backends)
  describe(sections "-fcf-protection" ${READELF} -SW)
  expect("${sections}" "\\.note\\.GNU-stack +PROGBITS +0+ [0-9a-f]+ 000000 00 +0 ")
  describe(notes "-fcf-protection" ${READELF} -nW)
  expect("${notes}" "x86 feature: IBT")
endforeach()
