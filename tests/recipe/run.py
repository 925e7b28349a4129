#!/usr/bin/env python3
"""The programs of the figures of RECIPE's paper, and some that call code which is not instrumented: each analysis finds exactly the races that the comments say, and runs of the program confirm them.

    run.py --sooth build/bin/sooth [--levels 0,1,2] [--explore] [NAME ...]

Programs mark their races as those of tests/programs do. Here `FOUND(name): mcm recipe` names all analyses that find a race, of those in ANALYSES; the others must not. Each is built
with `sooth c++ --deep` at each level of optimisation and recorded serially; all that `recipe` predicts, `sooth witness check` has to accept, `sooth confirm` to bring about, and `sooth replay` to repeat. With
--explore, `sooth explore` must meet all the races that are marked and no others, as far as it comes. `OUTSIDE: file.c`, beside the program, is linked as a shared library that is not instrumented (liboutside.so); exploring would
not see what happens in it. `STATELESS: LIB` is said to the analyses, which otherwise find none of its races but those of mcm. Then `FOUND` also says what rdit finds when `sooth trace calls` has put its calls into the trace.
"""
import argparse
import concurrent.futures
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
ANALYSES = ["mcm", "recipe:s", "recipe"]
WITH_CALLS = "rdit"  # of what `sooth trace calls` makes of a recording with code from outside
TIME_LIMIT = 300  # seconds for one command


def load(name, path):
    specification = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


programs = load("programs_run", FOLDER.parent / "programs/run.py")
Failure = programs.Failure


class Figure(programs.Program):
    """A program whose marks are those of several analyses."""

    def _check(self, text):
        outside = re.search(r"^// OUTSIDE: (\S+)$", text, re.MULTILINE)
        self.outside = self.path.parent / outside[1] if outside else None
        stateless = re.search(r"^// STATELESS: (\S+)$", text, re.MULTILINE)
        self.stateless = ["--stateless", stateless[1]] if stateless else []
        if set(self.found) != set(self.races) or not self.races:
            raise Failure(f"{self.path.name}: FOUND and RACE do not name the same races")
        unknown = set().union(*self.found.values()) - {*ANALYSES, WITH_CALLS, "none"}
        if unknown:
            raise Failure(f"{self.path.name}: no such analysis: {', '.join(sorted(unknown))}")

    def expected(self, analysis):
        return {ends for name, ends in self.races.items() if analysis in self.found[name]}


def run(command, statuses=(0,)):
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, check=False, timeout=TIME_LIMIT)
    if done.returncode not in statuses:
        raise Failure(f"`{' '.join(command)}` ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-1000:]}")
    return done


def place(access):
    return pathlib.Path(access["site"].get("file", "?")).name, access["site"].get("line", 0)


def races(report):
    """Findings by the two places."""
    found = {}
    for finding in report["findings"]:
        if finding["kind"] == "race":
            found.setdefault(tuple(sorted(place(access) for access in finding["accesses"])), []).append(finding)
    return found


def differences(what, expected, found):
    return ([f"{what} misses the race {programs.spell(ends)}" for ends in sorted(expected - found)]
            + [f"{what} reports a race that is not marked so: {programs.spell(ends)}" for ends in sorted(found - expected)])


