#!/usr/bin/env python3
"""Builds, records and analyses every program of this folder and compares what is found with the marks in its source.

A program is a test by existing: `x_race.cc`, `x_norace.cc`, `x_misuse.cc`, `x_deadlock.cc` or `x_nodeadlock.cc` (or
`.c`). Its comments say what to expect:

    x = 1;  // RACE(a)      the lines with the same name are the two ends of one race; a name on one line only is a line
                            that races with itself. Every race of the run is marked, and no line else has one.
    // MISUSE(kind)         on the line that misuses a primitive: unlock, double-lock, destroy-locked, destroy, invalid-use,
                            bad-read-lock, bad-read-unlock, thread-leak, signal-unsafe, signal-errno
                            or use-after-free
    // DEADLOCK(a)          the lines with the same name are the acquires that wait for each other. That is `predicted`;
                            of x_nodeadlock.cc nothing is even suspected
    // STACK(a): f g main   one end of race a has these functions on its stack, innermost first, before any others
    // OUTPUT: text         one line of the expected standard output; without any, the output is not fixed
    // STATUS: 3            the exit status (128 + signal), 0 by default
    // ARGS: one two        arguments of the run
    // FLAGS: -fopenmp      more flags for the compiler
    // PLUGIN: file.cc      a shared library to build next to the program, as file.so
    // NEEDS: clang>=19     only with this compiler, from this version on; several lines are alternatives
    // MACHINES: x86_64     only for this machine, because it has code of it or the emulator cannot do what it does
    // TSAN: some, because  ThreadSanitizer sees only a part of the marks; `skip`: it is wrong about this program
    // LEVELS: 0 1          only at these levels of optimisation
    // DEEP: some, because  with --deep, the code of its threads cannot be followed to the end

Programs of examples/ that have one of these two lines are run as well, with all analyses that they name:

    // FOUND(a): wcp        these analyses find race a in every run; without the line it is `hb`
    // FOUND(a): wcp ?      ... but for runs from which it cannot be told: one of a few is to show it
    // RACES: none          there is no race in it

The standard output and the exit status of a recorded run must be those of the uninstrumented program; of examples, only
when they say which these are.

    run.py --sooth build/bin/sooth [--compilers gcc,clang-14,clang-19] [--levels 0,1,2] [--schedule os|serial|random|pct:D]
           [--seed N] [--filter repeat|off|tree:strict] [--deep] [--sample SEED/N] [--jobs N] [--tool sooth|tsan] [NAME ...]

With --deep, programs are built by `sooth c++ --deep`, and the code of every thread must be followed through the trace.

With --sample, a seeded Nth of the combinations of program, compiler and level is run, and all programs of the first
compiler at level 1. `--tool tsan` asks ThreadSanitizer instead of Sooth: a second opinion on the marks.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
EXAMPLES = FOLDER.parent.parent / "examples"
TIME_LIMIT = 60  # seconds for one process; programs end in well under a second
ATTEMPTS = 6  # runs of a program with races that not every run shows


class Failure(Exception):
    """A sentence on what went wrong."""


def execute(command, environment=None, cwd=None, limit=TIME_LIMIT):
    """Standard output, standard error and exit status (128 + signal) of a command that must end in time."""
    try:
        run = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace", cwd=cwd,
                             timeout=limit, check=False, stdin=subprocess.DEVNULL,
                             env={**os.environ, **(environment or {})})
    except subprocess.TimeoutExpired:
        raise Failure(f"`{shlex.join(map(str, command))}` did not end within {limit} s") from None
    return run.stdout, run.stderr, run.returncode if run.returncode >= 0 else 128 - run.returncode


def must(command, **options):
    """Standard output of a command that must end with status 0."""
    output, errors, status = execute(command, **options)
    if status != 0:
        raise Failure(f"`{shlex.join(map(str, command))}` ended with status {status}: {(errors or output).strip()}")
    return output


class Program:
    """A source file and what its comments expect."""

    def __init__(self, path):
        self.path = path
        self.name = path.stem
        text = path.read_text()
        self.races = self._pairs(text)
        self.misuse = {(kind, number) for kind, number in self._marks(text, "MISUSE")}
        self.found = {name: analyses.split("  ")[0].split()  # two blanks, then words for the reader
                      for name, analyses in re.findall(r"// FOUND\((\w+)\): (.*)", text)}
        self.varies = {name for name, analyses in self.found.items() if analyses[-1] == "?"}
        self.found.update({name: self.found[name][:-1] for name in self.varies})
        self.kind = self.name.rsplit("_", 1)[-1]
        self.deadlocks = self._cycles(text)
        self.analyses = sorted({"hb", "misuse"}.union({"deadlock", "ipa"} if "deadlock" in self.kind else (),
                                                      *self.found.values()))
        self.stacks = [(name, names.split()) for name, names in re.findall(r"// STACK\((\w+)\): (.*)", text)]
        self.output = self._lines(text, "OUTPUT")
        self.status = int((self._lines(text, "STATUS") or ["0"])[0])
        self.arguments = shlex.split(" ".join(self._lines(text, "ARGS")))
        self.flags = shlex.split(" ".join(self._lines(text, "FLAGS")))
        self.plugins = [path.parent / name for name in self._lines(text, "PLUGIN")]
        self.needs = self._lines(text, "NEEDS")
        self.machines = " ".join(self._lines(text, "MACHINES")).split()
        self.levels = " ".join(self._lines(text, "LEVELS")).split()
        self.deep = bool(self._lines(text, "DEEP"))
        self.tsan = re.split(r"\W", (self._lines(text, "TSAN") or [""])[0])[0]
        self._check(text)

    @staticmethod
    def _lines(text, key):
        return [line.strip() for line in re.findall(rf"^// {key}:(.*)", text, re.MULTILINE)]

    @staticmethod
    def _marks(text, key):
        for number, line in enumerate(text.splitlines(), 1):
            for name in re.findall(rf"\b{key}\(([\w-]+)\)", line.partition("//")[2]):
                yield name, number

    def _pairs(self, text):
        lines = {}
        for name, number in self._marks(text, "RACE"):
            lines.setdefault(name, []).append((self.path.name, number))
        for plugin in self._lines(text, "PLUGIN"):
            for name, number in self._marks((self.path.parent / plugin).read_text(), "RACE"):
                lines.setdefault(name, []).append((plugin, number))
        for name, ends in lines.items():
            if len(ends) > 2:
                raise Failure(f"{self.path.name}: RACE({name}) stands on {len(ends)} lines; a race has two ends")
        return {name: tuple(sorted((ends * 2)[:2])) for name, ends in lines.items()}

    def _cycles(self, text):
        lines = {}
        for name, number in self._marks(text, "DEADLOCK"):
            lines.setdefault(name, []).append((self.path.name, number))
        return {tuple(sorted(acquires)) for acquires in lines.values()}

    def _check(self, text):
        """The name must agree with the marks, so that no half is emptied by a slip."""
        if self.path.parent == EXAMPLES:
            if set(self.found) != set(self.races):
                raise Failure(f"{self.path.name}: FOUND and RACE do not name the same races")
            return
        kind = self.kind
        if kind not in ("race", "norace", "misuse", "deadlock", "nodeadlock"):
            raise Failure(f"{self.path.name} is neither x_race, x_norace, x_misuse, x_deadlock nor x_nodeadlock")
        if (bool(self.races), bool(self.misuse), bool(self.deadlocks)) != (kind == "race", kind == "misuse", kind == "deadlock"):
            raise Failure(f"{self.path.name} has the wrong kind of marks for its name")
        for name, _ in self.stacks:
            if name not in self.races:
                raise Failure(f"{self.path.name}: STACK({name}) names no race")
        unknown = set(re.findall(r"^// ([A-Z]+):", text, re.MULTILINE)) - {
            "OUTPUT", "STATUS", "ARGS", "FLAGS", "PLUGIN", "NEEDS", "TSAN", "LEVELS", "DEEP", "MACHINES"}
        if unknown:
            raise Failure(f"{self.path.name}: no such expectation: {', '.join(sorted(unknown))}")

    def misses(self, name, races):
        """The analyses that should have found the race of this name and have not."""
        finders = races.get(self.races[name], {})
        return [analysis for analysis in self.found.get(name, ["hb"]) if analysis not in finders]

    def wants(self, compiler, level):
        if self.levels and level not in self.levels or self.machines and compiler.machine not in self.machines:
            return False
        if "-fopenmp" in self.flags and not compiler.has_openmp():
            return False
        if any(flag.startswith("-l") and not compiler.has_library(flag) for flag in self.flags):
            return False
        return not self.needs or any(compiler.satisfies(need) for need in self.needs)


class Compiler:
    """`gcc`, `gcc-13`, `clang-19` ...: the C and C++ drivers of one version. `aarch64-linux-gnu-gcc`: those of GCC for
    another machine, whose programs run under an emulator."""

    def __init__(self, name):
        self.name = name
        machine, triple, driver = name.rpartition("-linux-gnu-")
        self.family, _, suffix = driver.partition("-")
        suffix = "-" + suffix if suffix else ""
        self.cc = machine + triple + self.family + suffix
        self.cxx = machine + triple + {"gcc": "g++", "clang": "clang++"}.get(self.family, "") + suffix
        if self.family not in ("gcc", "clang"):
            raise Failure(f"{name} is neither gcc nor clang")
        self.machine = machine or os.uname().machine
        self.emulator = [f"qemu-{machine}", "-L", f"/usr/{machine}-linux-gnu"] if machine else []
        self.available = bool(shutil.which(self.cxx))
        self.version = int(must([self.cxx, "-dumpversion"]).split(".")[0]) if self.available else 0
        self._openmp = None
        self._libraries = {}

    def driver(self, source):
        return self.cc if source.suffix == ".c" else self.cxx

    def has_openmp(self):
        """Clang's library for it is a package of its own."""
        if self._openmp is None:
            source = "#include <omp.h>\nint main() { return omp_get_num_threads() - 1; }\n"
            command = [self.cxx, "-fopenmp", "-x", "c++", "-", "-o", "/dev/null"]
            self._openmp = subprocess.run(command, input=source, text=True, capture_output=True).returncode == 0
        return self._openmp

    def has_library(self, flag):
        """Libraries that programs are linked with are packages of their own, too."""
        if flag not in self._libraries:
            command = [self.cxx, "-x", "c++", "-", "-o", "/dev/null", flag]
            self._libraries[flag] = subprocess.run(command, input="int main() {}\n", text=True, capture_output=True).returncode == 0
        return self._libraries[flag]

    def satisfies(self, need):
        family, _, least = need.partition(">=")
        return family == self.family and self.version >= int(least or 0)


