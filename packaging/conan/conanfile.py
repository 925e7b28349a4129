"""Sooth for Conan 2, from the sources that this file lies in:

    conan create packaging/conan --build=missing
    conan install --tool-requires=sooth/0.1.0       afterwards `sooth` is in the path of the build environment
"""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.gnu import PkgConfigDeps

required_conan_version = ">=2.8"


class SoothConan(ConanFile):
    name = "sooth"
    description = "Predicts, proves and replays data races of C and C++ programs"
    license = "Apache-2.0"
    topics = ("data-race", "threads", "testing", "debugging")
    package_type = "application"
    settings = "os", "arch", "compiler", "build_type"

    def _sources(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._sources(), "CMakeLists.txt"))
        self.version = re.search(r"^project\(sooth VERSION ([0-9.]+)", text, re.MULTILINE).group(1)

    def export_sources(self):
        for name in ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md"):
            copy(self, name, src=self._sources(), dst=self.export_sources_folder)
        for folder in ("cmake", "docs", "examples", "include", "packaging", "runtime", "src", "valgrind"):
            copy(self, f"{folder}/*", src=self._sources(), dst=self.export_sources_folder)

    def validate(self):
        if self.settings.os != "Linux" or self.settings.arch != "x86_64":
            raise ConanInvalidConfiguration("Sooth runs on x86-64 Linux")

    def requirements(self):
        self.requires("cli11/[>=2.3 <3]")
        self.requires("elfutils/[>=0.189 <1]")
        self.requires("nlohmann_json/[>=3.11 <4]")
        self.requires("tomlplusplus/[>=3.3 <4]")
        self.requires("xxhash/[>=0.8.1 <0.9]")
        self.requires("z3/[>=4.8 <5]")
        self.requires("zstd/[>=1.5 <2]")

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25 <4]")
        self.tool_requires("pkgconf/[>=2.1 <3]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["SOOTH_DEVELOPER"] = False
        toolchain.cache_variables["SOOTH_WITH_DEEP"] = False  # needs LLVM and Clang 19, and no other version
        toolchain.cache_variables["SOOTH_VALGRIND"] = False
        toolchain.generate()
        CMakeDeps(self).generate()
        files = PkgConfigDeps(self)
        # Elfutils' own names, whatever the recipe calls its parts.
        for part in ("libdw", "libelf"):
            files.set_property(f"elfutils::{part}", "pkg_config_name", part)
        files.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libdirs = []  # what is in lib/sooth is for recorded programs only
        self.cpp_info.builddirs = [os.path.join("share", "cmake", "Sooth")]
        self.cpp_info.set_property("cmake_find_mode", "none")  # SoothConfig.cmake comes with the package
