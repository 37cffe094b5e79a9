# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""The recipe for Conan 2: `conan create src/package/conan` in the root of weft's sources."""

import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class WeftConan(ConanFile):
    name = "weft"
    version = "0.1.0"
    license = "Apache-2.0"
    description = "Tasks on fibers that may block"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "io": [True, False]}
    default_options = {"shared": False, "fPIC": True, "io": True}

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", "src/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def validate(self):
        if self.settings.os != "Linux" or self.settings.arch != "x86_64":
            raise ConanInvalidConfiguration("weft runs on Linux on x86-64")
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for option in ("WEFT_BUILD_TESTS", "WEFT_BUILD_EXAMPLES", "WEFT_BUILD_BENCHMARKS", "WEFT_TOOLS"):
            toolchain.cache_variables[option] = False
        toolchain.cache_variables["WEFT_POSITION_INDEPENDENT_CODE"] = bool(self.options.get_safe("fPIC", True))
        toolchain.cache_variables["WEFT_IO"] = bool(self.options.io)
        # It would be the system's liburing.
        toolchain.cache_variables["WEFT_IO_URING"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        # find_package(weft) finds the files that weft itself installs.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs.append(os.path.join("lib", "cmake", "weft"))
        self.cpp_info.libs = ["weft_io", "weft"] if self.options.io else ["weft"]
        self.cpp_info.system_libs = ["pthread", "dl"]
