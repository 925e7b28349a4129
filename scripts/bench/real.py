#!/usr/bin/env python3
"""A full `sooth run` on pbzip2 and zstd -T4: their results must be those without Sooth, time and memory must stay below what is stated here, and the figures are printed.

    scripts/bench.py real [--work DIR] [--budget SECONDS] [NAME...]

Sources come from the distribution, as for scripts/real-programs.sh; 77 when they cannot be had.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import program_sources
import tables
from program_sources import Failure, NoSources

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NAMES = ["pbzip2", "zstd"]
MEMORY = 5 << 30  # bytes: of sooth and of every process that it starts
TOTAL_SECONDS = 600  # for everything, whatever the budget is; the machine may have two cores and other work


def run_measured(words, cwd, output, limit):
    """(status, seconds, peak memory in bytes of the largest process, standard error)."""
    begin = time.monotonic()
    errors_path = cwd / "errors"
    with open(output, "wb") as sink, open(errors_path, "wb") as errors:
        process = subprocess.Popen([str(word) for word in words], cwd=cwd, stdin=subprocess.DEVNULL, stdout=sink, stderr=errors)
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() - begin > limit:
            process.kill()
            os.wait4(process.pid, 0)
            raise Failure(f"did not end within {limit} s")
        time.sleep(0.1)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, time.monotonic() - begin, usage.ru_maxrss << 10, errors_path.read_text(errors="replace")


def stages(report):
    return {row["stage"]: row["seconds"] for row in report["stats"].get("stages", [])}


def judge(options, program, folders):
    home = options.work / program.name
    plain = program_sources.compile_program(program, folders, (["gcc"], ["g++"]), home / "plain")
    recorded = program_sources.compile_program(program, folders, ([options.sooth, "cc"], [options.sooth, "c++"]), home / "recorded")
    data, expected, output, report_path = home / "run-data.txt", home / "run-plain.out", home / "run.out", home / "run.json"
    program_sources.make_data(data, program.size)
    command, sink = program_sources.command_line(program, plain, data, expected)
    program_sources.run(command, output=sink)
    command, sink = program_sources.command_line(program, recorded, data, output)
    temporary = home / "tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    os.environ["TMPDIR"] = str(temporary)
    words = [options.sooth, "run", "--budget", f"{options.budget}s", "--format", "json", "-o", report_path, "--", *command]
    status, seconds, memory, errors = run_measured(words, home, sink or os.devnull, TOTAL_SECONDS)
    if status not in (0, 66):
        raise Failure(f"sooth run ended with {status}: {errors.strip()[-1000:]}")
    if expected.read_bytes() != output.read_bytes():
        raise Failure("its result is another than without sooth run")
    if left := os.listdir(temporary):
        raise Failure(f"left behind: {left}")
    report = json.loads(report_path.read_text())
    parts = stages(report)
    after = seconds - parts["record"] - parts["detect"]
    if after > 1.5 * options.budget + 30:  # a step under way is not cut off
        raise Failure(f"proofs and controlled runs took {after:.0f} s, with a budget of {options.budget} s")
    if memory > MEMORY:
        raise Failure(f"peak memory {memory >> 20} MB, more than {MEMORY >> 20} MB")
    return [program.name, f"{report['stats']['events']:,}", *(f"{parts[name]:.1f}" for name in ("record", "detect", "prove", "confirm")),
            f"{seconds:.1f}", f"{memory >> 20} MB", findings(report)], report


def findings(report):
    rungs = {}
    for finding in report["findings"]:
        rungs[finding["rung"]] = rungs.get(finding["rung"], 0) + 1
    return ", ".join(f"{count} {rung}" for rung, count in sorted(rungs.items())) or "none"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", type=os.path.abspath, default=ROOT / "build/bin/sooth")
    parser.add_argument("--work", type=lambda name: pathlib.Path(name).resolve(), default=ROOT / "build/real-programs")
    parser.add_argument("--budget", type=int, default=60)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    archive = program_sources.Archive(options.work)
    rows, passed, failed = [], 0, 0
    for program in program_sources.PROGRAMS:
        if program.name not in (options.names or NAMES):
            continue
        try:
            row, report = judge(options, program, program_sources.fetch_all(program, archive))
            rows.append(row)
            passed += 1
            for gap in report.get("not_covered", []):
                print(f"  {program.name}: {gap['kind']}: {re.sub(chr(10), ' ', gap['text'])}", flush=True)
        except NoSources as reason:
            print(f"{program.name}: skipped, its sources cannot be had: {reason}", flush=True)
        except (Failure, OSError, subprocess.TimeoutExpired, json.JSONDecodeError, KeyError) as failure:
            print(f"{program.name}: {failure!s}", flush=True)
            failed += 1
    print(f"\nBudget {options.budget} s, memory at most {MEMORY >> 20} MB:\n")
    print(tables.render(["program", ">events", ">record s", ">detect s", ">prove s", ">confirm s", ">in all s", ">peak memory", "findings"], rows))
    return 1 if failed else 77 if passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
