#!/usr/bin/env python3
"""sooth run, disturbed at random moments: signals, kills, full disks, closed streams, a terminal that goes away.

    tests/cli/chaos.py SOOTH [--cases N] [--seed N] [--kind NAME]

Whatever happens: it ends in time, with a status that says how; an error has a sentence; a finding that was printed is in the stored report, which is whole or not there; and
neither temporary folders nor processes are left. The moments are drawn from the seed; what a process has come to by then is up to the machine, so a failure names the moment as well.
"""
import argparse
import json
import os
import pty
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from run import BUSY, FORKS, SLOW, Lab, children_of, is_running, on_small_disk
from test_loop import Failure, check

TIME_LIMIT = 100  # seconds: what takes longer hangs
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
# 0 and 3: the program's; 64: no place for the report; 65: nothing was recorded; 66: findings; 70: the report could not be written.
ORDERLY = {0, 64, 65, 66, 70}


def memory_folders():
    return {name for name in os.listdir("/dev/shm") if name.startswith("sooth-run-")} if os.path.isdir("/dev/shm") else set()


class Case:
    """One disturbed run in a lab of its own."""

    def __init__(self, lab, choice):
        self.lab, self.choice = lab, choice
        self.mark = f"SOOTH_CHAOS_MARK={os.path.basename(lab.scratch)}"
        lab.environment["SOOTH_CHAOS_MARK"] = os.path.basename(lab.scratch)
        self.memory_before = memory_folders()
        self.program = choice.choice(["textbook", "airline", "forks", "busy", "slow"])
        self.moment = choice.choice([0.02, 0.1, 0.4, 1.5]) * choice.random() * lab.pace

    def words(self):
        name = self.program
        binary = {"forks": lambda: self.lab.write("forks", FORKS), "busy": lambda: self.lab.write("busy", BUSY),
                  "slow": lambda: self.lab.write("slow", SLOW)}.get(name, lambda: self.lab.example(name))()
        return ["run", "--budget", "10s", "--", binary, *(["wait"] if name == "slow" else [])]

    def start(self, **options):
        return subprocess.Popen([self.lab.sooth, *self.words()], cwd=self.lab.scratch, env=self.lab.environment,
                                **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options})

    def end(self, process):
        try:
            output, errors = process.communicate(timeout=TIME_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Failure("it hangs") from None
        return process.returncode, output or "", errors or ""

    def stop_slow(self, process):
        """The program that waits is ended by its user, sooner or later."""
        if self.program == "slow":
            time.sleep(0.2 * self.lab.pace)
            for child in children_of(process.pid):
                try:
                    os.kill(child, signal.SIGTERM)
                except ProcessLookupError:
                    pass

    def stored(self):
        """The stored report; None when there is none."""
        names = [name for name in os.listdir(self.lab.scratch) if name.startswith("sooth-") and name.endswith(".json")]
        return self.lab.load(names[0]) if names else None

    def marked_processes(self):
        pids = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if self.mark.encode() in file.read() and is_running(int(pid)):
                        pids.append(int(pid))
            except OSError:
                pass
        return pids

    def check_end(self, status, output, errors, orderly=ORDERLY, stored=True):
        check(status in orderly or status == 128 + signal.SIGTERM, f"status {status}: {errors}")
        if status in (64, 65, 70):
            check(re.search(r"^sooth: \S.*\w", errors, re.MULTILINE), f"status {status} without a sentence: {errors!r}")
        printed = set(re.findall(r"data race on .*\[([0-9a-f]{16})\]", output))
        report = self.stored()
        if printed and stored:
            check(report is not None, f"printed, but not stored: {printed}")
            check(printed <= {finding["id"] for finding in report["findings"]}, "a printed finding is not stored")
        if status == 66:
            check(report is not None or "sooth: " in errors, "66 without a report")
        self.check_left()

    def check_left(self):
        deadline = time.monotonic() + 10
        while self.marked_processes() and time.monotonic() < deadline:
            time.sleep(0.05)
        check(not self.marked_processes(), f"processes are left: {self.marked_processes()}")
        check(self.lab.left() == [], f"left behind: {self.lab.left()}")
        while (orphans := self.orphans_in_memory()) and time.monotonic() < deadline:
            time.sleep(0.2)
        check(not orphans, f"left behind: {orphans}")

    def orphans_in_memory(self):
        """Folders of controlled runs that are new and that no process uses; others may be testing on this machine."""
        new = {name for name in memory_folders() if name not in self.memory_before}
        for pid in filter(str.isdigit, os.listdir("/proc")) if new else ():
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    text = file.read()
                new = {name for name in new if name.encode() not in text}
            except OSError:
                pass
        return sorted(new & memory_folders())


def signals(case):
    """One signal to sooth, at any moment of any stage."""
    number = case.choice.choice(SIGNALS)
    process = case.start()
    time.sleep(case.moment)
    process.send_signal(number)
    case.stop_slow(process)
    status, output, errors = case.end(process)
    # Before sooth takes it, a signal ends a process as ever; and the program may die of one that was meant for it.
    case.check_end(status, output, errors, ORDERLY | {-number, 128 + number})


def storm(case):
    """Several signals to sooth and its program, in any order."""
    process = case.start()
    for _ in range(3):
        time.sleep(case.moment)
        target = case.choice.choice([process.pid, *children_of(process.pid)])
        try:
            os.kill(target, case.choice.choice([signal.SIGUSR1, signal.SIGWINCH, signal.SIGCONT, *([signal.SIGTERM] if target != process.pid else [])]))
        except ProcessLookupError:
            pass
    case.stop_slow(process)
    status, output, errors = case.end(process)
    ends = {number for name in ("SIGUSR1", "SIGTERM") for number in (-getattr(signal, name), 128 + getattr(signal, name))}
    case.check_end(status, output, errors, ORDERLY | ends)


def killed_program(case):
    """kill -9 of the program, or of a controlled run."""
    process = case.start()
    time.sleep(case.moment)
    for child in children_of(process.pid):
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            pass
    case.stop_slow(process)
    status, output, errors = case.end(process)
    case.check_end(status, output, errors, ORDERLY | {128 + signal.SIGKILL})


def full_files(case):
    """No file may grow beyond a few kilobytes."""
    size = case.choice.choice([0, 1 << 10, 64 << 10, 600 << 10])
    process = case.start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
    case.stop_slow(process)
    status, output, errors = case.end(process)
    case.check_end(status, output, errors, ORDERLY | {128 + signal.SIGXFSZ}, stored="sooth: " not in errors)


def full_disk(case):
    """A file system of a few kilobytes for temporary files, where this machine lets us have one."""
    case.lab.environment["TMPDIR"] = case.lab.path("small")
    def work():
        process = case.start()
        case.stop_slow(process)
        case.check_end(*case.end(process))
        check(os.listdir(case.lab.path("small")) == [], f"left behind: {os.listdir(case.lab.path('small'))}")
    on_small_disk(case.lab, case.choice.choice(["16k", "256k", "1m"]), work)


def closed_streams(case):
    """Streams that are closed from the start, or whose reader goes away."""
    how = case.choice.choice([">&-", "2>&-", ">&- 2>&-", "<&-", ">/dev/full", "2>/dev/full", "| head -c 1"])
    words = " ".join(f"'{word}'" for word in [case.lab.sooth, *case.words()])
    if how.startswith("|"):  # the status of sooth, not that of head
        words = f"{{ {words}; echo $? >status; }} {how}"
    else:
        words = f"{words} {how}; echo $? >status"
    process = subprocess.Popen(["sh", "-c", words], cwd=case.lab.scratch, env=case.lab.environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if case.program == "slow":
        time.sleep(0.5 * case.lab.pace)
        for shell in children_of(process.pid) or [process.pid]:
            for sooth in [shell, *children_of(shell)]:
                for child in children_of(sooth):
                    if b"wait" in open(f"/proc/{child}/cmdline", "rb").read():
                        os.kill(child, signal.SIGTERM)
    _, output, errors = case.end(process)
    with open(case.lab.path("status")) as file:
        status = int(file.read())
    hears = "2>" not in how
    check(status in ORDERLY | {128 + signal.SIGTERM, 128 + signal.SIGPIPE}, f"{how}: status {status}: {errors}")
    check(not hears or status != 70 or "sooth: " in errors, f"{how}: 70 without a sentence")
    if status in (66, 70, 128 + signal.SIGPIPE) and case.program in ("textbook", "airline", "forks"):
        check(case.stored() is not None and case.stored()["findings"], f"{how}: the findings are not stored")
    case.check_left()


def lost_terminal(case):
    """sooth on a terminal of its own, which is then hung up."""
    words = [case.lab.sooth, *case.words()]
    pid, master = pty.fork()
    if pid == 0:
        try:
            os.chdir(case.lab.scratch)
            os.execve(words[0], words, case.lab.environment)
        finally:
            os._exit(127)
    time.sleep(case.moment)
    os.close(master)
    deadline = time.monotonic() + TIME_LIMIT
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise Failure("it hangs")
        time.sleep(0.02)
    code = os.waitstatus_to_exitcode(status)
    check(code in ORDERLY | {-signal.SIGHUP, 128 + signal.SIGHUP}, f"status {code}")
    case.check_left()


KINDS = [signals, signals, signals, storm, killed_program, full_files, full_disk, closed_streams, lost_terminal]


def measured_pace(sooth, folder, bin_folder):
    """How slow this machine is: seconds of an undisturbed run, relative to half a second."""
    scratch = os.path.join(folder, "pace")
    os.mkdir(scratch)
    lab = Lab(sooth, scratch, bin_folder)
    for name, text in (("forks", FORKS), ("busy", BUSY), ("slow", SLOW)):
        lab.write(name, text)
    for name in ("textbook", "airline"):
        lab.example(name)
    start = time.monotonic()
    lab.tool("run", "--", lab.example("textbook"), expect=66)
    shutil.rmtree(scratch)
    return min(10, max(1, (time.monotonic() - start) / 0.5))


def run_case(number, options, folder, bin_folder, pace):
    """None, or a sentence."""
    choice = random.Random(options.seed * 1_000_003 + number)
    kind = KINDS[number % len(KINDS)] if options.kind is None else next(each for each in KINDS if each.__name__ == options.kind)
    scratch = os.path.join(folder, f"case{number}")
    os.mkdir(scratch)
    lab = Lab(options.sooth, scratch, bin_folder)
    lab.pace = pace
    case = Case(lab, choice)
    try:
        kind(case)
    except (Failure, json.JSONDecodeError, OSError) as failure:
        for pid in case.marked_processes():
            os.kill(pid, signal.SIGKILL)
        return f"case {number} ({kind.__name__}, {case.program}, after {case.moment:.3f} s, --seed {options.seed}): {failure}"
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sooth", type=os.path.abspath)
    parser.add_argument("--cases", type=int, default=int(os.environ.get("SOOTH_CHAOS", "27")))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SOOTH_SEED", "1")))
    parser.add_argument("--kind", choices=sorted({kind.__name__ for kind in KINDS}))
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="sooth-chaos-") as folder:
        bin_folder = os.path.join(folder, "bin")
        os.mkdir(bin_folder)
        pace = measured_pace(options.sooth, folder, bin_folder)
        for number in range(options.cases):
            sentence = run_case(number, options, folder, bin_folder, pace)
            if sentence:
                failed += 1
                print("FAIL  " + sentence, flush=True)
    print(f"{options.cases - failed} passed, {failed} failed (seed {options.seed})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