def command_line(driver, program, source, level, *more):
    standard = "-std=c11" if source.suffix == ".c" else "-std=c++20"
    return [*driver, standard, "-g", f"-O{level}", "-pthread", "-I", FOLDER, *more, source, *program.flags]


def build(driver, program, level, binary, *more):
    """Compiles the program, and its plugins beside it."""
    for plugin in program.plugins:
        target = binary.parent / plugin.with_suffix(".so").name
        must([*command_line(driver(plugin), program, plugin, level, *more), "-shared", "-fPIC", "-o", target])
    must([*command_line(driver(program.path), program, program.path, level, *more), "-o", binary])


def innermost(frames):
    """The first frame in a source of this repository: races inside a library are those of its caller."""
    for file, line in frames:
        path = pathlib.Path(file)
        if path.parent in (FOLDER, EXAMPLES) or not path.is_absolute() and (FOLDER / path.name).exists():
            return path.name, line
    return "?", 0


class Sooth:
    """Records with `sooth record` and judges with `sooth analyze --with hb,misuse`."""

    def __init__(self, options):
        self.sooth = options.sooth
        self.schedule = ["--schedule", options.schedule, "--seed", options.seed]
        self.filter = ["--filter", options.filter]
        self.deep = ["--deep"] if options.deep else []

    def build(self, program, compiler, level, binary):
        def driver(source):
            mode = "cc" if source.suffix == ".c" else "c++"
            return [self.sooth, mode, *self.deep, f"--compiler={compiler.driver(source)}"]
        build(driver, program, level, binary)

    def run(self, program, binary, attempt):
        """The first attempt is scheduled as asked; what it may leave untold, others of fixed seeds tell on every machine."""
        trace = binary.parent / "trace"
        schedule = ["--schedule", "random", "--seed", attempt] if attempt else self.schedule
        command = [self.sooth, "record", "-o", trace, *schedule, *self.filter, "--", binary, *program.arguments]
        output, errors, status = execute(command, cwd=binary.parent)
        if not trace.exists():
            raise Failure(f"`{shlex.join(map(str, command))}` left no trace: {errors.strip()}")
        for process in sorted(binary.parent.glob("trace*")):  # the program itself, and those it started
            self._check_walks(program, process.name, must([self.sooth, "trace", "check", process]))
        report = json.loads(must([self.sooth, "analyze", trace, "--with", ",".join(program.analyses),
                                  "--format", "json", "--fail-on", "never"]))
        return output, status, self._races(report), self._misuse(report), self._deadlocks(report)

    def _check_walks(self, program, name, text):
        """Whoever writes DEEP must be right, too."""
        walks = re.findall(r": deep: (.+): \d+ instructions, .*? events outside(?:; stopped: (.*))?$", text, re.MULTILINE)
        stopped = [f"{thread}: {why}" for thread, why in walks if why]
        if stopped and not program.deep:
            raise Failure(f"{name}: the code cannot be followed: {'; '.join(stopped)}")

    @staticmethod
    def _frames(access):
        """(file, line) from the access outwards."""
        frames = [access["site"], *access.get("stack", [])]
        return [(frame.get("file", ""), frame.get("line", 0)) for frame in frames]

    @staticmethod
    def _functions(access):
        """Names without parameters, from the access outwards: the stack holds the callers."""
        frames = [access["site"], *access.get("stack", [])]
        return [frame.get("function", "").split("(")[0] for frame in frames]

    def _races(self, report):
        """Per pair of ends and analysis, the functions on the stacks of the two."""
        races = {}
        for finding in report["findings"]:
            if finding["kind"] == "race":
                ends = tuple(sorted(innermost(self._frames(access)) for access in finding["accesses"]))
                stacks = [self._functions(access) for access in finding["accesses"]]
                for analysis in finding["found_by"]:
                    races.setdefault(ends, {}).setdefault(analysis, []).extend(stacks)
        return races

    MISUSE = {"unlock_unlocked": "unlock", "unlock_wrong_thread": "unlock", "double_lock": "double-lock",
              "bad_read_lock": "bad-read-lock", "bad_read_unlock": "bad-read-unlock",
              "destroy_locked": "destroy-locked", "thread_leak": "thread-leak", "invalid_use": "invalid-use", "destroy": "destroy",
              "signal_unsafe": "signal-unsafe", "signal_errno": "signal-errno", "use_after_free": "use-after-free"}

    def _misuse(self, report):
        return {(self.MISUSE.get(finding["misuse"], finding["misuse"]), innermost(self._frames(finding["accesses"][-1]))[1])
                for finding in report["findings"] if finding["kind"] == "misuse"}


    def _deadlocks(self, report):
        """Per cycle of acquires, its rung."""
        return {tuple(sorted(innermost(self._frames(access)) for access in finding["accesses"])): finding["rung"]
                for finding in report["findings"] if finding["kind"] == "deadlock"}


