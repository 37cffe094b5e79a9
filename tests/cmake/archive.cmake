# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Packs what a build of the library reads: make_archive(root folder version) makes folder/weft-<version>.tar.gz. Whoever unpacks it
# gets a folder weft-<version>.
function(make_archive root folder version)
  set(name weft-${version})
  file(COPY ${root}/CMakeLists.txt ${root}/LICENSE ${root}/include ${root}/src DESTINATION ${folder}/${name})
  execute_process(COMMAND ${CMAKE_COMMAND} -E tar czf ${name}.tar.gz ${name}
    WORKING_DIRECTORY ${folder} COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE_RECURSE ${folder}/${name})
endfunction()
