#!/usr/bin/env python3
"""Programs built with `sooth c++ --deep`: they do what they did, and every thread's code can be followed through its recording.

    tests/deep/run.py SOOTH [NAME...]      all tests, or those named
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LEVELS = ["-O0", "-O1", "-O2"]
FOLLOWED = re.compile(r": deep: (.+): (\d+) instructions, (\d+) calls and (\d+) events followed, (\d+) events outside(; stopped: .*)?$")


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


class Bench:
    def __init__(self, sooth, folder):
        self.sooth, self.folder = sooth, folder

    def run(self, *command, status=None):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300)
        if status is not None:
            expect(done.returncode == status, f"{' '.join(command)}: status {done.returncode}, not {status}\n{done.stdout}{done.stderr}")
        return done

    def build(self, level, sources, output, *more, wrapper="c++", flags=("--deep",)):
        """One object file for each source, as a build system makes them."""
        objects = []
        for source in sources:
            objects.append(f"{output}-{os.path.splitext(source)[0]}.o")
            self.run(self.sooth, wrapper, *flags, level, "-fPIC", "-c", os.path.join(HERE, source), "-o", objects[-1], status=0)
        self.run(self.sooth, wrapper, *flags, *objects, "-o", output, *more, status=0)

    def record(self, name, *command, status, schedule="serial"):
        return self.run(self.sooth, "record", "--schedule", schedule, "-o", name, "--", *command, status=status)

    def walks(self, name):
        """What `sooth trace check` says of each thread: (instructions, calls, events followed, events outside, why it stopped)."""
        text = self.run(self.sooth, "trace", "check", name, status=0).stdout
        found = [FOLLOWED.search(line) for line in text.splitlines()]
        walks = {m[1]: (int(m[2]), int(m[3]), int(m[4]), int(m[5]), m[6] or "") for m in found if m}
        expect(walks, f"no thread was followed: {text}")
        return walks

    def check_recording(self, name, threads):
        walks = self.walks(name)
        stopped = {thread: walk[4] for thread, walk in walks.items() if walk[4]}
        expect(not stopped, f"{name}: {stopped}")
        expect(len(walks) == threads, f"{name}: {len(walks)} threads, not {threads}")
        expect(all(walk[0] > 20 and walk[2] > 10 for walk in walks.values()), f"{name}: {walks}")
        return walks


def test_cxx(bench):
    """C++ at all levels: the same output, and nothing in the recording that the code does not explain."""
    for level in LEVELS:
        name = f"cxx{level}"
        bench.build(level, ["features.cc", "other.cc"], name)
        bare = bench.run(f"./{name}")
        recorded = bench.record(name + ".trace", f"./{name}", status=bare.returncode)
        expect(recorded.stdout == bare.stdout and "jumps 10" in bare.stdout, f"{level}: {bare.stdout}\n{recorded.stdout}")
        bench.check_recording(name + ".trace", 4)
    bench.run("clang++-19", os.path.join(HERE, "features.cc"), os.path.join(HERE, "other.cc"), "-o", "plain", "-pthread", status=0)
    expect(bench.run("./plain").stdout == bare.stdout, "hooks change what the program does")


def test_c(bench):
    """C, with a library that is linked and one that is opened, closed and opened again."""
    for level in LEVELS:
        name, library, plugin = f"c{level}", f"libdeep{level}.so", f"./libplugin{level}.so"
        bench.build(level, ["library.c"], library, "-shared", wrapper="cc")
        bench.build(level, ["library.c"], plugin, "-shared", wrapper="cc")
        bench.build(level, ["features.c"], name, f"-L{bench.folder}", f"-Wl,-rpath,{bench.folder}", f"-l:{library}", "-lm", wrapper="cc")
        bare = bench.run(f"./{name}", plugin, status=3)
        recorded = bench.record(name + ".trace", f"./{name}", plugin, status=3)
        expect(recorded.stdout == bare.stdout and "plugin 20" in bare.stdout, f"{level}: {bare.stdout}\n{recorded.stdout}")
        bench.check_recording(name + ".trace", 3)


def test_other_commands(bench):
    """A deep program serves every other command, and is silent there."""
    bench.build("-O1", ["features.cc", "other.cc"], "all")
    bare = bench.run("./all")
    free = bench.record("free", "./all", status=bare.returncode, schedule="os")
    expect(free.stdout == bare.stdout, free.stdout)
    info = json.loads(bench.run(bench.sooth, "trace", "info", "--json", "free", status=0).stdout)
    expect(info["deep_records"] == 0 and "deep" not in info["columns"] and not os.path.exists(os.path.join(bench.folder, "free", "deep")), info)
    tested = bench.run(bench.sooth, "test", "--runs", "3", "--", "./all")
    expect(tested.returncode in (0, 66), tested.stderr)
    bench.record("whole", "./all", status=bare.returncode)
    info = json.loads(bench.run(bench.sooth, "trace", "info", "--json", "whole", status=0).stdout)
    expect(info["deep_records"] > 1000 and "deep" in info["columns"], info)
    bench.run(bench.sooth, "trace", "convert", "whole", "copy", status=0)
    info = json.loads(bench.run(bench.sooth, "trace", "info", "--json", "copy", status=0).stdout)
    expect(info["deep_records"] == 0 and "deep" not in info["columns"], info)


def test_exclude(bench):
    """What is excluded makes ordinary accesses, and is a call like any other."""
    bench.build("-O1", ["features.cc", "other.cc"], "part", flags=("--deep", "--exclude=*other.cc", "--exclude=*choose*"))
    bare = bench.run("./part")
    recorded = bench.record("part.trace", "./part", status=bare.returncode)
    expect(recorded.stdout == bare.stdout, recorded.stdout)
    part = bench.check_recording("part.trace", 4)
    bench.build("-O1", ["features.cc", "other.cc"], "full")
    bench.record("full.trace", "./full", status=bare.returncode)
    full = bench.check_recording("full.trace", 4)
    expect(part["main"][1] < full["main"][1], "nothing was excluded")
    expect(part["main"][3] > full["main"][3], "accesses of excluded functions are gone")


def test_refusals(bench):
    run = bench.run(bench.sooth, "c++", "--deep", "--compiler=g++", "-c", os.path.join(HERE, "other.cc"), status=64)
    expect("--deep needs Clang" in run.stderr and "`g++` is GCC" in run.stderr, run.stderr)
    if shutil.which("clang++-14"):
        run = bench.run(bench.sooth, "c++", "--deep", "--compiler=clang++-14", "-c", os.path.join(HERE, "other.cc"), status=64)
        expect("is Clang 14" in run.stderr, run.stderr)
    run = bench.run(bench.sooth, "c++", "--exclude=x", "-c", os.path.join(HERE, "other.cc"), status=64)
    expect("--exclude needs --deep" in run.stderr, run.stderr)


def test_damage(bench):
    """The kept code is sealed."""
    bench.build("-O1", ["features.cc", "other.cc"], "sealed")
    bench.record("sealed.trace", "./sealed", status=bench.run("./sealed").returncode)
    path = os.path.join(bench.folder, "sealed.trace", "deep")
    with open(path, "rb") as file:
        whole = file.read()
    for at in (0, 9, 17, 30, len(whole) // 2, len(whole) - 1):
        with open(path, "wb") as file:
            file.write(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
        bench.run(bench.sooth, "trace", "check", "sealed.trace", status=65)
    with open(path, "wb") as file:
        file.write(whole)
    bench.check_recording("sealed.trace", 4)


def main(arguments):
    if not arguments:
        print(__doc__.strip(), file=sys.stderr)
        return 64
    tests = {name[5:]: function for name, function in globals().items() if name.startswith("test_")}
    failed = 0
    for name in arguments[1:] or tests:
        with tempfile.TemporaryDirectory(prefix="sooth-deep-") as folder:
            try:
                tests[name](Bench(os.path.abspath(arguments[0]), folder))
                print(f"ok      {name}")
            except AssertionError as error:
                failed += 1
                print(f"FAILED  {name}: {error}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