class Check:
    """One program at one level, in a folder of its own."""

    def __init__(self, options, figure, level, work):
        self.sooth, self.options, self.figure, self.level = options.sooth, options, figure, level
        self.work, self.binary = work, work / figure.name

    def analyze(self, trace, analysis):
        report = self.work / f"{analysis.replace(':', '-')}.json"
        run([self.sooth, "analyze", trace, "--with", analysis, "--format", "json", "-o", report, "--fail-on", "never", "--stats", *self.figure.stateless])
        made = json.loads(report.read_text())
        found = {ends for ends, findings in races(made).items() if any(finding["rung"] == "predicted" for finding in findings)}
        wrong = differences(analysis, self.figure.expected(analysis), found)
        lost = dict(made["stats"]["analyses"][analysis]["extra"]).get("threads not followed to the end", "0")
        if lost != "0":
            wrong.append(f"{analysis} does not follow the code of {lost} threads to the end")
        return report, wrong

    def with_calls(self, trace):
        """What rdit makes of the calls; the analyses that know nothing of them must refuse the trace, and name rdit."""
        calls = self.work / "calls"
        run([self.sooth, "trace", "calls", trace, "-o", calls, *self.figure.stateless])
        run([self.sooth, "trace", "check", calls])
        wrong = self.analyze(calls, WITH_CALLS)[1]
        for analysis in ("hb", "wcp", "syncp", "mcm"):
            if "--with rdit" not in run([self.sooth, "analyze", calls, "--with", analysis], statuses=(64,)).stderr:
                wrong.append(f"{analysis} does not name rdit for a trace with calls")
        return wrong

    def without_stateless(self, trace):
        """The library may keep something then, and what its calls order is no race."""
        report = self.work / "kept.json"
        run([self.sooth, "analyze", trace, "--with", "recipe", "--format", "json", "-o", report, "--fail-on", "never"])
        found = {ends for ends, findings in races(json.loads(report.read_text())).items() if any(finding["rung"] == "predicted" for finding in findings)}
        return differences("recipe without --stateless", set(), found)

    def confirm(self, report):
        """Every finding moves up, and can be repeated."""
        run([self.sooth, "confirm", report, "--", self.binary], statuses=(0, 66))
        wrong = []
        for ends, findings in sorted(races(json.loads(report.read_text())).items()):
            for finding in findings:
                if finding["rung"] not in ("confirmed", "harmful"):
                    replay = finding.get("replay", {})
                    wrong.append(f"confirm does not reach {programs.spell(ends)} ({finding['rung']}): {replay.get('diverged', 'no reason')}")
                    continue
                again = run([self.sooth, "replay", f"{report}#{finding['id']}", "--", self.binary], statuses=range(256))
                if "race created: thread " not in again.stderr:
                    wrong.append(f"replay does not repeat {programs.spell(ends)}: {again.stderr.strip()}")
        return wrong

    def explore(self):
        report = self.work / "explored.json"
        run([self.sooth, "explore", "--runs", self.options.runs, "--jobs", 1, "--schedules", self.work / "schedules", "--format", "json", "-o", report,
             "--fail-on", "never", "--", self.binary], statuses=(0, 66))
        explored = json.loads(report.read_text())
        found, marked = set(races(explored)), set(self.figure.races.values())
        return differences("explore", found if explored["incomplete"] else marked, found) + differences("explore", found & marked, found)

    def all(self):
        outside = []
        if self.figure.outside:
            run(["cc", "-shared", "-fPIC", "-O1", self.figure.outside, "-o", self.work / "liboutside.so"])
            outside = [f"-L{self.work}", "-loutside", f"-Wl,-rpath,{self.work}"]
        run([self.sooth, "c++", "--deep", "-std=c++20", "-g", f"-O{self.level}", "-pthread", self.figure.path, "-o", self.binary, *outside])
        trace = self.work / "trace"
        run([self.sooth, "record", "--schedule", "serial", "-o", trace, "--", self.binary])
        wrong = []
        for analysis in ANALYSES:
            report, different = self.analyze(trace, analysis)
            wrong += different
        run([self.sooth, "witness", "check", report, trace])
        if self.figure.stateless:
            wrong += self.without_stateless(trace)
        if self.figure.outside:
            wrong += self.with_calls(trace)
        wrong += self.confirm(report)  # of recipe, the last
        return wrong + (self.explore() if self.options.explore and not self.figure.outside else [])


def check(options, figure, level):
    """None when all is as expected, else a sentence."""
    with tempfile.TemporaryDirectory(prefix="sooth-recipe-") as work:
        try:
            wrong = Check(options, figure, level, pathlib.Path(work)).all()
        except (Failure, subprocess.TimeoutExpired, OSError) as failure:
            wrong = [str(failure)]
    return f"{figure.name} -O{level}: " + "\n    ".join(wrong) if wrong else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True, type=os.path.abspath)
    parser.add_argument("--levels", type=lambda text: text.split(","), default=["0", "1", "2"])
    parser.add_argument("--explore", action="store_true", help="compare the marks with all schedules")
    parser.add_argument("--runs", type=int, default=5000, help="of the exploration")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at a time")
    parser.add_argument("names", nargs="*", help="programs without their suffix; all by default")
    options = parser.parse_args()
    try:
        sources = [path for folder in ("programs", "outside") for path in sorted((FOLDER / folder).glob("*.cc"))]
        figures = [Figure(path) for path in sources if not options.names or path.stem in options.names]
    except Failure as failure:
        sys.exit(str(failure))
    jobs = [(figure, level) for figure in figures for level in options.levels]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        wrong = [sentence for sentence in pool.map(lambda job: check(options, *job), jobs) if sentence]
    print("\n".join(wrong + [f"{len(jobs) - len(wrong)} passed, {len(wrong)} failed"]))
    sys.exit(1 if wrong or not jobs else 0)


if __name__ == "__main__":
    main()
