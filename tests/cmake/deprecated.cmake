# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Checks that a use of a WEFT_DEPRECATED name warns once and says what to use instead, that its declaration alone does not, and
# that WEFT_NO_DEPRECATED silences it: cmake -DCOMPILER=g++ -DINCLUDE=<root>/include -DWORK=<dir> -P this

set(declarations "
#include <weft/export.h>
WEFT_DEPRECATED(\"use newer()\") inline int older() { return 1; }
struct WEFT_DEPRECATED(\"use Newer\") Older {};
struct Object {
  WEFT_DEPRECATED(\"use size()\") int count() const { return 1; }
  WEFT_DEPRECATED(\"use width_\") int wide = 1;
};
enum class Mode { Plain WEFT_DEPRECATED(\"use Mode::Simple\"), Simple };
using Old WEFT_DEPRECATED(\"use int\") = int;
template <class T>
WEFT_DEPRECATED(\"use newerOf()\") T olderOf(T value) { return value; }
")

# Compiles a function with this body, and checks that the warnings are `expected`, one for each.
function(check body options)
  file(WRITE ${WORK}/deprecated.cpp "${declarations}int use(const Object& object) {\n  (void)object;\n  ${body}\n}\n")
  execute_process(COMMAND ${COMPILER} -std=c++20 -Wall -Wextra ${options} -fsyntax-only -I${INCLUDE} ${WORK}/deprecated.cpp
    RESULT_VARIABLE result ERROR_VARIABLE messages)
  string(REPLACE ";" "," messages "${messages}")
  string(REGEX MATCHALL "warning: [^\n]*" warnings "${messages}")
  list(REMOVE_DUPLICATES warnings)  # gcc says some of them two or three times
  list(LENGTH warnings count)
  list(LENGTH ARGN expectedCount)
  set(isWrong OFF)
  foreach(expected IN LISTS ARGN)
    if(NOT warnings MATCHES "deprecated: weft: ${expected}[^a-zA-Z]")
      set(isWrong ON)
    endif()
  endforeach()
  if(isWrong OR NOT result EQUAL 0 OR NOT count EQUAL expectedCount)
    message(SEND_ERROR "should warn \"${ARGN}\" with \"${options}\":\n${body}\n${messages}")
  endif()
endfunction()

set(all "Old number = older() + object.count() + object.wide + olderOf(1); return number + static_cast<int>(Mode::Plain);")
check("return 1;" "")
check("return older();" "" "use newer..")
check("(void)Older(); return 1;" "" "use Newer")
check("return object.count();" "" "use size..")
check("return object.wide;" "" "use width_")
check("return static_cast<int>(Mode::Plain);" "" "use Mode::Simple")
check("Old number = 1; return number;" "" "use int")
check("return olderOf(1);" "" "use newerOf..")
check("${all}" -DWEFT_NO_DEPRECATED)
check("return static_cast<int>(Mode::Simple);" "")
