# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Makes a build of the library for the unit tests whose sources differ: with WEFT_STRESS as perturb.h and choices.txt say, and with
# WEFT_TEST_BUGS with the bugs of bugs.txt, which an environment variable turns on. Sets weft_under_test to it, and
# weft_before_each to what the compiler reads before each source.
set(changed ${CMAKE_CURRENT_BINARY_DIR}/stress)
set(lists "")
if(WEFT_STRESS)
  set(weft_before_each ${CMAKE_CURRENT_SOURCE_DIR}/stress/perturb.h)
  list(APPEND lists ${CMAKE_CURRENT_SOURCE_DIR}/stress/choices.txt)
else()
  set(weft_before_each ${CMAKE_CURRENT_SOURCE_DIR}/stress/seeded.h)
endif()
if(WEFT_TEST_BUGS)
  list(APPEND lists ${CMAKE_CURRENT_SOURCE_DIR}/stress/bugs.txt)
endif()

file(WRITE ${changed}/changes.txt "")
set(changedFiles "")
foreach(list IN LISTS lists)
  file(READ ${list} text)
  file(APPEND ${changed}/changes.txt "${text}\n")
  file(STRINGS ${list} entries REGEX "^(fit|bug) ")
  list(TRANSFORM entries REPLACE "^.* " "")
  list(APPEND changedFiles ${entries})
endforeach()
list(REMOVE_DUPLICATES changedFiles)
set(change ${CMAKE_CURRENT_SOURCE_DIR}/model/scheduler/change.py)
execute_process(COMMAND ${Python3_EXECUTABLE} ${change} ${changed}/changes.txt ${PROJECT_SOURCE_DIR} ${changed}
  COMMAND_ERROR_IS_FATAL ANY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${lists} ${change})

# The headers that are changed are found before the others. Of the sources, the copies take the place of their originals.
weft_add_library(weft_stress STATIC)
set_target_properties(weft PROPERTIES EXCLUDE_FROM_ALL ON)
target_include_directories(weft_stress BEFORE PUBLIC ${changed})
target_compile_options(weft_stress PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${weft_before_each}>")
get_target_property(sources weft_stress SOURCES)
foreach(file IN LISTS changedFiles)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
  if(file MATCHES "^src/(.*\\.cpp)$")
    list(TRANSFORM sources REPLACE ".*/${file}$" "${changed}/${CMAKE_MATCH_1}")
  endif()
endforeach()
set_target_properties(weft_stress PROPERTIES SOURCES "${sources}")
if(WEFT_STRESS)
  target_sources(weft_stress PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/stress/perturb.cpp)
endif()
set(weft_under_test weft_stress)
