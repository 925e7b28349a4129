#!/usr/bin/env python3
"""`sooth doctor` in environments that lack something: it names what, says what to do, and ends with the status of docs/command-line.md.

    tests/cli/doctor.py SOOTH      (src/launch/doctor_test.cc has the cases that a test cannot bring about)
"""
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

from test_loop import SOURCE


def limit(what, value):
    return lambda: resource.setrlimit(what, (value, value))


class Doctor:
    def __init__(self, sooth, folder):
        self.sooth, self.folder, self.failed, self.count = sooth, folder, 0, 0
        self.tools = os.path.join(folder, "bin")  # a PATH with what we choose
        os.mkdir(self.tools)

    def link(self, *names):
        for name in names:
            os.symlink(shutil.which(name), os.path.join(self.tools, name))

    def expect(self, what, status, lines, *words, environment=None, before=None):
        """`lines`: patterns, each of which a line of the output must match."""
        done = subprocess.run([self.sooth, "doctor", *words], env={**os.environ, **(environment or {})}, preexec_fn=before, cwd=self.folder,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.count += 1
        missing = [line for line in lines if not re.search(line, done.stdout, flags=re.M)]
        if done.returncode != status or missing:
            self.failed += 1
            print(f"{what}: status {done.returncode}, not printed: {missing}\n{done.stdout}{done.stderr}")


def main(sooth):
    with tempfile.TemporaryDirectory(prefix="sooth-doctor-") as folder:
        doctor = Doctor(os.path.abspath(sooth), folder)
        doctor.expect("this machine", 0, [r"^ok +compiler: ", r"^ok +recording: a small program was recorded$", r"^Sooth works here"])
        empty = {"PATH": doctor.tools, "BROWSER": ""}
        doctor.expect("nothing in PATH", 70, [r"^BROKEN +compiler: there is no `gcc` in PATH$", r"^ +-> apt-get install g\+\+", r"^note +gdb: ",
                                              r"^note +valgrind: ", r"^note +browser: ", r"^note +deep: ", r"^Sooth does not work here"], environment=empty)
        with open(os.path.join(doctor.tools, "gcc"), "w", encoding="utf-8") as fake:
            fake.write("#!/bin/sh\necho 'ld: cannot find -ltsan' >&2\nexit 1\n")
        os.chmod(os.path.join(doctor.tools, "gcc"), 0o755)
        doctor.link("sh")
        doctor.expect("a compiler without libtsan", 70, [r"^BROKEN +compiler: .*-ltsan", r"libtsan"], environment=empty)
        doctor.expect("another compiler by its name", 0, [r"^ok +compiler: .*gcc"], environment={"SOOTH_CC": shutil.which("gcc")})
        doctor.expect("no place for files", 70, [r"^BROKEN +disk: no file can be made in /nowhere", r"TMPDIR"], environment={"TMPDIR": "/nowhere"})
        doctor.expect("small files only", 0, [r"^note +files: no file may be larger than 500 MB"], before=limit(resource.RLIMIT_FSIZE, 500 << 20))
        doctor.expect("a program that is not instrumented", 70, [r"^BROKEN +program: .*not instrumented", r"sooth c\+\+"], shutil.which("true"))
        doctor.expect("a program that is not there", 70, [r"^BROKEN +program: "], "./no-such-program")
        source = os.path.join(SOURCE, "examples/textbook.cc")
        program = os.path.join(folder, "textbook")
        subprocess.run([doctor.sooth, "c++", source, "-o", program], check=True)
        doctor.expect("a program as it should be", 0, [r"^ok +program: .*can be recorded", r"^ok +lines: "], program)
        subprocess.run(["strip", program], check=True)
        doctor.expect("a stripped one", 0, [r"^note +lines: it has no debug information", r"-> compile with -g"], program)
    print(f"{doctor.count - doctor.failed} of {doctor.count} as expected")
    return 1 if doctor.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