class Tsan:
    """ThreadSanitizer as the compilers ship it. Clang's reports one race for eight bytes: a part of the marks suffices."""

    OPTIONS = ("exitcode=0 atexit_sleep_ms=0 report_signal_unsafe=0 suppress_equal_stacks=0 suppress_equal_addresses=0 "
               "history_size=7 detect_deadlocks=0 die_after_fork=0 ignore_noninstrumented_modules=0")
    MISUSE = {"unlock of an unlocked mutex": "unlock", "double lock of a mutex": "double-lock",
              "read lock of a write locked mutex": "bad-read-lock", "read unlock of a write locked mutex": "bad-read-unlock",
              "destroy of a locked mutex": "destroy-locked", "thread leak": "thread-leak",
              "use of an invalid mutex": "invalid-use"}

    def __init__(self, options):
        pass

    def build(self, program, compiler, level, binary):
        build(lambda source: [compiler.driver(source)], program, level, binary, "-fsanitize=thread")

    def run(self, program, binary, attempt):
        output, errors, status = execute([binary, *program.arguments], cwd=binary.parent,
                                         environment={"TSAN_OPTIONS": self.OPTIONS})
        races, misuse = {}, set()
        for report in errors.split("==================\n"):
            title = re.match(r"WARNING: ThreadSanitizer: (.*?) \(", report)
            if not title or title[1].startswith("signal handler"):
                continue
            stacks = self._stacks(report)
            kind = next((short for long, short in self.MISUSE.items() if title[1].startswith(long)), None)
            if kind:
                misuse.add((kind, innermost((file, line) for _, file, line in stacks[0])[1]))
            elif len(stacks) >= 2:
                ends = tuple(sorted(innermost((file, line) for _, file, line in stack) for stack in stacks[:2]))
                names = [[name for name, _, _ in stack] for stack in stacks[:2]]
                races.setdefault(ends, {}).setdefault("hb", []).extend(names)
            else:
                raise Failure(f"ThreadSanitizer says: {report.strip()}")
        return output, status, races, misuse, None  # its deadlock detector is another matter

    @staticmethod
    def _stacks(report):
        """Per stack, its frames as (function, file, line); the two of the accesses come first."""
        stacks = []
        for block in report.split("\n\n"):
            frames = re.findall(r"^    #\d+ (.*) ([^ ]+?):(\d+)(?::\d+)? \(", block, re.MULTILINE)
            if frames:
                stacks.append([(name.split("(")[0], file, int(line)) for name, file, line in frames])
        return stacks


