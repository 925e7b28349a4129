#!/usr/bin/env python3
"""Every program that ends when it runs alone ends under every strategy, with the same status and the output that its marks say.

    sweep.py --library build/runtime/libtsan.so.2 [--seeds N] [--repeats N] [--first-seed N] [--jobs N] [--strategies S,...] [NAME ...]

The programs are those of tests/programs and of examples/; each is built once (gcc -O1 -g -fsanitize=thread) and run with N seeds for each of
random, pct:3, serial and directed, which postpones threads in front of the marked races. A run that does not end is our fault, and so is a
deadlock: what is printed then names program, strategy and seed.

With R of the seeds (--repeats) each example is run twice: log, output and status must be the same. So must those of any other program that nothing
from outside takes part in, as the log says; a third as many of these.
"""
import argparse
import concurrent.futures
import importlib.util
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

import run as control

ROOT = control.FOLDER.parent.parent
WINDOW = 60  # seconds
IDLE = 0.5   # seconds of processor time: whoever has used less in a window is stuck, also on a machine with fifty others at work
BUSY = 120   # seconds of processor time: whoever has used more runs in circles
CAPACITY = 1 << 15  # records of a log; longer logs are cut, and then compared as far as they go
ALONE = ["setarch", "-R"]  # `sooth replay` does the same: addresses are input

STRATEGIES = ["random", "pct:3", "serial", "directed"]


def load(name, path):
    """A script of another folder that is called run.py as well."""
    specification = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


programs = load("programs_run", ROOT / "tests/programs/run.py")
Failure = programs.Failure


def processor_time(group):
    """Seconds that the processes of a group have used so far."""
    ticks = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it is gone
        if int(fields[2]) == group:
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def wait(process):
    """Output, errors and status (128 + signal); a Failure if it does not end."""
    used = 0.0
    while True:
        try:
            output, errors = process.communicate(timeout=WINDOW)
            return output, errors, process.returncode if process.returncode >= 0 else 128 - process.returncode
        except subprocess.TimeoutExpired:
            before, used = used, processor_time(process.pid)
            if used - before < IDLE or used > BUSY:
                os.killpg(process.pid, signal.SIGKILL)
                output, errors = process.communicate()
                raise Failure(f"hangs, after {used:.1f} s of processor time; it has printed {output!r} {errors!r}") from None


