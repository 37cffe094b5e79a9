# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Compiles `text` once for programs that are compiled with the same options and -include ${WORK}/<name>.h: what a script's programs
# have in common. COMPILER and WORK are those of the script.
function(precompile name text)
  file(WRITE ${WORK}/${name}.h "${text}")
  execute_process(COMMAND ${COMPILER} ${ARGN} -x c++-header ${WORK}/${name}.h -o ${WORK}/${name}.h.gch COMMAND_ERROR_IS_FATAL ANY)
endfunction()
