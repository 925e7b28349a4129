#!/usr/bin/env python3
"""Runs small programs under the controlled scheduler of the run time library and reads what it has written.

    run.py --library build/runtime/libtsan.so.2 [NAME ...]

Control files are made here and logs are read here, byte by byte as src/schedule/protocol.h says, so that the library is held to the
protocol and not to the tool's idea of it. Programs are in programs/; a comment SITE(1) or SITE(2) marks lines of the pair.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import traceback

FOLDER = pathlib.Path(__file__).resolve().parent
TIME_LIMIT = 60  # seconds

STRATEGY, DIRECTED, STRETCHES, CHOICES = range(4)
STOP_AT_RACE, REAL_TIME, EVERY_ACCESS, LOG_POINTS = 1, 2, 4, 8
READS, WRITES, ATOMICS = 1, 2, 4
NONE = 0xffffffff
ANY_ACCESSES = (1 << 64) - 1
ENDS = ["preempted", "blocked", "yielded", "outside", "taken", "postponed", "ended", "spun", "run ended"]
NOT_STARTED, RUNNING, ENDED, DEADLOCKED, DIVERGED = range(5)
KINDS = ["nothing", "thread", "stretch", "race", "race with", "let go", "turn taken", "spin", "deadlock", "blocked thread", "diverged",
         "point", "step", "external"]
DEADLOCK_STATUS = 66
LOG_HEADER, LOG_RECORD = 64, 32

Record = collections.namedtuple("Record", "kind process thread a b c")
Stretch = collections.namedtuple("Stretch", "thread end events accesses hash timed_out")
Site = collections.namedtuple("Site", "begin end sites kinds")


class Run:
    """What a controlled run left behind."""

    def __init__(self, status, output, errors, log):
        self.status, self.output, self.errors = status, output, errors
        _, _, count, self.state, self.processes, self.hook_calls, self.points, _, _ = struct.unpack_from("<QQQIIQQQQ", log)
        self.truncated = count > (len(log) - LOG_HEADER) // LOG_RECORD
        self.records = []
        for i in range(min(count, (len(log) - LOG_HEADER) // LOG_RECORD)):
            kind, *rest = struct.unpack_from("<HHIQQQ", log, LOG_HEADER + i * LOG_RECORD)
            self.records.append(Record(KINDS[kind], *rest))

    def of(self, *kinds, process=0):
        return [record for record in self.records if record.kind in kinds and record.process == process]

    def stretches(self, process=0):
        return [Stretch(r.thread, r.c & 0xff, r.a, r.b, r.c >> 32, r.c >> 8 & 1) for r in self.of("stretch", process=process)]

    def threads(self):
        return [(r.thread, r.a, r.b) for r in self.of("thread")]


def control_file(plan, seed=1, strategy="random", flags=0, quantum=0, patience=0, sites=(), stretches=(), threads=(), choices=()):
    header = 88
    text = strategy.encode() + b"\0"
    text += b"\0" * (-len(text) % 8)
    empty = text.find(b"\0")  # the program itself: a module without a name
    tables = [b"".join(struct.pack("<IIIIQQ", header + empty, s.sites, s.kinds, 0, s.begin, s.end) for s in sites),
              b"".join(struct.pack("<IIQQII", s.thread, s.end, s.events, s.accesses, s.hash, s.timed_out) for s in stretches),
              b"".join(struct.pack("<IIII", *t, 0) for t in threads),
              struct.pack(f"<{len(choices)}H", *choices)]
    at = header + len(text)
    places = []
    for table, count in zip(tables, (len(sites), len(stretches), len(threads), len(choices))):
        places += [at, count]
        at += len(table)
    head = struct.pack("<QIIIIQQ10I", 0x314c52544348544f, at, flags, plan, quantum, seed, patience, header, *places, 0)
    return head + b"\0" * (header - len(head)) + text + b"".join(tables)


class Program:
    """A compiled program and where its sites are."""

    def __init__(self, name, work, library):
        self.name, self.work, self.library = name, work, library
        self.source = FOLDER / "programs" / f"{name}.cc"
        self.binary = work / name
        subprocess.run(["g++", "-std=c++20", "-g", "-O0", "-fsanitize=thread", "-pthread", self.source, "-o", self.binary], check=True)
        self._sites = None

    def run(self, plan=STRATEGY, arguments=(), capacity=1 << 16, under=(), **options):
        control, log = self.work / "control", self.work / "log"
        control.write_bytes(control_file(plan, **options))
        with open(log, "wb") as file:
            file.write(struct.pack("<QQ", 0x31474f4c43544f53, capacity))
            file.truncate(LOG_HEADER + capacity * LOG_RECORD)
        environment = {**os.environ, "SOOTH_CONTROL": str(control), "SOOTH_CONTROL_LOG": str(log)}
        preload = ["env", f"LD_PRELOAD={self.library}"]
        done = subprocess.run([*under, *preload, self.binary, *arguments], env=environment, capture_output=True, text=True, timeout=TIME_LIMIT,
                              stdin=subprocess.DEVNULL, check=False)
        return Run(done.returncode, done.stdout, done.stderr, log.read_bytes())

    def sites(self):
        """The calls of hooks on lines that are marked."""
        if self._sites is None:
            marks = {}
            for number, line in enumerate(self.source.read_text().splitlines(), 1):
                for site in re.findall(r"SITE\((\d)\)", line):
                    marks[number] = marks.get(number, 0) | 1 << int(site) - 1
            code = subprocess.run(["objdump", "-d", self.binary], capture_output=True, text=True, check=True).stdout
            calls = re.findall(r"^ *([0-9a-f]+):.*call.*<__tsan_(read|write|atomic)[^>]*>", code, re.MULTILINE)
            places = subprocess.run(["addr2line", "-e", self.binary, *(call[0] for call in calls)], capture_output=True, text=True,
                                    check=True).stdout.splitlines()
            self._sites = []
            for (address, what), place in zip(calls, places):
                number = re.search(r":(\d+)", place)
                sites = marks.get(int(number[1]), 0) if number and self.source.name in place else 0
                kinds = {"read": READS, "write": WRITES, "atomic": READS | WRITES | ATOMICS}[what]
                if sites:
                    self._sites.append(Site(int(address, 16), int(address, 16) + 5, sites, kinds))
            assert {1, 2} <= {s.sites for s in self._sites} or any(s.sites == 3 for s in self._sites), self._sites
        return self._sites


def same(first, second):
    """Two runs that are one: output, status and every record."""
    assert (first.status, first.output) == (second.status, second.output), (first.output, second.output)
    assert first.records == second.records, next((a, b) for a, b in zip(first.records, second.records) if a != b)


def test_seeds_repeat(program):
    counter = program("counter")
    for strategy in ("random", "pct:3", "serial"):
        outputs = set()
        for seed in range(20):
            runs = [counter.run(seed=seed, strategy=strategy, quantum=64) for _ in range(2)]
            same(*runs)
            run = runs[0]
            assert run.status == 0 and run.state == ENDED and run.processes == 1, (run.status, run.state, run.errors)
            assert run.threads() == [(1, 0, 0), (2, 0, 1)], run.threads()
            assert ENDS[run.stretches()[-1].end] == "run ended" and run.hook_calls > 40, run.stretches()
            assert not run.of("external", "diverged", "race"), run.records
            outputs.add(run.output)
        assert strategy == "serial" or len(outputs) > 1, (strategy, outputs)


def test_race_is_created(program):
    handover = program("handover")
    first = set()
    for seed in range(100):
        run = handover.run(DIRECTED, seed=seed, sites=handover.sites())
        assert run.status == 0 and run.state == ENDED, (seed, run.status, run.errors)
        races = run.of("race", "race with")
        assert len(races) == 2 and races[0].kind == "race" and races[1].kind == "race with", (seed, run.records)
        assert sorted(r.thread for r in races) == [1, 2], races
        firsts = [r.c >> 40 & 1 for r in races]
        assert sorted(firsts) == [0, 1], races
        winner = races[firsts.index(1)]
        first.add(winner.thread)
        assert run.output == f"{1 if winner.thread == 1 else 0} 40\n", (seed, run.output, races)
        assert {r.c & 0xffffffff for r in races} == {4}, races
        sites = [handover.sites()[r.b] for r in races]
        assert {s.sites for s in sites} == {1, 2} and all(s.begin <= r.a < s.end for s, r in zip(sites, races)), races
    assert first == {1, 2}, first


def test_deadlock(program):
    lock_order = program("lock_order")
    statuses = collections.Counter()
    for seed in range(40):
        run = lock_order.run(seed=seed)
        statuses[run.status] += 1
        if run.status == 0:
            assert run.output == "done\n" and run.state == ENDED, run.output
            continue
        assert run.status == DEADLOCK_STATUS and run.state == DEADLOCKED, (run.status, run.state)
        assert len(run.of("deadlock")) == 1, run.records
        blocked = {r.thread: (r.a, r.b) for r in run.of("blocked thread")}
        assert blocked[1] == (1, 2) and blocked[2] == (1, 1), blocked
        assert "thread 1 waits for a mutex that thread 2 holds" in run.errors, run.errors
        assert "thread 2 waits for a mutex that thread 1 holds" in run.errors, run.errors
        assert "thread 0 waits for the end of thread 1" in run.errors, run.errors
    assert set(statuses) == {0, DEADLOCK_STATUS}, statuses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, type=os.path.abspath, help="libtsan.so.2")
    parser.add_argument("names", nargs="*", help="tests to run, without test_; all by default")
    options = parser.parse_args()
    tests = {name[5:]: test for name, test in globals().items() if name.startswith("test_")}
    failed = 0
    with tempfile.TemporaryDirectory(prefix="sooth-control-") as work:
        programs = {}

        def program(name):
            if name not in programs:
                programs[name] = Program(name, pathlib.Path(work), options.library)
            return programs[name]

        for name in options.names or tests:
            try:
                tests[name](program)
                print(f"ok      {name}", flush=True)
            except (AssertionError, subprocess.SubprocessError, OSError):
                failed += 1
                print(f"FAILED  {name}\n{traceback.format_exc()}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
