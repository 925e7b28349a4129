"""What the tests of installation and integration share."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
import test_loop  # noqa: E402
from test_loop import SOURCE, Failure, Skipped, check  # noqa: E402

TIME_LIMIT = 300  # seconds for one command: what takes longer hangs
SKIPPED = 77      # the status by which ctest knows


def skip_without(*commands):
    """Skips the test when one of these programs is missing: scripts/packages.txt lists them, so CI has them."""
    missing = [command for command in commands if shutil.which(command) is None]
    if missing:
        raise Skipped(f"{', '.join(missing)} not found")


def run(words, expect=0, **options):
    """Runs a command, insists on its exit status, and gives its result, with standard error in standard output."""
    words = [str(word) for word in words]
    options.setdefault("stdin", subprocess.DEVNULL)
    result = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=TIME_LIMIT, **options)
    if expect is not None and result.returncode != expect:
        raise Failure(f"{' '.join(words)}: status {result.returncode}, expected {expect}\n{result.stdout}")
    return result


def with_tool(folder):
    """The environment in which `sooth` is the one in `folder`, and nothing of ours is set otherwise."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SOOTH_") and name != "TSAN_OPTIONS"}
    environment["PATH"] = folder + os.pathsep + environment["PATH"]
    return environment


def install(build, prefix, destdir=None):
    environment = dict(os.environ)
    if destdir:
        environment["DESTDIR"] = destdir
    run(["cmake", "--install", build, "--prefix", prefix], env=environment)


def readme_commands():
    """What the README tells to type first: the lines with a `$` in front of its first block of commands."""
    with open(os.path.join(SOURCE, "README.md")) as file:
        commands = re.findall(r"^    \$ (.+)$", file.read(), flags=re.M)
    check(len(commands) == 2 and commands[0].startswith("sooth c++") and commands[1].startswith("sooth run"),
          f"the README begins with two commands, not {commands}")
    return commands


def try_readme(folder, environment):
    """The README's example in `folder`, by its own words: found, confirmed as harmful, reported and replayed."""
    shutil.copy(os.path.join(SOURCE, "examples/bank_account_hidden.cc"), folder)
    compile_it, run_it = readme_commands()
    run(["sh", "-c", compile_it], cwd=folder, env=environment)
    report = run(["sh", "-c", run_it], cwd=folder, env=environment, expect=66).stdout
    # GCC and Clang disagree about the column.
    check(re.search(r"bank_account_hidden\.cc:21:\d+: harmful data race on 'balance'", report), f"the race is not found, or does no harm:\n{report}")
    replay = re.search(r"replay: (sooth replay .*) \(seed", report)
    check(replay is not None, f"no line tells how to replay it:\n{report}")
    run(["sh", "-c", replay.group(1)], cwd=folder, env=environment)
    return report


def main(tests):
    """Runs each test in a scratch directory of its own. Skipped is only what skips all its tests."""
    def call(_, test):
        scratch = tempfile.mkdtemp(prefix="sooth-integration-")
        try:
            test(scratch)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    sys.exit(test_loop.loop({test.__name__: test for test in tests}, [], call, all_skipped=SKIPPED))