def compare(program, compiler, tool, plain, recorded):
    """Raises a Failure that names every difference."""
    (plain_output, plain_status), (output, status, races, misuse, deadlocks) = plain, recorded
    wrong = []
    fixed = program.path.parent == FOLDER
    if program.output and plain_output.splitlines() != program.output:
        wrong.append(f"prints {plain_output!r} without recording, expected {program.output!r}")
    if fixed and plain_status != program.status:
        wrong.append(f"ends with status {plain_status} without recording, expected {program.status}")
    if (fixed or program.output) and (output, status) != (plain_output, plain_status):
        wrong.append(f"prints {output!r}, status {status}; without recording {plain_output!r}, status {plain_status}")
    expected = set(program.races.values())
    tsan = isinstance(tool, Tsan)
    part = tsan and races and (program.tsan == "some" or compiler.family == "clang")
    for name, ends in sorted(program.races.items()):
        misses = [analysis for analysis in program.misses(name, races) if analysis == "hb" or not tsan]
        if misses and not part and name not in program.varies:
            wrong.append(f"misses the race {spell(ends)} ({', '.join(misses)})")
    wrong += ["reports a race that is not marked: " + spell(ends) for ends in sorted(set(races) - expected)]
    wrong += [f"misses the misuse {kind} at line {line}" for kind, line in sorted(program.misuse - misuse)]
    wrong += [f"reports a misuse that is not marked: {kind} at line {line}"
              for kind, line in sorted(misuse - program.misuse)]
    if deadlocks is not None:
        wrong += ["misses the deadlock " + spell(ends) for ends in sorted(program.deadlocks - set(deadlocks))]
        wrong += [f"calls the deadlock {spell(ends)} {deadlocks[ends]}" for ends in sorted(program.deadlocks & set(deadlocks))
                  if deadlocks[ends] == "suspected"]
        wrong += ["reports a deadlock that is not marked: " + spell(ends)
                  for ends in sorted(set(deadlocks) - program.deadlocks)]
    for name, functions in program.stacks:
        stacks = sum(races.get(program.races[name], {}).values(), [])
        if not any(stack[:len(functions)] == functions for stack in stacks):
            wrong.append(f"has no stack {functions} for race {name}, but {stacks}")
    if wrong:
        raise Failure("\n    ".join(wrong))


