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
         "point", "step", "external", "step at", "module", "crash", "early", "frame", "stopped", "wake", "events", "order"]
DEADLOCK_STATUS = 66
LOG_HEADER, LOG_RECORD = 64, 32

Record = collections.namedtuple("Record", "kind process thread a b c")
Stretch = collections.namedtuple("Stretch", "thread end events accesses hash timed_out")
Site = collections.namedtuple("Site", "begin end sites kinds module")


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
    names = {}
    for site in sites:
        if site.module not in names:
            names[site.module] = header + len(text)
            text += site.module.encode() + b"\0"
    text += b"\0" * (-len(text) % 8)
    tables = [b"".join(struct.pack("<IIIIQQ", names[s.module], s.sites, s.kinds, 0, s.begin, s.end) for s in sites),
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
        self._compile(self.source, self.binary)
        self.code, self.module = self.binary, ""
        library = FOLDER / "programs" / f"{name}_library.cc"
        if library.exists():
            self.source, self.module = library, f"{name}_library.so"
            self.code = work / self.module
            self._compile(library, self.code, "-shared", "-fPIC")
        self._sites = None

    @staticmethod
    def _compile(source, target, *flags):
        subprocess.run(["g++", "-std=c++20", "-g", "-O0", "-fsanitize=thread", "-pthread", *flags, source, "-o", target], check=True)

    def run(self, plan=STRATEGY, arguments=(), capacity=1 << 16, under=(), preload=True, **options):
        control, log = self.work / "control", self.work / "log"
        control.write_bytes(control_file(plan, **options))
        with open(log, "wb") as file:
            file.write(struct.pack("<QQ", 0x31474f4c43544f53, capacity))
            file.truncate(LOG_HEADER + capacity * LOG_RECORD)
        environment = {**os.environ, "SOOTH_CONTROL": str(control), "SOOTH_CONTROL_LOG": str(log)}
        command = [*under, *(["env", f"LD_PRELOAD={self.library}"] if preload else []), self.binary, *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIME_LIMIT,
                              stdin=subprocess.DEVNULL, check=False)
        return Run(done.returncode, done.stdout, done.stderr, log.read_bytes())

    def sites(self):
        """The calls of hooks on lines that are marked."""
        if self._sites is None:
            marks = {}
            for number, line in enumerate(self.source.read_text().splitlines(), 1):
                for site in re.findall(r"SITE\((\d)\)", line):
                    marks[number] = marks.get(number, 0) | 1 << int(site) - 1
            code = subprocess.run(["objdump", "-d", self.code], capture_output=True, text=True, check=True).stdout
            calls = re.findall(r"^ *([0-9a-f]+):.*call.*<(?:__tsan_)?(read|write|atomic|memcpy)[^>]*>", code, re.MULTILINE)
            places = subprocess.run(["addr2line", "-e", self.code, *(call[0] for call in calls)], capture_output=True, text=True,
                                    check=True).stdout.splitlines()
            self._sites = []
            for (address, what), place in zip(calls, places):
                number = re.search(r":(\d+)", place)
                sites = marks.get(int(number[1]), 0) if number and self.source.name in place else 0
                # Of a memcpy the pair means the source.
                kinds = {"read": READS, "write": WRITES, "atomic": READS | WRITES | ATOMICS, "memcpy": READS}[what]
                if sites:
                    self._sites.append(Site(int(address, 16), int(address, 16) + 5, sites, kinds, self.module))
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
        sites = [handover.sites()[r.b & 0xffffffff] for r in races]
        assert {s.sites for s in sites} == {1, 2} and all(s.begin <= r.a < s.end for s, r in zip(sites, races)), races
    assert first == {1, 2}, first


def test_sleeps_keep_nobody_apart(program):
    """Time passes before a postponed thread is let go."""
    sleeper = program("sleeper")
    outputs = set()
    for seed in range(20):
        run = sleeper.run(DIRECTED, seed=seed, sites=sleeper.sites())
        assert run.status == 0 and len(run.of("race")) == 1 and not run.of("external"), (seed, run.status, run.records)
        outputs.add(run.output)
    assert outputs == {"0\n", "1\n"}, outputs


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
        blocked = {r.thread: (r.a, r.b & NONE) for r in run.of("blocked thread")}
        assert blocked[1] == (1, 2) and blocked[2] == (1, 1), blocked
        locks = {r.b >> 32 for r in run.of("blocked thread") if r.thread != 0}
        assert len(locks) == 2 and 0 not in locks, f"two variables of the program: {locks}"
        frames = collections.Counter(r.thread for r in run.of("frame"))
        assert set(frames) == {0, 1, 2} and all(count >= 2 for count in frames.values()), frames
        assert "thread T1 waits for a mutex that thread T2 holds" in run.errors, run.errors
        assert "thread T2 waits for a mutex that thread T1 holds" in run.errors, run.errors
        assert "thread main waits for the end of thread T1" in run.errors, run.errors
    assert set(statuses) == {0, DEADLOCK_STATUS}, statuses


def replay(program, run, stretches=None, **options):
    """The same program along the stretches of a run, or along others."""
    options = {"strategy": "serial", **options}
    return program.run(STRETCHES, stretches=run.stretches() if stretches is None else stretches, threads=run.threads(), **options)


def test_stretches_repeat(program):
    for name, strategies in (("counter", ("random", "pct:3")), ("mixed", ("random", "pct:4", "serial")), ("lock_order", ("random",))):
        outputs = set()
        for strategy in strategies:
            for seed in range(20 if name == "lock_order" else 6):
                run = program(name).run(seed=seed, strategy=strategy, quantum=64)
                again = replay(program(name), run)
                assert not again.of("diverged"), (name, strategy, seed, again.of("diverged"), again.stretches()[-3:])
                assert (again.status, again.output, again.state) == (run.status, run.output, run.state), (name, strategy, seed)
                assert [s._replace(end=0) for s in again.stretches()] == [s._replace(end=0) for s in run.stretches()], (name, strategy, seed)
                outputs.add(run.output)
        assert len(outputs) > 1, (name, outputs)


def test_altered_stretches_diverge(program):
    mixed = program("mixed")
    run = mixed.run(seed=3)
    stretches = run.stretches()

    def diverges(altered, what, at, index):
        again = replay(mixed, run, altered)
        assert again.state == DIVERGED and again.status == 0, (what, again.state, again.status, again.errors)
        found = again.of("diverged")
        assert len(found) == 1 and (found[0].b, found[0].a) == (what, at), (what, at, found, index)
        return found[0]

    not_ready, no_thread, early, other_hash = range(4)
    # A thread that does not exist.
    diverges([*stretches[:5], stretches[5]._replace(thread=9), *stretches[6:]], no_thread, 5, 5)
    # Another hash.
    diverges([*stretches[:5], stretches[5]._replace(hash=stretches[5].hash ^ 1 or 1), *stretches[6:]], other_hash, 5, 5)
    # It is to come further than it can without others.
    index = next(i for i, s in enumerate(stretches) if ENDS[s.end] == "blocked")
    found = diverges([*stretches[:index], stretches[index]._replace(events=stretches[index].events + 10, hash=0)], early, index, index)
    assert ENDS[found.c] == "blocked" and found.thread == stretches[index].thread, found
    # A thread that is blocked is to go on.
    found = diverges([*stretches[:index + 1], stretches[index]], not_ready, index + 1, index)
    assert ENDS[found.c] == "blocked", found


def test_predicted_schedule_meets_its_race(program):
    """Thread 1 up to its write, then thread 2 up to its read: positions only, without hashes, as they come from a witness."""
    handover = program("handover")
    firsts = set()
    for seed in range(10):
        # What the main thread does comes from a run; the rest is what a prediction would say.
        run = handover.run(strategy="serial")
        begin = run.stretches()[0]
        assert begin.thread == 0, run.stretches()
        operations = max(s.events for s in run.stretches() if s.thread == 2)
        stretches = [begin._replace(hash=0), Stretch(1, 5, 1, ANY_ACCESSES, 0, 0), Stretch(2, 5, operations - 1, ANY_ACCESSES, 0, 0)]
        again = handover.run(STRETCHES, seed=seed, stretches=stretches, threads=run.threads(), sites=handover.sites())
        assert not again.of("diverged") and again.status == 0, (again.records, again.errors)
        races = again.of("race", "race with")
        assert len(races) == 2 and again.of("stretch")[1].thread == 1, again.records
        firsts.add(next(r.thread for r in races if r.c >> 40 & 1))
    assert firsts == {1, 2}, firsts


def test_choices(program):
    once = program("once")
    outputs = set()
    pending, seen = [()], set()
    while pending and len(seen) < 200:
        choices = pending.pop()
        if choices in seen:
            continue
        seen.add(choices)
        run = once.run(CHOICES, choices=choices, flags=EVERY_ACCESS | LOG_POINTS)
        assert run.status == 0 and not run.of("diverged"), (choices, run.records)
        outputs.add(run.output)
        points = [p for p in run.of("point") if bin(p.a).count("1") > 1]
        assert [p.b for p in points[:len(choices)]] == list(choices), (choices, points)
        assert run.of("step"), run.records
        for i, point in enumerate(points[len(choices):], len(choices)):
            taken = tuple(p.b for p in points[:i])
            pending += [taken + (thread,) for thread in range(64) if point.a >> thread & 1 and thread != point.b]
    assert outputs == {"1\n", "2\n"}, outputs
    run = once.run(CHOICES, choices=[0, 0, 0, 5], flags=EVERY_ACCESS)
    assert run.state == DIVERGED and [(r.thread, r.a, r.b) for r in run.of("diverged")] == [(5, 3, 0)], run.of("diverged")


def test_spin_loops_end(program):
    spin = program("spin")
    spins = collections.Counter()
    for how in ("plain", "atomic", "exchange", "trylock"):
        for strategy in ("random", "pct:3", "serial"):
            for seed in range(4):
                run = spin.run(arguments=[how], strategy=strategy, seed=seed)
                assert (run.status, run.output) == (0, "1\n"), (how, strategy, seed, run.status, run.output)
                spins[how] += len(run.of("spin"))
                assert not run.of("external"), run.of("external")
        for seed in range(4):
            run = spin.run(DIRECTED, arguments=[how], seed=seed, sites=spin.sites())
            assert (run.status, run.output) == (0, "1\n"), (how, seed, run.status, run.output)
            assert how != "plain" or run.of("race"), run.records
            run = spin.run(CHOICES, arguments=[how], choices=[1] * 10, flags=EVERY_ACCESS)
            assert (run.status, run.output) == (0, "1\n"), (how, run.status, run.output)
    assert all(spins[how] > 0 for how in ("atomic", "exchange")), spins


def test_spinning_lets_a_postponed_thread_go(program):
    """The writer is postponed in front of the write that the other thread waits for in a loop: only one of the sites is known."""
    spin = program("spin")
    sites = [s for s in spin.sites() if s.sites == 2]
    for patience in (0, 1000):
        run = spin.run(DIRECTED, arguments=["plain"], sites=sites, patience=patience)
        assert (run.status, run.output) == (0, "1\n"), run.status
        let_go = run.of("let go")
        assert let_go and {r.a for r in let_go} <= {0, 1}, run.records
        assert patience == 0 or any(r.a == 1 for r in let_go), let_go


def test_waiting_loops_keep_nobody_for_long(program):
    """All others go round in loops until the postponed thread gives its lock back: that is seen soon, in whatever way they wait."""
    held_up = program("held_up")
    for how in ("yield", "sleep", "exchange", "compare", "look"):
        points = []
        for seed in range(10):
            run = held_up.run(DIRECTED, arguments=[how], seed=seed, sites=held_up.sites())
            assert (run.status, run.output) == (0, "12\n") and not run.of("race"), (how, seed, run.status, run.output)
            assert any(r.a == 1 for r in run.of("let go")), (how, seed, run.of("let go"))
            points.append(run.points)
        assert sorted(points)[len(points) // 2] < 60000, (how, points)  # 123,644 to 2,573,072 without that


def test_no_race_where_there_is_none(program):
    own_data = program("own_data")
    for seed in range(20):
        run = own_data.run(DIRECTED, seed=seed, sites=own_data.sites())
        assert (run.status, run.output) == (0, "done\n"), run.status
        assert not run.of("race") and run.of("let go"), run.records
    # Threads at the same one of two different sites are no race of the pair.
    counter = program("counter")
    for seed in range(10):
        run = counter.run(DIRECTED, seed=seed, sites=[s._replace(sites=1) for s in counter.sites()])
        assert run.status == 0 and not run.of("race"), run.records


def test_atomic_and_range_accesses(program):
    for name in ("atomic_pair", "copy_pair"):
        outputs = set()
        for seed in range(10):
            run = program(name).run(DIRECTED, seed=seed, sites=program(name).sites())
            assert run.status == 0 and len(run.of("race")) == 1, (name, seed, run.records)
            outputs.add(run.output)
        assert outputs == {"0\n", "1\n"}, (name, outputs)
        kinds = {r.c >> 32 & 7 for r in run.of("race", "race with")}
        assert kinds == ({READS, WRITES | ATOMICS} if name == "atomic_pair" else {READS, WRITES}), kinds
    assert {r.c & 0xffffffff for r in run.of("race", "race with")} == {1, 100}, run.records


def test_sites_in_a_library(program):
    plugin = program("plugin")
    for module in (plugin.module, str(plugin.code)):
        sites = [s._replace(module=module) for s in plugin.sites()]
        for seed in range(5):
            run = plugin.run(DIRECTED, seed=seed, sites=sites)
            assert run.status == 0 and len(run.of("race")) == 2, (module, seed, run.status, run.records)
            firsts = sum(r.c >> 40 & 1 for r in run.of("race", "race with") if plugin.sites()[r.b & 0xffffffff].sites == 1)
            assert run.output == f"{firsts}\n", (run.output, run.records)
    run = plugin.run(DIRECTED, sites=[s._replace(module="") for s in plugin.sites()])
    assert run.status == 0 and not run.of("race"), run.records


def test_stop_at_race(program):
    handover = program("handover")
    run = handover.run(DIRECTED, sites=handover.sites(), flags=STOP_AT_RACE)
    assert run.status == -5 and "meets thread" in run.errors, (run.status, run.errors)
    assert len(run.of("race")) == 1, run.records
    if shutil.which("gdb"):
        stacks = handover.run(DIRECTED, sites=handover.sites(), flags=STOP_AT_RACE,
                              under=["gdb", "-q", "-batch", "-iex", "set auto-load safe-path /", "-ex", "set startup-with-shell off",
                                     "-ex", f"set environment LD_PRELOAD {handover.library}", "-ex", "run",
                                     "-ex", "thread apply all bt", "--args"], preload=False).output
        assert re.search(r"in first \(\)", stacks) and re.search(r"in second \(\)", stacks) and "SIGTRAP" in stacks, stacks


def test_every_deadlock_is_seen(program):
    waits = program("waits")
    for number, how in enumerate(["mutex", "rwlock", "spin", "condition", "barrier", "semaphore"], 1):
        run = waits.run(arguments=[how])
        assert (run.status, run.state) == (DEADLOCK_STATUS, DEADLOCKED), (how, run.status, run.errors)
        assert {r.thread: r.a for r in run.of("blocked thread")} == {0: 7, 1: number}, run.records
        assert all(r.c != 0 for r in run.of("blocked thread")), run.records
        assert [r.b & NONE for r in run.of("blocked thread") if r.thread == 1] == [0 if number <= 3 else NONE], run.records
    # A reader has the lock: it is told like a writer, and makes a circle like one.
    for how, expected in (("reader", {0: (7, 1), 1: (2, 0)}), ("reader in a circle", {0: (1, 1), 1: (2, 0)})):
        run = waits.run(arguments=[how])
        assert (run.status, run.state) == (DEADLOCK_STATUS, DEADLOCKED), (how, run.status, run.errors)
        assert {r.thread: (r.a, r.b & NONE) for r in run.of("blocked thread")} == expected, (how, run.records)
    for how in ("future", "latch"):
        run = waits.run(arguments=[how])
        assert (run.status, run.state) == (DEADLOCK_STATUS, DEADLOCKED), (how, run.status, run.errors)
        assert {r.a for r in run.of("blocked thread")} == {7, 9}, run.records
    assert waits.run(arguments=["nothing"]).output == "done\n"
    run = program("timer").run()
    assert (run.status, run.output) == (0, "done\n"), (run.status, run.output, run.errors)


def test_processes(program):
    processes = program("processes")
    for seed in range(5):
        run = processes.run(seed=seed, strategy="random")
        assert (run.status, run.output, run.state) == (0, "executed\nchild 7\n", ENDED), (run.status, run.output, run.errors)
        assert run.processes == 3, run.processes
        assert [len(run.of("thread", process=p)) for p in range(3)] == [2, 2, 2], run.records
        assert all(run.stretches(process=p) for p in range(3)), run.records


def test_signals(program):
    for seed in range(5):
        run = program("signals").run(seed=seed)
        assert (run.status, run.output, run.state) == (0, "3\n", ENDED), (run.status, run.output, run.errors)
        assert 2 in {r.a for r in run.of("external")}, "when a thread gets a signal is not ours to say"


def test_bad_files(program):
    counter = program("counter")
    good = control_file(STRATEGY)
    for bad in (b"", good[:40], b"\0" * 200, good[:8] + struct.pack("<I", 1 << 30) + good[12:], good.replace(b"random", b"rubbish"[:6])):
        (counter.work / "bad").write_bytes(bad)
        environment = {**os.environ, "SOOTH_CONTROL": str(counter.work / "bad"), "LD_PRELOAD": counter.library}
        done = subprocess.run([counter.binary], env=environment, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
        assert done.returncode == 0 and "control file" in done.stderr, (bad, done)
    run = counter.run(capacity=5)
    assert run.status == 0 and run.truncated and len(run.records) == 5 and run.state == ENDED, run.records


def test_the_end_is_a_scheduling_point(program):
    """Others run before it, between it and what runs at exit, or never; one that runs for ever does not keep the process alive."""
    leaving = program("leaving")
    for how in ((), ("exit",)):
        outputs = set()
        for seed in range(60):
            for strategy in ("random", "pct:2"):
                run = leaving.run(arguments=how, seed=seed, strategy=strategy)
                assert run.status == 0 and run.state == ENDED, (how, seed, run.status, run.errors)
                outputs.add(run.output)
            if seed < 5:
                again = replay(leaving, run, arguments=how)
                assert not again.of("diverged") and again.output == run.output, (how, seed, again.of("diverged"))
        assert {"0 0\n", "2 2\n", "0 2\n"} <= outputs, (how, outputs)
    statuses = {leaving.run(arguments=["_exit"], seed=seed).status for seed in range(60)}
    assert statuses >= {0, 2}, statuses
    for strategy in ("random", "pct:3", "serial"):
        for seed in range(4):
            run = leaving.run(arguments=["serve"], seed=seed, strategy=strategy)
            assert run.status == 0 and run.state == ENDED, (strategy, seed, run.status)


def test_time_is_a_choice(program):
    """A sleep or time-out ends before, in the middle of and after what others do; seeds and schedules repeat that."""
    early = program("early")
    for how in ("sleep", "condition", "lock"):
        outputs, early_ends = set(), 0
        for seed in range(60):
            for strategy in ("random", "pct:3"):
                run = early.run(arguments=[how], seed=seed, strategy=strategy)
                assert run.status == 0 and run.state == ENDED and not run.of("external"), (how, seed, run.status, run.errors)
                outputs.add(run.output)
                early_ends += len(run.of("early"))
                assert all(0 < r.a <= 1_100_000 for r in run.of("early")), run.of("early")
            if seed < 8:
                same(run, early.run(arguments=[how], seed=seed, strategy="pct:3"))
                again = replay(early, run, arguments=[how])
                assert not again.of("diverged") and again.output == run.output, (how, seed, again.of("diverged"))
                # As a prediction has it: without a word of deadlines.
                bare = [s._replace(hash=0, timed_out=0) for s in run.stretches()]
                again = replay(early, run, bare, arguments=[how])
                assert not again.of("diverged") and again.output == run.output, (how, seed, again.of("diverged"))
        assert {"0\n", "4\n"} <= outputs and outputs & {"1\n", "2\n", "3\n"} and early_ends > 10, (how, outputs, early_ends)
        # The sleeper is told to run on: that it falls asleep on the way is its own business.
        run = early.run(arguments=[how], strategy="serial")
        events = max(s.events for s in run.stretches() if s.thread == 1)
        begin = next(s for s in run.stretches() if s.thread == 0)
        schedule = [begin._replace(hash=0), Stretch(1, 6, events, ANY_ACCESSES, 0, 0)]
        again = replay(early, run, schedule, arguments=[how])
        assert not again.of("diverged") and again.output == "0\n", (how, again.output, again.of("diverged"))


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
