#!/usr/bin/env python3
"""Records and analyses real programs; scripts/real-programs.sh calls it and says what it is for.

Sources come from the distribution's own archive, over a private configuration of apt that is derived from the
machine's: that one is left as it is. A program whose sources cannot be had is skipped; when there is none left the exit
status is 77.
"""
import argparse
import glob
import itertools
import json
import os
import pathlib
import random
import shlex
import subprocess
import sys
import tarfile
import time

TIME_LIMIT = 900  # seconds for one command


class Failure(Exception):
    """A sentence on what went wrong."""


def run(command, cwd=None, output=None):
    """Runs a command that must succeed; its standard output, or nothing when that goes to a file."""
    with open(output, "wb") if output else open(os.devnull, "wb") as sink:
        done = subprocess.run([str(word) for word in command], cwd=cwd, stdin=subprocess.DEVNULL, timeout=TIME_LIMIT,
                              stdout=sink if output else subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise Failure(f"`{shlex.join(map(str, command))}` ended with {done.returncode}: "
                      f"{done.stderr.decode(errors='replace').strip()[-2000:]}")
    return done.stdout.decode() if done.stdout else ""


class Archive:
    """The distribution's source archive."""

    def __init__(self, work):
        self.work = work
        self.ready = False
        self.options = ["-q", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={work}/apt/sources",
                        "-o", f"Dir::State::lists={work}/apt/lists", "-o", f"Dir::Cache={work}/apt/cache",
                        "-o", "Acquire::http::Timeout=20", "-o", "APT::Sandbox::User="]

    def _prepare(self):
        for folder in ("sources", "lists/partial", "cache/archives/partial"):
            (self.work / "apt" / folder).mkdir(parents=True, exist_ok=True)
        targets = run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)",
                       "Created-By: Packages"])
        lines = sorted({"deb-src " + line.rsplit(" ", 1)[0] for line in targets.splitlines()
                        if line.endswith((" Debian", " Ubuntu"))})
        if not lines:
            raise Failure("apt knows no archive of the distribution; run apt-get update")
        (self.work / "apt/sources/archive.list").write_text("\n".join(lines) + "\n")
        run(["apt-get", *self.options, "update"])
        self.ready = True

    def fetch(self, package):
        """The folder with the upstream sources of a package; the network is asked once."""
        target = self.work / "sources" / package
        if not (target / "complete").exists():
            if not self.ready:
                self._prepare()
            target.mkdir(parents=True, exist_ok=True)
            run(["apt-get", *self.options, "source", "--download-only", "--tar-only", package], cwd=target)
            for name in glob.glob(f"{target}/*.orig.tar.*[!c]"):
                with tarfile.open(name) as tar:
                    tar.extractall(target / "tree")
            (target / "complete").touch()
        return next((target / "tree").iterdir())  # upstream archives hold one folder


class Program:
    """How to get, build and run one program: sources by package, DATA in the arguments is a text of `size` bytes."""

    def __init__(self, name, packages, sources, flags, arguments, size):
        self.name, self.packages, self.sources, self.flags = name, packages, sources, flags
        self.arguments, self.size = arguments, size


PROGRAMS = [
    Program("pbzip2", ["pbzip2", "bzip2"],
            {"bzip2": ["blocksort.c", "huffman.c", "crctable.c", "randtable.c", "compress.c", "decompress.c",
                       "bzlib.c"],
             "pbzip2": ["*.cpp"]},
            ["-D_LARGEFILE64_SOURCE", "-D_FILE_OFFSET_BITS=64", "-DUSE_STACKSIZE_CUSTOMIZATION"],
            ["-p4", "-b1", "-1", "-k", "-c", "DATA"], 500_000),
    Program("zstd", ["libzstd"],
            {"libzstd": ["lib/common/*.c", "lib/compress/*.c", "lib/decompress/*.c", "programs/zstdcli.c",
                         "programs/util.c", "programs/timefn.c", "programs/fileio*.c"]},
            ["-DZSTD_MULTITHREAD", "-DXXH_NAMESPACE=ZSTD_", "-DZSTD_NOBENCH", "-DZSTD_NODICT", "-DZSTD_NOTRACE",
             "-DZSTD_DISABLE_ASM=1", "-DZSTD_LEGACY_SUPPORT=0"],
            ["-T4", "-1", "--block-size=524288", "-q", "-c", "DATA"], 2_000_000),
    Program("plzip", ["plzip", "lzlib"], {"lzlib": ["lzlib.c"], "plzip": ["*.cc"]},
            ['-DPROGVERSION="real"'], ["-n4", "-1", "-B64KiB", "-c", "DATA"], 300_000),
]


