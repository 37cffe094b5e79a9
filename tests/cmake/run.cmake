# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# run(command argument...): runs a command in the folder WORK. If it fails, so does the script.
function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
