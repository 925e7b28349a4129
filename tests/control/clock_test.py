#!/usr/bin/env python3
"""Virtual time: what the programs of programs/clock.cc see of it, and that it depends on the seed alone.

    clock_test.py --sooth build/bin/sooth --library build/runtime/libtsan.so.2 [--repeats N] [NAME...]      all tests, or those named

N (default 50) runs with the same seed must print the same.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

import run as control

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent / "cli"))
import test_loop  # noqa: E402
from test_loop import check  # noqa: E402

TIME_LIMIT = 60  # real seconds for one process
FEW_SECONDS = 10  # of real time, for programs whose own time is minutes or hours, on a busy machine

SLEEPS = "".join(f"slept {i}\n" for i in range(1, 12)) + "together 11 seconds\n"
POLLING = ("read the clock more than once: 1\na second has begun\nslept until the flag was set\nyielded until the flag was set\n"
           "spun until the flag was set\nslept until the plain flag was set\nworked until told to stop: 1\n")
TIMED_WAITS = ["condition 1", "calendar 1", "notified 1 after 10 s", "mutex 1", "rwlock 1", "semaphore 1", "future 1",
               "c++ semaphore 0", "timed_mutex 0", "join 1"]


class Bench:
    """The compiled programs, and a directory that goes away."""

    def __init__(self, sooth, library, directory, repeats):
        self.sooth, self.library, self.directory, self.repeats, self.traces = sooth, library, pathlib.Path(directory), repeats, 0
        self.program = self.directory / "programs"
        self.execute([sooth, "c++", "-std=c++20", "-O1", FOLDER / "programs" / "clock.cc", "-o", self.program])

    def execute(self, words, **more):
        run = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=TIME_LIMIT, check=False, **more)
        check(run.returncode == 0, f"{words}: status {run.returncode}\n{run.stdout}{run.stderr}")
        return run.stdout

    def record(self, *arguments, schedule="random", seed=1, options="", stdin=subprocess.DEVNULL):
        """Standard output of one of the programs, which must end well, and the real seconds that it took. Deadlines fire in
        order, when nobody can run: what else they do is tested in run.py."""
        self.traces += 1
        begin = time.monotonic()
        output = self.execute([self.sooth, "record", "-o", self.directory / f"trace{self.traces}", "--schedule", schedule, "--seed", seed,
                               "--", self.program, *arguments], stdin=stdin, env={"PATH": "/usr/bin:/bin", "SOOTH_OPTIONS": f"early_ends=0 {options}"})
        return output, time.monotonic() - begin

    def expect_output(self, expected, *arguments, seeds=(1, 2, 3), limit=FEW_SECONDS):
        for schedule in ["random", "pct:3"]:
            for seed in seeds:
                output, seconds = self.record(*arguments, schedule=schedule, seed=seed)
                check(output == expected, f"{arguments} under {schedule}, seed {seed}, printed\n{output}instead of\n{expected}")
                check(seconds < limit, f"{arguments} under {schedule}, seed {seed}, took {seconds:.1f} s of real time")


def test_sleeps(bench):
    bench.expect_output(SLEEPS, "sleeps")


def test_timed_waits(bench):
    for schedule in ["random", "pct:2"]:
        output, seconds = bench.record("timed_waits", schedule=schedule)
        # The join and the mutex have about the same deadline, and so either may come first.
        check(sorted(output.splitlines()) == sorted(TIMED_WAITS), output)
        check(seconds < FEW_SECONDS, f"took {seconds:.1f} s of real time")


def test_watchdog(bench):
    bench.expect_output("sum 44999850000\n", "watchdog", seeds=(1,))


def test_polling(bench):
    bench.expect_output(POLLING, "polling", seeds=(1, 2), limit=30)


def test_ping_pong(bench):
    bench.expect_output("ab" * 20 + "\n", "ping_pong")


def test_monotonic(bench):
    bench.expect_output("never back\n", "monotonic")


def test_fork(bench):
    bench.expect_output("child 7\n", "forked", seeds=(1,))


def test_interrupted(bench):
    bench.expect_output("interrupted 1, left 99\ncancelled 1\n", "interrupted", seeds=(1, 2))


def test_patient(bench):
    bench.expect_output("notified 1\nnotified 1\n", "patient", seeds=(1, 2, 3, 4))


def test_shared(bench):
    bench.expect_output("timed out 1 1\n", "shared", seeds=(1,))


def test_polls(bench):
    expected = "poll 1\nnothing to poll 3600\nnothing to select 3600\nselect 1\nready 1\n"
    bench.expect_output(expected, "polls", seeds=(1,), limit=30)


def test_wake_together(bench):
    """Threads with the same deadline are ready together, whatever the order in which they run then."""
    orders = {bench.record("together", seed=seed)[0] for seed in range(1, 11)}
    check(all(sorted(order.strip()) == sorted("abcde" * 3) for order in orders), f"{orders}")
    check(len(orders) > 5, f"ten seeds gave only {orders}")


def test_repeatable(bench):
    """Times to the last digit, and who wakes first."""
    for program in ["times", "together"]:
        outputs = {bench.record(program, seed=7)[0] for _ in range(bench.repeats)}
        check(len(outputs) == 1, f"{program}: {len(outputs)} different outputs of {bench.repeats} runs with the same seed, such as\n"
               + "\n".join(sorted(outputs)[:2]))
        check(bench.record(program, seed=8)[0] not in outputs, f"{program}: another seed makes no difference")


def test_reader(bench):
    """Somebody is in read(): a deadline that comes first in real time fires, one that comes later does not."""
    for limit, expected in [(200, "timed out\ngot 1\n"), (20_000, "read first\ngot 1\n")]:
        with subprocess.Popen(["sh", "-c", "sleep 2; echo x"], stdout=subprocess.PIPE) as writer:
            output, _ = bench.record("reader", limit, stdin=writer.stdout)
            writer.stdout.close()
        check(output == expected, f"reader {limit} printed\n{output}")


def test_option(bench):
    """Real time where it is asked for; it is what `serial` has."""
    for schedule, options, is_virtual in [("serial", "", False), ("serial", "virtual_time=1", True), ("random", "virtual_time=0", False)]:
        output, _ = bench.record("times", schedule=schedule, options=options)
        check((" 0 946684800." in output) == is_virtual, f"{schedule} {options}:\n{output}")
    output, _ = bench.record("sleeps", schedule="serial", options="virtual_time=1")
    check(output == SLEEPS, output)


def test_controlled(bench):
    """Controlled runs: equal seeds, and schedules that are followed again, see equal times; nothing is external."""
    clock = control.Program("clock", bench.directory, bench.library)
    for name in ["sleeps", "ping_pong", "together", "times", "monotonic"]:
        for seed, strategy in [(1, "random"), (2, "pct:3")]:
            runs = [clock.run(arguments=[name], seed=seed, strategy=strategy) for _ in range(2)]
            control.same(*runs)
            check(runs[0].status == 0 and not runs[0].of("external", "turn taken"), f"{name}: {runs[0].records}")
            again = control.replay(clock, runs[0], arguments=[name])
            check(not again.of("diverged") and again.output == runs[0].output, f"{name}, followed again:\n{again.output}{again.of('diverged')}")
    real = clock.run(arguments=["times"], flags=control.REAL_TIME)
    check(real.status == 0 and " 0 946684800." not in real.output, real.output)


def test_controlled_sleeper(bench):
    """A thread that waits in front of its access for a race waits for one that sleeps."""
    sleeper = control.Program("sleeper", bench.directory, bench.library)
    outputs = set()
    for seed in range(10):
        run = sleeper.run(control.DIRECTED, seed=seed, sites=sleeper.sites())
        check(run.status == 0 and len(run.of("race")) == 1, f"seed {seed}: {run.records}")
        outputs.add(run.output)
    check(outputs == {"0\n", "1\n"}, outputs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True, type=pathlib.Path)
    parser.add_argument("--library", required=True, type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    tests = {name[5:]: test for name, test in globals().items() if name.startswith("test_") and callable(test)}
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(arguments.sooth.resolve(), arguments.library.resolve(), directory, arguments.repeats)
        return test_loop.loop(tests, arguments.names, lambda name, test: test(bench))


if __name__ == "__main__":
    sys.exit(main())
