#!/usr/bin/env python3
"""The recipes in packaging/ for vcpkg, Conan, Nix and RPM: whether they agree with CMakeLists.txt, and do what they say as far as that can be seen
without these tools. Where Nix is there, it evaluates its expression; where Conan is there, it reads its recipe.

    tests/integration/packages.py BUILD     BUILD: the build directory, with everything built
"""
import importlib.util
import json
import os
import re
import shutil
import sys

from common import SOURCE, check, main, run, skip_without, with_tool
from conan_stand_in import stand_in

BUILD = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGING = os.path.join(SOURCE, "packaging")
PORT = os.path.join(PACKAGING, "vcpkg", "sooth")
CONAN = os.path.join(PACKAGING, "conan", "conanfile.py")
NIX = os.path.join(PACKAGING, "nix", "default.nix")

# What CMakeLists.txt looks for, and the names of that in vcpkg, Conan, Nix and Fedora. None: not in the small build that the first three make, or
# a part of every system.
NAMES = {
    "libzstd": ("zstd", "zstd", "zstd", "libzstd-devel"),
    "libxxhash": ("xxhash", "xxhash", "xxHash", "xxhash-devel"),
    "z3": ("z3", "z3", "z3", "z3-devel"),
    "libdw": ("elfutils", "elfutils", "elfutils", "elfutils-devel"),
    "libelf": ("elfutils", "elfutils", "elfutils", "elfutils-libelf-devel"),
    "CLI11": ("cli11", "cli11", "cli11", "cli11-devel"),
    "tomlplusplus": ("tomlplusplus", "tomlplusplus", "tomlplusplus", "tomlplusplus-devel"),
    "nlohmann_json": ("nlohmann-json", "nlohmann_json", "nlohmann_json", "json-devel"),
    "PkgConfig": ("pkgconf", "pkgconf", "pkg-config", "pkgconf-pkg-config"),
    "LLVM": (None, None, None, "llvm-devel"),
    "Threads": (None, None, None, None),
    "GTest": (None, None, None, None),
}
# What they name besides: tools of the build, and what belongs to a whole build.
BESIDES = ({"vcpkg-cmake"}, {"cmake"}, {"cmake", "ninja"}, {"gcc-c++", "cmake", "ninja-build", "clang", "llvm-static", "valgrind-devel", "valgrind-tools-devel"})


def read(path):
    with open(path) as file:
        return file.read()


def version():
    return re.search(r"^project\(sooth VERSION ([0-9.]+)", read(os.path.join(SOURCE, "CMakeLists.txt")), re.M).group(1)


def looked_for():
    """What CMakeLists.txt asks the system for."""
    text = read(os.path.join(SOURCE, "CMakeLists.txt"))
    found = re.findall(r"find_package\((\w+)", text)
    for words in re.findall(r"pkg_check_modules\(\w+ ([^)]*)\)", text):
        found += [word for word in words.split() if word not in ("REQUIRED", "IMPORTED_TARGET")]
    return set(found)


def expected(column):
    return {NAMES[name][column] for name in looked_for() if NAMES[name][column]} | BESIDES[column]


def conan_recipe():
    """The recipe as Conan would make it, and what it told its generators."""
    with stand_in() as recorded:
        spec = importlib.util.spec_from_file_location("conanfile", CONAN)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        recipe = module.SoothConan()
        recipe.recipe_folder = os.path.dirname(CONAN)
        recipe.set_version()
        recipe.requirements()
        recipe.build_requirements()
        recipe.generate()
    return recipe, recorded


def dependencies(_):
    unknown = looked_for() - set(NAMES)
    check(not unknown, f"CMakeLists.txt looks for {unknown}: say here, and in packaging/, what package managers call that")
    port = json.loads(read(os.path.join(PORT, "vcpkg.json")))
    recipe, _recorded = conan_recipe()
    nix = read(NIX)
    nix_inputs = " ".join(re.findall(r"[bB]uildInputs = with pkgs; \[([^]]*)\]", nix))
    spec = ", ".join(re.findall(r"^BuildRequires: *(.*)$", read(os.path.join(PACKAGING, "sooth.spec.in")), re.M)).split(",")
    named = (
        {entry if isinstance(entry, str) else entry["name"] for entry in port["dependencies"]},
        {reference.split("/")[0] for reference in recipe.required + recipe.tools},
        set(nix_inputs.split()),
        {words.split()[0] for words in spec},
    )
    for column, manager in enumerate(("vcpkg", "Conan", "Nix", "RPM")):
        check(named[column] == expected(column), f"{manager}: {sorted(named[column])} is not what CMakeLists.txt needs: {sorted(expected(column))}")


def versions(_):
    port = json.loads(read(os.path.join(PORT, "vcpkg.json")))
    recipe, _recorded = conan_recipe()
    nix = re.search(r'\bversion = "(.*)";', read(NIX)).group(1)
    for manager, says in (("vcpkg", port["version"]), ("Conan", recipe.version), ("Nix", nix)):
        check(says == version(), f"{manager} has version {says}, CMakeLists.txt {version()}")


def options(_):
    """Every option that a recipe sets exists, with that spelling."""
    known = set()
    for name in ("CMakeLists.txt", "valgrind/CMakeLists.txt", "cmake/SoothTargets.cmake"):
        known |= set(re.findall(r"option\((SOOTH_\w+)", read(os.path.join(SOURCE, name))))
    for path in (os.path.join(PORT, "portfile.cmake"), CONAN, NIX, os.path.join(PACKAGING, "sooth.spec.in")):
        used = set(re.findall(r"SOOTH_\w+", read(path)))
        check("SOOTH_DEVELOPER" in used and used <= known, f"{path}: {sorted(used - known)} are no options")


