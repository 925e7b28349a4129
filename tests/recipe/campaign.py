#!/usr/bin/env python3
"""Whatever an analysis predicts of a random program happens under some schedule of it.

    campaign.py --sooth build/bin/sooth [--seeds N] [--first-seed N] [--language c++] [--with recipe] [--levels 0,1,2] [--jobs N] [--keep DIR]
    campaign.py --sooth build/bin/sooth --selftest          that a false race is noticed, and made small

Each seed gives a program (generate.py, or generate_cpp.py: maps, strings, virtual functions and exceptions), built with `sooth cc --deep`, recorded under a few schedules (one thread at a time, so the recordings are exact), and analysed. Each
race that stands at `predicted` must be among those that `sooth explore` meets when it runs all schedules of the same binary, by file, line and column
of the two accesses; those of code that did not run in the recording, too. Where the exploration does not end in time, what it has not seen is counted as
open, and `sooth confirm` must bring it about. What a program calls outside is instrumented for the exploration, which is to see what happens there, and not for the recordings; mcm,
which knows nothing of it then, may be wrong about such a program. An exception is printed with its seed and a program that was cut down as far as it keeps being one; --keep leaves it in a folder.

Prints also how many of all races of the programs each analysis found: no goal, one recording cannot show all.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import generate
import generate_cpp

SCHEDULES = [["serial"], ["random"], ["pct:3"]]  # one recording each; seeds are those of the program
TIME_LIMIT = 120  # seconds for one command
EXPLORE_SECONDS = 60
COMPARED = "mcm"  # how many it finds is told beside the analysis in question


class Failure(Exception):
    """A sentence on what went wrong."""


def run(command, status=(0,), cwd=None):
    command = [str(word) for word in command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, check=False, cwd=cwd,
                              timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        raise Failure(f"`{' '.join(command)}` took more than {TIME_LIMIT} s") from None
    if status is not None and done.returncode not in status:
        raise Failure(f"`{' '.join(command)}` ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-1000:]}")
    return done


def place(site):
    return site.get("line", 0), site.get("column", 0)


def site_pairs(report):
    """(sites, found_by, rung) of all pairs: several may be one finding."""
    for finding in report["findings"]:
        if finding["kind"] == "race":
            yield [access["site"] for access in finding["accesses"]], finding["found_by"], finding["rung"]
            for other in finding.get("others", []):
                yield other["sites"], other["found_by"], other["rung"]


def pairs(report, analysis=None, rung=None):
    """The races of a report by the places of their accesses; of one analysis, at a rung."""
    return {tuple(sorted(map(place, sites))) for sites, found_by, proven in site_pairs(report)
            if not any(site.get("file", "").endswith("outside.c") for site in sites) and (analysis is None or analysis in found_by) and rung in (None, proven)}


def calls_outside(text):
    return "outside_" in text


def spell(pair):
    return " | ".join(f"{line}:{column}" for line, column in pair)


Judgement = collections.namedtuple("Judgement", "explored complete runs found compared false open")


class Judge:
    """Builds, records, analyses and explores a program."""

    def __init__(self, options):
        self.options = options
        self.is_cpp = options.language == "c++"
        self.generator = generate_cpp if self.is_cpp else generate

    def build(self, text, level, folder, instruments_all=False):
        source, outside, binary = folder / ("program.cc" if self.is_cpp else "program.c"), folder / "outside.c", folder / ("all" if instruments_all else "program")
        source.write_text(text)
        outside.write_text(generate.OUTSIDE)
        inputs = [source]
        if calls_outside(text) and not instruments_all:
            run(["cc", "-O1", "-c", outside, "-o", folder / "outside.o"])
            inputs.append(folder / "outside.o")
        elif calls_outside(text):
            inputs.append(outside)
        run([self.options.sooth, "c++" if self.is_cpp else "cc", *self.options.build, f"-O{level}", "-w", "-pthread", *inputs, "-o", binary])
        return binary

    def explore(self, binary, folder):
        """The races of all schedules, whether these were all, and how many there were."""
        report = folder / "explored.json"
        run([self.options.sooth, "explore", "--runs", self.options.runs, "--budget", f"{EXPLORE_SECONDS}s", "--jobs", 1, "--format", "json", "-o", report, "--schedules", folder / "schedules",
             "--fail-on", "never", "--", binary], status=(0, 66))
        explored = json.loads(report.read_text())
        extra = dict(explored["stats"]["analyses"]["explore"]["extra"])
        return pairs(explored), not explored["incomplete"], int(extra.get("runs", "0").replace(",", ""))

    def analyze(self, binary, seed, schedule, folder):
        """The races of the analysis in question and of the compared one; reports are kept for `sooth confirm`."""
        trace, report = folder / "trace", folder / f"{schedule[0].replace(':', '-')}.json"
        shutil.rmtree(trace, ignore_errors=True)
        run([self.options.sooth, "record", "--schedule", *schedule, "--seed", seed, "-o", trace, "--", binary], status=None)
        if not (trace / "version").exists():
            raise Failure(f"recording with {schedule[0]} left no whole trace")
        found = []
        for analysis in dict.fromkeys([COMPARED, self.options.analysis]):  # the last report stays
            run([self.options.sooth, "analyze", trace, "--with", analysis, "--format", "json", "-o", report, "--fail-on", "never"])
            found.append(pairs(json.loads(report.read_text()), analysis, "predicted"))
        return found[-1], found[0]

    def confirms(self, binary, folder, pair):
        """Whether a run brings it about that the exploration did not come to."""
        for report in sorted(folder.glob("*.json")):
            if report.name != "explored.json" and pair in pairs(json.loads(report.read_text())):
                run([self.options.sooth, "confirm", report, "--", binary], status=(0, 66))
                if pair in pairs(json.loads(report.read_text()), rung="confirmed") | pairs(json.loads(report.read_text()), rung="harmful"):
                    return True
        return False

    def judge(self, text, seed, level, folder):
        binary = self.build(text, level, folder)
        explored, complete, runs = self.explore(self.build(text, level, folder, True) if calls_outside(text) else binary, folder)
        found, compared = set(), set()
        for schedule in SCHEDULES:
            first, second = self.analyze(binary, seed, schedule, folder)
            found |= first
            compared |= second
        false = (found if calls_outside(text) else found | compared) - explored
        unseen = {pair for pair in false if not complete and self.confirms(binary, folder, pair)}
        return Judgement(explored, complete, runs, found, compared, false - unseen if complete else set(), set() if complete else false - unseen)


def smaller(nodes):
    """Every tree with one node less, the large ones first."""
    for i, node in enumerate(nodes):
        before, after = nodes[:i], nodes[i + 1:]
        yield before + after
        if isinstance(node, generate.Block):
            for body in smaller(node.body):
                yield before + [node._replace(body=body)] + after


def cut_down(judge, nodes, seed, level, folder):
    """The smallest program that is still an exception, as text."""
    end = time.monotonic() + judge.options.shrink
    shrunk = True
    while shrunk:
        shrunk = False
        for tree in smaller(nodes):
            if time.monotonic() > end:
                return judge.generator.render(nodes)
            try:
                if judge.judge(judge.generator.render(tree), seed, level, folder).false:
                    nodes, shrunk = tree, True
                    break
            except Failure:
                continue
    return judge.generator.render(nodes)


def check(judge, seed):
    """The judgement of a seed, and the sentences on what went wrong."""
    level = judge.options.levels[seed % len(judge.options.levels)]
    nodes = judge.generator.generate(seed)
    with tempfile.TemporaryDirectory(prefix="sooth-campaign-") as work:
        folder = pathlib.Path(work)
        try:
            judgement = judge.judge(judge.generator.render(nodes), seed, level, folder)
            wrong = [f"seed {seed} at -O{level}: no schedule has the race {spell(pair)}" for pair in sorted(judgement.false)]
            wrong += [f"seed {seed} at -O{level}: neither {judgement.runs} runs nor `sooth confirm` came to the race {spell(pair)}" for pair in sorted(judgement.open)]
        except Failure as failure:
            return None, [f"seed {seed} at -O{level}: {failure}"]
        if wrong and judge.options.keep:
            shutil.copytree(folder, judge.options.keep / f"seed-{seed}", dirs_exist_ok=True)
        if judgement.false and judge.options.shrink:
            wrong.append(cut_down(judge, nodes, seed, level, folder))
    return judgement, wrong


# No schedule brings the writes of x together, but happens-before leaves them unordered, and so `hb` reports them.
MESSAGE = ["int x, y;",
           generate.Block("static void *thread0(void *unused) {", ["x = 1;", "y = 1;", "return unused;"], "}"),
           generate.Block("static void *thread1(void *unused) {", ["int v1 = 3;", generate.Block("if (y) {", ["x = 2;"], "}"), "return unused;"], "}"),
           generate.Block("int main(void) {", ["pthread_t id[2];", "pthread_create(&id[0], 0, thread0, 0);", "pthread_create(&id[1], 0, thread1, 0);",
                                               "pthread_join(id[0], 0);", "pthread_join(id[1], 0);", "return 0;"], "}")]


def selftest(judge):
    """Whether a false race of hb is found to be false, and stays when what has nothing to do with it is cut off."""
    with tempfile.TemporaryDirectory(prefix="sooth-campaign-") as work:
        folder = pathlib.Path(work)
        false = judge.judge(generate.render(MESSAGE), 1, "0", folder).false
        text = cut_down(judge, MESSAGE, 1, "0", folder)
    ok = len(false) == 1 and "x = 2" in text and "v1" not in text
    print("passed" if ok else f"failed: {false}\n{text}")
    return 0 if ok else 1


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True, type=os.path.abspath)
    parser.add_argument("--seeds", type=int, default=int(os.environ.get("SOOTH_RECIPE_SEEDS", "20")), help="so many programs")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--language", choices=["c", "c++"], default="c", help="of the programs")
    parser.add_argument("--with", dest="analysis", default="recipe")
    parser.add_argument("--build", type=lambda text: text.split(), default=["--deep"], help="what `sooth cc` is told")
    parser.add_argument("--levels", type=lambda text: text.split(","), default=["0", "1", "2"], help="of optimisation, in turn")
    parser.add_argument("--runs", type=int, default=2000, help="of the exploration")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at a time")
    parser.add_argument("--shrink", type=int, default=60, help="seconds to make an exception smaller; 0: do not")
    parser.add_argument("--selftest", action="store_true", help="see above")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for exceptions")
    return parser.parse_args()


def main():
    options = parse_options()
    judge = Judge(options)
    if options.selftest:
        options.analysis = "hb"
        return selftest(judge)
    begin, failed, total = time.monotonic(), 0, collections.Counter()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for judgement, wrong in pool.map(lambda seed: check(judge, seed), seeds):
            failed += bool(wrong)
            for sentence in wrong:
                print(sentence, flush=True)
            if judgement:
                total.update(programs=1, complete=judgement.complete, runs=judgement.runs, explored=len(judgement.explored), found=len(judgement.found),
                             compared=len(judgement.compared), false=len(judgement.false), open=len(judgement.open))
    seconds = time.monotonic() - begin
    print(f"{total['programs']} programs, of {total['complete']} all schedules ({total['runs']} runs), in {seconds:.0f} s: {total['explored']} races by "
          f"exploration, {total['found']} found by {options.analysis}, {total['compared']} by {COMPARED}; {total['false']} false, {total['open']} open")
    print(f"{len(seeds) - failed} passed, {failed} failed")
    return 1 if failed or not total["programs"] else 0


if __name__ == "__main__":
    sys.exit(main())
