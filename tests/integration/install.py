#!/usr/bin/env python3
"""Installs into a prefix, under DESTDIR and into one that is then moved; runs the README's example from each.

    tests/integration/install.py BUILD     BUILD: the build directory, with everything built
"""
import glob
import os
import re
import shutil
import sys

from common import SOURCE, check, install, main, run, skip_without, try_readme, with_tool

BUILD = os.path.abspath(sys.argv[1])

# Nothing works without these; `man`, shells and find_package look for them there.
FILES = """
    bin/sooth
    include/sooth/annotate.h
    share/man/man1/sooth.1
    share/man/man1/sooth-run.1
    share/man/man1/sooth-c++.1
    share/man/man1/sooth-trace-gen.1
    share/bash-completion/completions/sooth
    share/zsh/site-functions/_sooth
    share/fish/vendor_completions.d/sooth.fish
    share/cmake/Sooth/SoothConfig.cmake
    share/cmake/Sooth/SoothConfigVersion.cmake
    share/doc/sooth/README.md
    share/doc/sooth/LICENSE
    share/doc/sooth/docs/index.md
    share/doc/sooth/examples/bank_account_hidden.cc
""".split()


def check_tree(prefix, pages=""):
    """`pages`: what the names of manual pages end with besides."""
    for name in FILES:
        name += pages if "/man/" in name else ""
        check(os.path.isfile(os.path.join(prefix, name)), f"{name} is not installed")
    libraries = [os.path.join(folder, name) for folder, _, names in os.walk(prefix) for name in names
                 if name.startswith("libtsan.so") and os.path.basename(folder) != "aarch64"]
    check(len(libraries) == 2, f"the run time library is not installed once with its link: {libraries}")
    # What knows where it was built, or where it was installed first, breaks when it is moved.
    for folder, _, names in os.walk(prefix):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                check(BUILD.encode() not in file.read() or is_debug_information(path), f"{path} names the build directory")


def is_debug_information(path):
    """Whether the build directory is named in debug information only: sources, which nobody opens."""
    copy = path + ".stripped"
    strip = "aarch64-linux-gnu-strip" if "/aarch64/" in path else "strip"
    run([strip, "--strip-debug", "-o", copy, path])
    with open(copy, "rb") as file:
        named = BUILD.encode() in file.read()
    os.remove(copy)
    return not named


def prefix_that_is_moved(scratch):
    first, second = os.path.join(scratch, "first"), os.path.join(scratch, "second,moved")
    install(BUILD, first)
    check_tree(first)
    os.rename(first, second)
    work = os.path.join(scratch, "work")
    os.mkdir(work)
    try_readme(work, with_tool(os.path.join(second, "bin")))


def staged_for_a_package(scratch):
    install(BUILD, "/opt/sooth", destdir=os.path.join(scratch, "stage"))
    staged = os.path.join(scratch, "stage/opt/sooth")
    check_tree(staged)
    work = os.path.join(scratch, "work")
    os.mkdir(work)
    try_readme(work, with_tool(os.path.join(staged, "bin")))


def link_into_the_path(scratch):
    """bin/sooth may be reached through a link: /usr/local/bin/sooth -> /opt/sooth/bin/sooth."""
    install(BUILD, os.path.join(scratch, "opt"))
    os.mkdir(os.path.join(scratch, "bin"))
    os.symlink(os.path.join(scratch, "opt/bin/sooth"), os.path.join(scratch, "bin/sooth"))
    environment = with_tool(os.path.join(scratch, "bin"))
    with open(os.path.join(scratch, "uses.c"), "w") as file:
        file.write("#include <sooth/annotate.h>\nint main(void) { return 0; }\n")
    run(["sooth", "cc", "uses.c", "-o", "uses"], cwd=scratch, env=environment)
    run(["sooth", "record", "--", "./uses"], cwd=scratch, env=environment)


def clang_from_the_prefix(scratch):
    """The library under Clang's name: in programs that Clang itself linked for ThreadSanitizer, and in ours."""
    skip_without("clang++-14")
    install(BUILD, os.path.join(scratch, "prefix"))
    environment = dict(with_tool(os.path.join(scratch, "prefix/bin")), SOOTH_CXX="clang++-14")
    try_readme(scratch, environment)
    run(["clang++-14", "-g", "-O1", "-fsanitize=thread", "-shared-libsan", "bank_account_hidden.cc", "-o", "theirs"], cwd=scratch)
    report = run(["sooth", "run", "--", "./theirs"], cwd=scratch, env=environment, expect=66).stdout
    check("harmful data race on 'balance'" in report, report)


def deep_from_the_prefix(scratch):
    """The pass that Clang loads for --deep is found as the library is."""
    skip_without("clang++-19")
    install(BUILD, os.path.join(scratch, "prefix"))
    environment = with_tool(os.path.join(scratch, "prefix/bin"))
    shutil.copy(os.path.join(SOURCE, "examples/bank_account_hidden.cc"), scratch)
    run(["sooth", "c++", "--deep", "-O1", "bank_account_hidden.cc", "-o", "account"], cwd=scratch, env=environment)
    report = run(["sooth", "run", "--", "./account"], cwd=scratch, env=environment, expect=66).stdout
    check("harmful data race on 'balance'" in report, report)


def debian_package(scratch):
    """What `cpack` packs is complete: unpacked without being installed, it works. scripts/try-release.sh installs it where nothing else is."""
    skip_without("dpkg-deb", "dpkg-shlibdeps")
    run(["cpack", "-G", "DEB", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-B", scratch])
    package = glob.glob(os.path.join(scratch, "sooth_*_amd64.deb"))
    check(len(package) == 1, f"cpack made {package}")
    depends = run(["dpkg-deb", "--field", package[0], "Depends"]).stdout
    for library in ("libc6", "libz3-4", "libzstd1", "libdw1", "libelf1", "libxxhash0"):
        check(library in depends, f"the package does not depend on {library}: {depends}")
    for line in run(["dpkg-deb", "--contents", package[0]]).stdout.splitlines():
        check(" root/root " in line and re.match("(l|[-d]rw.r-.r-.)", line), f"not everybody can read what root owns: {line}")
    run(["dpkg-deb", "--extract", package[0], os.path.join(scratch, "root")])
    check_tree(os.path.join(scratch, "root/usr"), pages=".gz")
    try_readme(scratch, with_tool(os.path.join(scratch, "root/usr/bin")))


def tool_without_its_library(scratch):
    """A sentence, not a crash, when only the executable was copied."""
    os.makedirs(os.path.join(scratch, "bin"))
    shutil.copy(os.path.join(BUILD, "bin/sooth"), os.path.join(scratch, "bin"))
    result = run(["sooth", "c++", "x.cc"], cwd=scratch, env=with_tool(os.path.join(scratch, "bin")), expect=70)
    check("install sooth again" in result.stdout, result.stdout)


main([prefix_that_is_moved, staged_for_a_package, link_into_the_path, clang_from_the_prefix, deep_from_the_prefix, debian_package, tool_without_its_library])