def spell(ends):
    return " | ".join(f"{file}:{line}" for file, line in ends)


def check(program, compiler, level, tool):
    """None when all is as expected, else a sentence."""
    with tempfile.TemporaryDirectory(prefix="sooth-programs-") as work:
        try:
            plain, instrumented = pathlib.Path(work, "plain"), pathlib.Path(work, "instrumented")
            plain.mkdir()
            instrumented.mkdir()
            build(lambda source: [compiler.driver(source)], program, level, plain / "program")
            output, _, status = execute([*compiler.emulator, plain / "program", *program.arguments], cwd=plain)
            tool.build(program, compiler, level, instrumented / "program")
            missing = set(program.varies)
            for attempt in range(ATTEMPTS if missing else 1):
                recorded = tool.run(program, instrumented / "program", attempt)
                compare(program, compiler, tool, (output, status), recorded)
                missing = {name for name in missing if program.misses(name, recorded[2])}
                if not missing:
                    break
            if missing and not isinstance(tool, Tsan):
                raise Failure(f"misses {', '.join(spell(program.races[name]) for name in sorted(missing))} in each of {ATTEMPTS} runs")
        except (Failure, OSError, json.JSONDecodeError, KeyError) as failure:
            return f"{program.name} ({compiler.name} -O{level}): {failure}"
    return None


