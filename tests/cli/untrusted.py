#!/usr/bin/env python3
"""Traces, reports and lists from somebody else must not lead us astray, and what we write ourselves is not for everybody.

    tests/cli/untrusted.py SOOTH
"""
import os
import resource
import shutil
import stat
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <pthread.h>
static int counter;
static void* work(void* p) { ++counter; return p; }
int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);
  ++counter;
  pthread_join(thread, nullptr);
}
"""


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


class Bench:
    def __init__(self, sooth, folder):
        self.sooth, self.folder = sooth, folder
        source = self.path("program.cc")
        with open(source, "w") as file:
            file.write(PROGRAM)
        self.run("c++", "-g", source, "-o", self.path("program"), "-pthread", status=0)
        self.run("record", "-o", self.path("trace"), "--", self.path("program"), status=0)
        self.run("analyze", "--with", "hb", "--format", "json", "-o", self.path("report.json"), self.path("trace"), status=66)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run(self, *command, status, text=None):
        """With 4 GiB of memory, sanitizers apart: what reads without end fails."""
        def limit():
            if not os.environ.get("ASAN_OPTIONS"):
                resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
        done = subprocess.run([self.sooth, *command], cwd=self.folder, input=text, stdin=subprocess.DEVNULL if text is None else None, capture_output=True, timeout=100, preexec_fn=limit)
        expect(done.returncode == status, f"`sooth {' '.join(command)}`: status {done.returncode}, not {status}: {done.stdout[-500:]!r} {done.stderr[-500:]!r}")
        return done

    def copy(self, name):
        shutil.rmtree(self.path(name), ignore_errors=True)
        return shutil.copytree(self.path("trace"), self.path(name))


def test_endless_files_of_a_trace(bench):
    """A link to a device, or a pipe, in place of each file of a recording."""
    for name in ("version", "checks", "sites", "process", "symbols", "streams"):
        for kind in ("zero", "pipe", "huge"):
            copy = bench.copy("endless")
            target = os.path.join(copy, name)
            os.remove(target)
            if kind == "zero":
                os.symlink("/dev/zero", target)
            elif kind == "pipe":
                os.mkfifo(target)
            else:
                with open(target, "wb") as file:
                    file.truncate(1 << 42)  # takes no room on the disk
            done = bench.run("analyze", "--with", "hb", copy, status=65)
            expect(name.encode() in done.stderr, f"{name} as {kind}: {done.stderr!r}")


def test_endless_lists(bench):
    """Reports, baselines, suppressions, schedules: what has no end is a sentence, and a pipe with an end is read."""
    report, trace = bench.path("report.json"), bench.path("trace")
    zero = bench.path("zero")
    os.symlink("/dev/zero", zero)
    for command in (["report", zero], ["analyze", "--baseline", zero, trace], ["analyze", "--suppressions", zero, trace],
                    ["replay", zero, "--", "./program"], ["merge", zero, report], ["witness", "check", zero, trace], ["trace", "check", zero]):
        done = bench.run(*command, status=65)
        expect(b"zero" in done.stderr and done.stderr.count(b"\n") == 1, done.stderr)
    with open(report, "rb") as file:
        text = file.read()
    expect(b"data race" in bench.run("report", "--fail-on", "never", "-", status=0, text=text).stdout, "a report from a pipe is not read")
    bench.run("trace", "check", "-", status=0, text=b"T0|w(x)|1\nT0|w(x)|2\n")
    bench.run("analyze", "--with", "hb", "--fail-on", "never", "--suppressions", "/dev/null", trace, status=0)


def test_symbols_of_another_recording(bench):
    """Would give wrong lines."""
    bench.run("record", "-o", bench.path("other"), "--", bench.path("program"), status=0)
    copy = bench.copy("mixed")
    shutil.copy(bench.path("other", "symbols"), os.path.join(copy, "symbols"))
    done = bench.run("analyze", "--with", "hb", copy, status=65)
    expect(b"symbols of another recording" in done.stderr, done.stderr)


def test_modes(bench):
    """Traces and stored reports are for their owner alone, also with an open umask; what the user names with -o has the mode of any new file."""
    mask = os.umask(0)
    try:
        bench.run("record", "-o", bench.path("recorded"), "--", bench.path("program"), status=0)
        bench.run("trace", "convert", bench.path("recorded"), bench.path("converted"), status=0)
        bench.run("trace", "convert", bench.path("recorded"), bench.path("text.std"), status=0)
        bench.run("analyze", "--with", "hb", "--fail-on", "never", "-o", bench.path("named.txt"), bench.path("recorded"), status=0)
        os.mkdir(bench.path("runs"))
        subprocess.run([bench.sooth, "run", "--budget", "5s", "--", bench.path("program")], cwd=bench.path("runs"), capture_output=True, timeout=100)
    finally:
        os.umask(mask)
    def mode(path):
        return stat.S_IMODE(os.stat(path).st_mode)
    for folder in ("recorded", "converted"):
        expect(mode(bench.path(folder)) == 0o700, f"{folder} has {mode(bench.path(folder)):o}")
        for name in os.listdir(bench.path(folder)):
            expect(mode(bench.path(folder, name)) == 0o600, f"{folder}/{name} has {mode(bench.path(folder, name)):o}")
    expect(mode(bench.path("text.std")) == 0o600, "text.std")
    expect(mode(bench.path("named.txt")) == 0o666, "named.txt")
    stored = [name for name in os.listdir(bench.path("runs")) if name.endswith(".json")]
    expect(stored and all(mode(bench.path("runs", name)) == 0o600 for name in stored), f"{stored}")


def test_terminals(bench):
    """No name reaches the terminal as anything but letters."""
    name = "a\x1b]0;owned\x07\x1b[2J"
    program = shutil.copy(bench.path("program"), bench.path(name))
    bench.run("record", "-o", bench.path("named"), "--", program, status=0)
    text = bench.path("names.std")
    with open(text, "w") as file:
        file.write(f"{name}|w({name})|{name}\nT1|w({name})|{name}2\n")
    commands = [["trace", "info", bench.path("named")], ["trace", "check", bench.path("named")], ["trace", "info", text], ["trace", "cat", text],
                ["trace", "check", bench.path(name + ".missing")], ["analyze", "--with", "hb", text], ["trace", "check", text], ["trace", name]]
    commands += [["analyze", "--with", "hb", "--format", form, bench.path("named")] for form in ("text", "tsan", "gcc", "markdown")]
    for command in commands:
        done = subprocess.run([bench.sooth, *command], cwd=bench.folder, capture_output=True, timeout=60)
        for out in (done.stdout, done.stderr):
            expect(b"\x1b" not in out and b"\x07" not in out, f"{command}: {out!r}")


def main(sooth):
    failed = 0
    with tempfile.TemporaryDirectory(prefix="sooth-untrusted-") as folder:
        bench = Bench(os.path.abspath(sooth), folder)
        for name, test in [(name[5:], function) for name, function in globals().items() if name.startswith("test_")]:
            try:
                test(bench)
                print(f"ok      {name}")
            except AssertionError as error:
                failed += 1
                print(f"FAILED  {name}: {error}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
