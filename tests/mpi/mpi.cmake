# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# The tests of weft::mpi: one program, which runs as 1, 2, 4 and 8 ranks. All ranks run all tests, in one order. The target `mpi` builds
# what belongs to MPI.
add_custom_target(mpi)

file(GLOB mpiTests CONFIGURE_DEPENDS mpi/*_test.cpp)
list(FILTER mpiTests EXCLUDE REGEX "/mpi_misuse_test\\.cpp$")
add_executable(mpi_tests mpi/main.cpp mpi/one_caller.cpp ${mpiTests})
target_link_libraries(mpi_tests PRIVATE weft_mpi weft_own GTest::gtest)
target_include_directories(mpi_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
add_dependencies(mpi mpi_tests)

# weft_add_mpi_test(name ranks target argument...): `ranks` processes of a program. More of them than processors is no mistake here, and
# the administrator of a container may run them. By itself, Open MPI yields the processor then, at each test that finds nothing: to
# programs that compute, for milliseconds. The workers sleep between tests anyway.
function(weft_add_mpi_test name ranks target)
  add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:${target}> ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 PROCESSORS 2 LABELS mpi ENVIRONMENT
    "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1;OMPI_MCA_hwloc_base_binding_policy=none;OMPI_MCA_mpi_yield_when_idle=0")
endfunction()

foreach(ranks IN ITEMS 1 2)
  weft_add_mpi_test(mpi_${ranks}_ranks ${ranks} mpi_tests)
endforeach()
# With fewer numbers of workers, as many ranks on few processors take long.
weft_add_mpi_test(mpi_4_ranks 4 mpi_tests --gtest_filter=-*/2:*/8:*/64)
weft_add_mpi_test(mpi_8_ranks 8 mpi_tests --gtest_filter=-*/0:*/2:*/8:*/64)
foreach(level IN ITEMS serialized funneled)
  weft_add_mpi_test(mpi_${level} 2 mpi_tests --level=${level})
endforeach()

# A single rank, which needs no mpiexec.
add_executable(mpi_misuse_test mpi/mpi_misuse_test.cpp)
target_link_libraries(mpi_misuse_test PRIVATE weft_mpi weft_own GTest::gtest GTest::gtest_main)
target_include_directories(mpi_misuse_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${weft_SOURCE_DIR}/src)
add_dependencies(mpi mpi_misuse_test)
add_test(NAME mpi_misuse_test COMMAND mpi_misuse_test)
set_tests_properties(mpi_misuse_test PROPERTIES TIMEOUT 300 LABELS mpi)

# mpiexec reports a rank that was killed, after it has ended the others.
add_executable(mpi_killed_rank mpi/killed_rank.cpp)
target_link_libraries(mpi_killed_rank PRIVATE weft_mpi weft_own)
add_dependencies(mpi mpi_killed_rank)
weft_add_mpi_test(mpi_killed_rank 3 mpi_killed_rank)
set_tests_properties(mpi_killed_rank PROPERTIES TIMEOUT 60 PASS_REGULAR_EXPRESSION "signal 9|[Kk]illed"
  FAIL_REGULAR_EXPRESSION "a message of nobody has come")

# The examples, each with small sizes.
if(TARGET mpi_examples)
  add_dependencies(mpi mpi_examples treestat)
  get_test_property(mpi_1_ranks ENVIRONMENT environment)
  foreach(ranks IN ITEMS 1 2 4)
    weft_add_mpi_test(mpi_ring_${ranks}_ranks ${ranks} mpi_ring)
    # Each rank needs two rows of the plate at least.
    weft_add_mpi_test(mpi_heat_${ranks}_ranks ${ranks} mpi_heat --check 65 51 12)
    weft_add_mpi_test(mpi_sort_${ranks}_ranks ${ranks} mpi_sort --count=100000 --check)
    weft_add_mpi_test(mpi_sort_few_${ranks}_ranks ${ranks} mpi_sort --count=3 --check)
    weft_add_mpi_test(mpi_worklist_${ranks}_ranks ${ranks} mpi_worklist 1000000)
    add_test(NAME mpi_treestat_shards_${ranks}_ranks
      COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/mpi/treestat_shards_test.sh $<TARGET_FILE:treestat>
        ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:mpi_treestat_shards>)
    set_tests_properties(mpi_treestat_shards_${ranks}_ranks PROPERTIES TIMEOUT 300 PROCESSORS 2 LABELS mpi ENVIRONMENT "${environment}")
  endforeach()
  weft_add_mpi_test(mpi_heat_two_rows 4 mpi_heat --check 16 8 12)
  set_tests_properties(mpi_ring_4_ranks PROPERTIES PASS_REGULAR_EXPRESSION "the sum of all ranks is 6\n")
endif()
