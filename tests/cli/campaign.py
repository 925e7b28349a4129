#!/usr/bin/env python3
"""`sooth campaign`: a test suite times schedules. Whatever is lost, repeated or done by several workers, the report is the same, byte for byte.

    tests/cli/campaign.py SOOTH
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
SOOTH = os.path.abspath(sys.argv[1])


def sooth(*words, cwd, expect=0):
    done = subprocess.run([SOOTH, *words], cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == expect, f"{words}: status {done.returncode}, expected {expect}\n{done.stdout}{done.stderr}"
    return done


def plan(folder, cwd):
    commands = os.path.join(cwd, "commands")
    with open(commands, "w") as file:
        file.write("# the suite\n./hidden\nMODE=fast ./norace\n")
    said = sooth("campaign", "plan", folder, "--commands", "commands", "--schedules", "4", "--trials", "3", cwd=cwd)
    assert said.stdout == f"{folder}: 2 tests, 4 schedules each, 8 units\n", said.stdout


def merged(folder, cwd, name):
    # Under one name, so that the lines that replay findings are the same.
    sooth("campaign", "merge", folder, "--no-times", "--format", "json", "-o", "merged.json", "--fail-on", "never", cwd=cwd)
    os.rename(os.path.join(cwd, "merged.json"), os.path.join(cwd, name))
    with open(os.path.join(cwd, name)) as file:
        return file.read()


def started_unit(folder, cwd):
    """A worker that is at some unit, and has not finished the campaign."""
    worker = subprocess.Popen([SOOTH, "campaign", "work", folder], cwd=cwd, stderr=subprocess.PIPE, text=True)
    while worker.poll() is None and not any(name.endswith(f".log.{worker.pid}") for name in os.listdir(os.path.join(cwd, folder, "units"))):
        time.sleep(0.001)
    return worker


def one_worker(cwd):
    plan("one", cwd)
    sooth("campaign", "work", "one", cwd=cwd)
    assert sooth("campaign", "status", "one", cwd=cwd).stdout == "8 of 8 units done\n"
    report = json.loads(merged("one", cwd, "one.json"))
    assert [finding["rung"] for finding in report["findings"]] == ["confirmed"], report["findings"]
    shown_by = report["findings"][0]["reports"]
    assert shown_by and all(name.startswith("./hidden (") for name in shown_by), shown_by
    # Text to a terminal fails the command, and its replay line works as it stands there.
    text = sooth("campaign", "merge", "one", "--no-times", cwd=cwd, expect=66).stdout
    line = next(line for line in text.splitlines() if line.strip().startswith("replay: "))
    words = line.split("replay: ")[1].split(" (seed")[0].split()
    assert words[0] == "sooth", line
    assert "race created" in sooth(*words[1:], cwd=cwd).stderr


def lost_and_repeated(cwd):
    plan("many", cwd)
    for end in (signal.SIGKILL, signal.SIGTERM):
        worker = started_unit("many", cwd)
        worker.send_signal(end)
        worker.wait(timeout=120)
        worker.stderr.close()
    workers = [subprocess.Popen([SOOTH, "campaign", "work", "many"], cwd=cwd, stderr=subprocess.DEVNULL) for _ in range(2)]
    assert [worker.wait(timeout=300) for worker in workers] == [0, 0]
    os.remove(os.path.join(cwd, "many/units/3.json"))
    assert sooth("campaign", "status", "--missing", "many", cwd=cwd).stdout == "3\n"
    assert "1 of 8 units has no result: 3." in sooth("campaign", "merge", "many", "--fail-on", "never", cwd=cwd).stdout
    sooth("campaign", "work", "many", "--units", "2-3", cwd=cwd)
    assert merged("many", cwd, "many.json").replace("/many/", "/one/") == merged("one", cwd, "again.json"), "the reports differ"


def test_suite_of_cmake(cwd):
    build = os.path.join(cwd, "build")
    os.mkdir(build)
    with open(os.path.join(build, "CTestTestfile.cmake"), "w") as file:
        file.write(f'add_test(bank "{cwd}/hidden")\nset_tests_properties(bank PROPERTIES ENVIRONMENT "A=1" WORKING_DIRECTORY "{cwd}")\n'
                   f'add_test(off "{cwd}/hidden")\nset_tests_properties(off PROPERTIES DISABLED TRUE)\n')
    said = sooth("campaign", "plan", "ctest", "--ctest", "build", "--schedules", "1", cwd=cwd)
    assert said.stdout == "ctest: 1 test, 1 schedule each, 1 unit\n", said.stdout
    sooth("campaign", "work", "ctest", cwd=cwd)
    findings = json.loads(merged("ctest", cwd, "ctest.json"))["findings"]
    assert findings[0]["reports"] == ["bank (serial, seed 1)"], findings[0]["reports"]


def trend(cwd):
    """Units of one test, as if they were reports of commits: what the last one has for the first time fails."""
    folder = os.path.join(cwd, "trend")
    os.mkdir(folder)
    shutil.copy(os.path.join(cwd, "one/units/2.json"), os.path.join(folder, "1-clean.json"))
    shutil.copy(os.path.join(cwd, "one/units/1.json"), os.path.join(folder, "2-racy.json"))
    text = sooth("report", "--trend", "trend", cwd=cwd, expect=66).stdout
    assert "data race on 'balance'" in text and "since 2-racy" in text and "2 reports: 1 new, 0 back, 0 open, 0 gone" in text, text
    sooth("report", "--trend", "trend", "--format", "html", "-o", "trend.html", "--fail-on", "never", cwd=cwd)
    with open(os.path.join(cwd, "trend.html")) as file:
        assert "balance" in file.read()
    shutil.copy(os.path.join(folder, "1-clean.json"), os.path.join(folder, "3-fixed.json"))
    assert "last in 2-racy" in sooth("report", "--trend", "trend", cwd=cwd).stdout
    for words, expect in ((("--trend", "nowhere"), 65), (("--trend", "build"), 65), ((), 64), (("x.json", "--trend", "trend"), 64),
                          (("--trend", "trend", "--format", "sarif"), 64)):
        assert sooth("report", *words, cwd=cwd, expect=expect).stderr.count("\n") == 1


def bad_cases(cwd):
    for words, expect, sentence in (
            (("plan", "x"), 64, "plan needs tests"),
            (("plan", "x", "--command", "./hidden", "--schedules", "0"), 64, "nothing to do"),
            (("plan", "x", "--command", "./hidden", "--budget", "soon"), 64, "soon"),
            (("plan", "x", "--commands", "nowhere"), 65, "nowhere"),
            (("plan", "x", "--ctest", "nowhere"), 65, "nowhere"),
            (("plan", "one", "--command", "./other"), 65, "has another plan"),
            (("work", "nowhere"), 65, "nowhere/plan.json"),
            (("work", "one", "--units", "9"), 64, "from 1 to 8"),
            (("merge", "nowhere"), 65, "nowhere/plan.json"),
            (("status", "nowhere"), 65, "nowhere/plan.json")):
        said = sooth("campaign", *words, cwd=cwd, expect=expect).stderr
        assert sentence in said and said.count("\n") == 1, f"{words}: {said}"
    sooth("campaign", "plan", "broken", "--command", "./is-not-there", "--schedules", "1", cwd=cwd)
    assert "cannot start ./is-not-there" in sooth("campaign", "work", "broken", cwd=cwd, expect=65).stderr
    assert "broken/units/1.log" in sooth("campaign", "status", "broken", cwd=cwd).stdout
    assert "no unit has a result" in sooth("campaign", "merge", "broken", cwd=cwd, expect=65).stderr


def main():
    with tempfile.TemporaryDirectory() as cwd:
        for kind in ("hidden", "norace"):
            source = f"bank_account_{kind}.cc"
            shutil.copy(os.path.join(SOURCE, "examples", source), cwd)
            sooth("c++", "-O1", source, "-o", kind, cwd=cwd)
        for test in (one_worker, lost_and_repeated, test_suite_of_cmake, trend, bad_cases):
            test(cwd)
            print(f"ok: {test.__name__}")
    print("5 passed, 0 failed")


main()