class Subject:
    """A program of the sweep, built in a folder of its own."""

    def __init__(self, path, work, library):
        self.program = programs.Program(path)
        self.name, self.work, self.library = self.program.name, work / self.program.name, library
        self.is_example = path.parent == programs.EXAMPLES
        self.may_fail = self.is_example and self.program.races  # that is what examples show
        self.work.mkdir()
        compiler = programs.Compiler("gcc")
        programs.build(lambda source: [compiler.driver(source)], self.program, "1", self.work / "program", "-fsanitize=thread")
        self.pairs = [self._sites(ends) for ends in self.program.races.values()]

    def _sites(self, ends):
        """The calls of hooks on the two lines of a race, in the program or its plugins."""
        sites = []
        for file in {file for file, _ in ends}:
            is_plugin = file != self.program.path.name
            code = self.work / (pathlib.Path(file).with_suffix(".so").name if is_plugin else "program")
            disassembly = subprocess.run(["objdump", "-d", code], capture_output=True, text=True, check=True).stdout
            calls = re.findall(r"^ *([0-9a-f]+):.*call.*<__tsan_(?:unaligned_)?(read|write|atomic)[^>]*>", disassembly, re.MULTILINE)
            places = subprocess.run(["addr2line", "-e", code, *(call[0] for call in calls)], capture_output=True, text=True,
                                    check=True).stdout.splitlines()
            for (address, what), place in zip(calls, places):
                match = re.search(r"([^/]+):(\d+)(?: |$)", place)
                at = (match[1], int(match[2])) if match else ("", 0)
                bits = sum(1 << end for end in range(2) if ends[end] == at)
                kinds = {"read": control.READS, "write": control.WRITES, "atomic": 7}[what]
                if bits:
                    begin = int(address, 16)
                    sites.append(control.Site(begin, begin + 5, bits, kinds, code.name if is_plugin else ""))
        return sites

    def run(self, strategy, seed):
        """Output, errors, status, and the log."""
        options = {"seed": seed, "strategy": strategy}
        plan = control.STRATEGY
        if strategy == "directed":
            plan = control.DIRECTED
            options = {"seed": seed, "sites": self.pairs[seed % len(self.pairs)] if self.pairs else ()}
        file, log = self.work / "control", self.work / "log"
        file.write_bytes(control.control_file(plan, **options))
        with open(log, "wb") as empty:
            empty.write(struct.pack("<QQ", 0x31474f4c43544f53, CAPACITY))
            empty.truncate(control.LOG_HEADER + CAPACITY * control.LOG_RECORD)
        environment = {**os.environ, "SOOTH_CONTROL": str(file), "SOOTH_CONTROL_LOG": str(log)}
        with subprocess.Popen([*ALONE, "env", f"LD_PRELOAD={self.library}", "./program", *self.program.arguments], cwd=self.work,
                              env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="replace", start_new_session=True) as process:
            output, errors, status = wait(process)
        return output, errors, status, log.read_bytes()

    def check(self, strategy, seed, repeat):
        output, errors, status, log = self.run(strategy, seed)
        if status == control.DEADLOCK_STATUS:
            raise Failure(f"deadlocks: {errors}")
        if "sooth: " in errors:
            raise Failure(f"is told: {errors}")
        if not self.may_fail and status != self.program.status:
            raise Failure(f"ends with status {status}, not {self.program.status}: {output!r} {errors!r}")
        if not self.may_fail and self.program.output and output.splitlines() != self.program.output:
            raise Failure(f"prints {output!r}, not {self.program.output!r}: {errors!r}")
        if not repeat:
            return
        first = control.Run(status, output, errors, log)
        if first.of("external") or first.processes != 1:
            if self.is_example:
                raise Failure(f"has something from outside in its log: {first.of('external')}")
            return
        output, errors, status, log = self.run(strategy, seed)
        second = control.Run(status, output, errors, log)
        if self.is_example or not second.of("external"):
            control.same(first, second)


def sweep(path, work, options):
    """The sentences on what went wrong with a program, and how many runs it took."""
    try:
        subject = Subject(path, work, options.library)
    except Failure as failure:
        return [str(failure)], 0
    wrong = []
    runs = 0
    repeats = options.repeats if subject.is_example else options.repeats // 3
    for strategy in options.strategies:
        seeds = range(options.first_seed, options.first_seed + max(options.seeds, repeats))
        for seed in seeds[:1] if strategy == "serial" else seeds:
            try:
                subject.check(strategy, seed, seed - options.first_seed < repeats)
                runs += 1
            except (Failure, AssertionError) as failure:
                wrong.append(f"{subject.name} under {strategy}@{seed}: {failure}")
                if len(wrong) >= options.most:
                    return wrong, runs
    return wrong, runs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, type=os.path.abspath, help="libtsan.so.2")
    parser.add_argument("--seeds", type=int, default=int(os.environ.get("SOOTH_SWEEP_SEEDS", "3")), help="for each strategy")
    parser.add_argument("--repeats", type=int, default=3, help="of these seeds, so many are run twice")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=3, help="failures of one program, after which it is left")
    parser.add_argument("--strategies", type=lambda text: text.split(","), default=STRATEGIES)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at a time")
    parser.add_argument("names", nargs="*", help="programs without their suffix; all by default")
    options = parser.parse_args()
    gcc = programs.Compiler("gcc")
    paths = [path for path in {*programs.sources(), *programs.EXAMPLES.glob("*.cc")} if programs.Program(path).wants(gcc, "1")]
    paths = sorted(path for path in paths if not options.names or path.stem in options.names)
    begin, failed, runs = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory(prefix="sooth-sweep-") as work, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for sentences, count in pool.map(lambda path: sweep(path, pathlib.Path(work), options), paths):
            runs += count
            failed += bool(sentences)
            for sentence in sentences:
                print(sentence, flush=True)
    print(f"{len(paths) - failed} programs passed, {failed} failed; {runs} runs in {time.monotonic() - begin:.0f} s")
    sys.exit(1 if failed or not paths else 0)


if __name__ == "__main__":
    main()