def sources():
    """The programs of this folder, and the examples that say what is expected of them."""
    programs = [path for path in sorted(FOLDER.iterdir()) if path.suffix in (".c", ".cc") and "_plugin" not in path.name]
    return programs + [path for path in sorted(EXAMPLES.glob("*.cc"))
                       if re.search(r"^// (FOUND\(\w+\)|RACES): ", path.read_text(), re.MULTILINE)]


def selection(programs, compilers, levels, sample):
    """The combinations to run: all of them, or all at the base and a seeded share of the others."""
    jobs = [job for job in itertools.product(programs, compilers, levels) if job[0].wants(job[1], job[2])]
    if not sample:
        return jobs
    seed, share = map(int, sample.split("/"))
    choice = random.Random(seed)
    base = (compilers[0], "1")
    return [job for job in jobs if choice.randrange(share) == 0 or (job[1], job[2]) == base]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", type=os.path.abspath, help="the binary; needed unless --tool tsan")
    parser.add_argument("--tool", choices=("sooth", "tsan"), default="sooth", help="who judges")
    parser.add_argument("--compilers", default="gcc,clang-14,clang-19", help="those that are missing are left out")
    parser.add_argument("--levels", default="0,1,2", help="levels of optimisation")
    parser.add_argument("--schedule", default="os", help="how `sooth record` runs threads: os, serial, random, pct:D")
    parser.add_argument("--seed", default="1", help="of the schedule")
    parser.add_argument("--filter", choices=("repeat", "off", "tree:strict"), default="repeat", help="what `sooth record` leaves out")
    parser.add_argument("--deep", action="store_true", help="build with --deep, and follow the code of every thread")
    parser.add_argument("--sample", metavar="SEED/N", help="an Nth of the combinations, and the first compiler at -O1")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("names", nargs="*", help="programs without their suffix; all by default")
    options = parser.parse_args()
    if options.tool == "sooth" and not options.sooth:
        parser.error("--sooth is missing")
    return options


def main():
    options = parse_options()
    try:
        programs = [Program(path) for path in sources()]
        if options.names:
            programs = [program for program in programs if program.name in options.names]
        compilers = [Compiler(name) for name in options.compilers.split(",")]
    except Failure as failure:
        sys.exit(str(failure))
    for compiler in compilers:
        if not compiler.available:
            print(f"{compiler.name} is not installed: left out")
    compilers = [compiler for compiler in compilers if compiler.available]
    tool = Tsan(options) if options.tool == "tsan" else Sooth(options)
    jobs = selection(programs, compilers, options.levels.split(","), options.sample)
    if options.tool == "tsan":
        jobs = [job for job in jobs if job[0].tsan != "skip"]
    if not jobs:
        sys.exit("there is nothing to run")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for sentence in pool.map(lambda job: check(*job, tool), jobs):
            if sentence:
                print(sentence)
                failed += 1
    print(f"{len(jobs) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
