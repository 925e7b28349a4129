#!/usr/bin/env python3
"""Programs that run with more rights than whoever starts them ignore everything that the environment says of recording.

    tests/cli/secure.py LIBRARY

Needs root, because only root makes such programs; elsewhere it ends with 77, and ctest says that it was skipped.
"""
import os
import shutil
import stat
import subprocess
import sys
import tempfile

SKIPPED = 77
NOBODY = 65534

PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>
static int counter;
static void* work(void* p) { ++counter; return p; }
int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);
  pthread_join(thread, nullptr);
  printf("%d secure %lu user %d\n", counter, getauxval(AT_SECURE), (int)geteuid());
}
"""


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def as_nobody(command, environment, **more):
    return subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command], env=environment,
                          capture_output=True, text=True, timeout=60, check=False, **more)


def linked_with_library(library, folder):
    """The program, linked with our library by its full path: LD_PRELOAD counts for nothing where rights are raised."""
    # Where nobody else's rights matter: not every user may look into the build directory.
    copy = shutil.copy(library, os.path.join(folder, "libtsan.so.2"))
    os.chmod(copy, 0o755)
    source = os.path.join(folder, "program.cc")
    with open(source, "w") as file:
        file.write(PROGRAM)
    program = os.path.join(folder, "program")
    subprocess.run(["g++", "-fsanitize=thread", "-O1", source, "-o", program, "-pthread", f"-L{folder}", f"-Wl,-rpath,{folder}"], check=True)
    return program


def check(program, folder, name, raise_rights, is_secure):
    """Recorded when it has ordinary rights, silent when it has more."""
    copy = shutil.copy(program, os.path.join(folder, name))
    os.chmod(copy, 0o755)
    raise_rights(copy)
    writable = os.path.join(folder, "writable-" + name)
    os.mkdir(writable)
    os.chmod(writable, 0o777)
    target = os.path.join(writable, "trace")
    log = os.path.join(writable, "log")
    environment = {"PATH": os.environ["PATH"], "SOOTH_RECORD": target, "SOOTH_SCHEDULE": "serial", "SOOTH_OPTIONS": "help=1",
                   "TSAN_OPTIONS": f"help=1:log_path={log}", "SOOTH_CONTROL": os.path.join(writable, "control"),
                   "SOOTH_CONTROL_LOG": log}
    if not is_secure:
        del environment["SOOTH_CONTROL"], environment["SOOTH_CONTROL_LOG"]
    run = as_nobody([copy], environment)
    expect(run.returncode == 0 and run.stdout.startswith(f"1 secure {int(is_secure)} "), f"{name}: {run}")
    left = os.listdir(writable)
    if is_secure:
        expect(left == [] and run.stderr == "", f"{name}: it left {left} and said {run.stderr!r}")
        return
    expect("trace" in left, f"{name}: nothing was recorded: {run.stderr}")
    expect("report_thread_leaks" in run.stderr or "quantum" in run.stderr, f"{name}: options were not heard: {run.stderr!r}")
    # What it records is for its owner alone.
    modes = {entry: stat.S_IMODE(os.stat(os.path.join(target, entry)).st_mode) for entry in [".", *os.listdir(target)]}
    expect(modes.pop(".") == 0o700 and set(modes.values()) == {0o600}, f"{name}: modes {modes}")


def set_user_id(path):
    os.chown(path, 0, 0)
    os.chmod(path, 0o4755)


def set_group_id(path):
    os.chown(path, NOBODY, 0)
    os.chmod(path, 0o2755)


def set_capability(path):
    subprocess.run(["setcap", "cap_net_raw+ep", path], check=True)


def main(library):
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        print("skipped: needs root and setpriv")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="sooth-secure-") as folder:
        os.chmod(folder, 0o755)
        program = linked_with_library(library, folder)
        kinds = [("plain", lambda path: None, False), ("setuid", set_user_id, True), ("setgid", set_group_id, True)]
        if shutil.which("setcap") is not None:
            kinds.append(("capability", set_capability, True))
        failed = 0
        for name, raise_rights, is_secure in kinds:
            try:
                check(program, folder, name, raise_rights, is_secure)
                print(f"ok      {name}")
            except AssertionError as error:
                failed += 1
                print(f"FAILED  {error}")
        return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