def compile_program(program, folders, compilers, target):
    """Compiles C with the first compiler, C++ with the second, and links with the second."""
    target.mkdir(parents=True, exist_ok=True)
    binary = target / program.name
    includes = list(itertools.chain.from_iterable(("-I", folder) for folder in folders.values()))
    objects = []
    for package, patterns in program.sources.items():
        for pattern in patterns:
            for source in sorted(glob.glob(str(folders[package] / pattern))):
                compiler = compilers[0] if source.endswith(".c") else compilers[1]
                objects.append(target / f"{pathlib.Path(source).name}.o")
                run([*compiler, "-O1", "-g", "-w", "-pthread", *program.flags, *includes, "-c", source,
                     "-o", objects[-1]])
    run([*compilers[1], "-pthread", *objects, "-o", binary])
    return binary


def make_data(path, size):
    """Text that compresses like text: words of a seeded vocabulary."""
    choice = random.Random(size)
    words = ["".join(choice.choices("etaoinshrdlu", k=choice.randrange(2, 10))) for _ in range(500)]
    text = " ".join(choice.choices(words, k=size // 4))
    path.write_text(text[:size])


def timed(command, output):
    begin = time.monotonic()
    run(command, output=output)
    return time.monotonic() - begin


def spell(site):
    return f"{pathlib.Path(site['file']).name}:{site['line']}" if site.get("file") else site.get("label", "?")


def judge(sooth, program, work, archive):
    """The row of the table and the lines about what was found."""
    folders = {package: archive.fetch(package) for package in program.packages}
    home = work / program.name
    plain = compile_program(program, folders, (["gcc"], ["g++"]), home / "plain")
    recorded = compile_program(program, folders, ([sooth, "cc"], [sooth, "c++"]), home / "recorded")
    data = home / "data.txt"
    make_data(data, program.size)
    arguments = [data if word == "DATA" else word for word in program.arguments]
    seconds = timed([plain, *arguments], home / "plain.out")
    trace = home / "trace"
    run(["rm", "-rf", trace])
    slow = timed([sooth, "record", "-o", trace, "--", recorded, *arguments], home / "recorded.out")
    if (home / "plain.out").read_bytes() != (home / "recorded.out").read_bytes():
        raise Failure("the recorded run printed something else than the plain one")
    run([sooth, "trace", "check", trace])
    report = json.loads(run([sooth, "analyze", trace, "--with", "hb,wcp", "--format", "json", "--fail-on", "never"]))
    events = report["stats"]["events"]
    size = sum(path.stat().st_size for path in trace.rglob("*") if path.is_file())
    races = [finding for finding in report["findings"] if finding["kind"] == "race"]
    lines = sorted({f"  {program.name}: {finding['rung']} ({', '.join(finding['found_by'])}) "
                    + " | ".join(sorted(spell(access["site"]) for access in finding["accesses"])) for finding in races})
    count = {name: sum(name in finding["found_by"] for finding in races) for name in ("hb", "wcp")}
    row = (program.name, f"{events:,}", f"{size / max(events, 1):.2f}", f"{seconds:.2f}", f"{slow:.2f}",
           f"{slow / max(seconds, 0.001):.0f}x", str(count["hb"]), str(count["wcp"]))
    return row, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True, type=os.path.abspath, help="the binary")
    parser.add_argument("--work", required=True, type=lambda name: pathlib.Path(name).resolve(),
                        help="folder for everything")
    parser.add_argument("names", nargs="*", help="programs; all by default: " + ", ".join(p.name for p in PROGRAMS))
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    archive = Archive(options.work)
    rows, details, skipped, failed = [], [], 0, 0
    chosen = [program for program in PROGRAMS if not options.names or program.name in options.names]
    for program in chosen:
        try:
            for package in program.packages:
                archive.fetch(package)
        except (Failure, OSError, subprocess.TimeoutExpired) as failure:
            print(f"{program.name}: skipped, its sources cannot be had: {str(failure).splitlines()[-1]}")
            skipped += 1
            continue
        try:
            row, lines = judge(options.sooth, program, options.work, archive)
            rows.append(row)
            details += lines
        except (Failure, subprocess.TimeoutExpired, json.JSONDecodeError, KeyError) as failure:
            print(f"{program.name}: {failure}")
            failed += 1
    print_table(rows)
    print("\n".join(details))
    print(f"{len(rows)} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 77 if not rows else 0)


def print_table(rows):
    table = [("program", "events", "bytes/event", "plain s", "recorded s", "slower", "hb", "wcp"), *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    for row in table:
        print("  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                        for column, (cell, width) in enumerate(zip(row, widths))))


if __name__ == "__main__":
    main()
