# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# weft in marl's place.
include(CMakeFindDependencyMacro)
find_dependency(weft HINTS ${CMAKE_CURRENT_LIST_DIR}/../weft)