def vcpkg_port(scratch):
    """The port puts its files where vcpkg wants them, and they work from there."""
    run(["cmake", f"-DPORT_DIR={PORT}", f"-DBUILD={BUILD}", f"-DSCRATCH={scratch}", "-P", os.path.join(HERE, "vcpkg_stand_in.cmake")])
    packages = os.path.join(scratch, "packages")
    for name in ("share/sooth/copyright", "share/sooth/SoothConfig.cmake", "tools/sooth/bin/sooth", "tools/sooth/include/sooth/annotate.h"):
        check(os.path.isfile(os.path.join(packages, name)), f"the port does not install {name}")
    project = os.path.join(scratch, "project")
    os.mkdir(project)
    with open(os.path.join(project, "CMakeLists.txt"), "w") as file:
        file.write(f"cmake_minimum_required(VERSION 3.25)\nproject(user NONE)\nfind_package(Sooth {version()} REQUIRED)\n"
                   "execute_process(COMMAND ${Sooth_EXECUTABLE} --version COMMAND_ERROR_IS_FATAL ANY)\n")
    found = run(["cmake", "-S", project, "-B", os.path.join(scratch, "user"), f"-DCMAKE_PREFIX_PATH={packages}"]).stdout
    check(f"sooth {version()}" in found, found)
    with open(os.path.join(scratch, "uses.c"), "w") as file:
        file.write("#include <sooth/annotate.h>\nint main(void) { return 0; }\n")
    environment = with_tool(os.path.join(packages, "tools/sooth/bin"))
    run(["sooth", "cc", "uses.c", "-o", "uses"], cwd=scratch, env=environment)
    run(["sooth", "record", "--", "./uses"], cwd=scratch, env=environment)


def conan_sources(scratch):
    """What the recipe exports is enough to configure with what it sets, also where toml++ has a CMake package and no pkg-config file."""
    recipe, recorded = conan_recipe()
    recipe.export_sources_folder = os.path.join(scratch, "sources")
    os.mkdir(recipe.export_sources_folder)
    with stand_in():
        recipe.export_sources()
    files = os.path.join(scratch, "pkgconfig")
    os.mkdir(files)
    folders = run(["pkg-config", "--variable", "pc_path", "pkg-config"]).stdout.strip().split(":")
    for folder in filter(os.path.isdir, folders):
        for name in os.listdir(folder):
            if name != "tomlplusplus.pc" and not os.path.lexists(os.path.join(files, name)):
                os.symlink(os.path.join(folder, name), os.path.join(files, name))
    words = [f"-D{name}={'ON' if value else 'OFF'}" for name, value in recorded["CMakeToolchain"].items()]
    configured = run(["cmake", "-G", "Ninja", "-S", recipe.export_sources_folder, "-B", os.path.join(scratch, "build"), *words],
                     env=dict(os.environ, PKG_CONFIG_LIBDIR=files)).stdout
    check("Package 'tomlplusplus', required by 'virtual:world', not found" in configured or "No package 'tomlplusplus' found" in configured, configured)


def conan_reads_it(_):
    skip_without("conan")
    check(f"version: {version()}" in run(["conan", "inspect", CONAN]).stdout, "conan inspect does not know the version")


def nix_evaluates_it(scratch):
    """With a stand-in for nixpkgs that makes a set out of what would be built."""
    skip_without("nix-instantiate")
    run(["nix-instantiate", "--parse", NIX])
    inputs = re.findall(r"[bB]uildInputs = with pkgs; \[([^]]*)\]", read(NIX))
    with open(os.path.join(scratch, "pkgs.nix"), "w") as file:
        file.write("{ stdenv.mkDerivation = a: a; lib.licenses.asl20 = \"Apache-2.0\";\n"
                   "  lib.sourceByRegex = folder: patterns: builtins.filter (name: builtins.any (p: builtins.match p name != null) patterns)"
                   " (builtins.attrNames (builtins.readDir folder));\n" +
                   "".join(f'  {name} = "{name}";\n' for name in " ".join(inputs).split()) + "}\n")
    environment = dict(os.environ, NIX_STATE_DIR=os.path.join(scratch, "state"), NIX_STORE_DIR=os.path.join(scratch, "store"),
                       NIX_LOG_DIR=os.path.join(scratch, "log"), NIX_CONF_DIR=scratch, HOME=scratch)
    made = json.loads(run(["nix-instantiate", "--eval", "--strict", "--json", "-E", f"import {NIX} {{ pkgs = import {scratch}/pkgs.nix; }}"],
                          env=environment).stdout.splitlines()[-1])
    check(made["version"] == version() and "-DSOOTH_DEVELOPER=OFF" in made["cmakeFlags"], made)
    recipe, _recorded = conan_recipe()
    recipe.export_sources_folder = os.path.join(scratch, "sources")
    os.mkdir(recipe.export_sources_folder)
    with stand_in():
        recipe.export_sources()
    check(sorted(made["src"]) == sorted(os.listdir(recipe.export_sources_folder)), f"Nix takes other sources than Conan: {made['src']}")


main([dependencies, versions, options, vcpkg_port, conan_sources, conan_reads_it, nix_evaluates_it])
