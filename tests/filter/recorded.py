#!/usr/bin/env python3
"""What `sooth record --filter tree...` leaves out changes no pair of the analyses that the mode is for.

    recorded.py --sooth build/bin/sooth [--cases N] [--seed N] [--programs NAME,...]

Random scripts are run by replay.cc, which performs their steps in the order of the script whatever the operating system does: so a recording with
a filter and one without are of the same run, and each analysis must find the same pairs in both. The whole recording must give the same
with the filters of `sooth analyze`, too. Programs and examples of the repository are recorded with the filters and judged by the marks in
their sources (tests/programs/run.py). A mismatch is printed with its seed and its part of the script. The number of cases and the seed
also come from SOOTH_CASES and SOOTH_SEED.
"""
import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
PROGRAMS = FOLDER.parent / "programs"
# The modes, and the analyses that each keeps: the table of docs/tree.md. `lockset` is not for recordings.
MODES = {"tree": ["hybrid"], "tree:hb": ["hybrid", "hb"], "tree:strict": ["hybrid", "hb", "wcp", "ipa"]}
IN_ANALYZE = {"tree": ["lockset", "hybrid"], "tree:hb": ["hb"], "tree:strict": ["hb", "wcp"], "tree:data": ["syncp"]}
REFUSED = {"tree": ["lockset", "hb", "wcp", "syncp", "cp"], "tree:hb": ["lockset", "wcp", "ipa"], "tree:strict": ["lockset", "syncp"]}
THREADS = 4
CASES_IN_SCRIPT = 100
STEPS_IN_CASE = 36
SITES_IN_CASE = 4
VARIABLES_IN_CASE = 2


def execute(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=120,
                          stdin=subprocess.DEVNULL)


def must(*command):
    run = execute(*command)
    if run.returncode != 0:
        sys.exit(f"recorded.py: `{' '.join(map(str, command))}` ended with {run.returncode}: {run.stderr.strip()}")
    return run.stdout


class Script:
    """Cases one after the other, each with variables and sites of its own, so that one recording tries them all."""

    def __init__(self, seed):
        self.choice = random.Random(seed)
        self.holder = {}                        # (kind, lock) -> {thread}
        self.posted = [0] * 2
        self.cases = []
        opening = [(0, "f", thread, 0) for thread in range(1, THREADS)]
        for number in range(CASES_IN_SCRIPT):
            self.cases.append(opening + self._case(number))
            opening = []
        closing = [(thread, *self._end(kind), lock, 0) for (kind, lock), threads in sorted(self.holder.items())
                   for thread in sorted(threads)]
        self.cases[-1] += closing + [(0, "j", thread, 0) for thread in range(1, THREADS)]

    @staticmethod
    def _end(kind):
        return {"l": "u", "R": "U", "W": "V"}[kind]

    def _case(self, number):
        # Few of everything, so that threads come back to what they did: a habit is a section or a bare access done over and over.
        steps = []
        weights = self.choice.choice([(14, 8, 1, 1, 1), (14, 8, 0, 0, 0), (10, 4, 3, 2, 1), (12, 10, 1, 0, 0)])
        threads = range(self.choice.randint(2, THREADS))
        while len(steps) < STEPS_IN_CASE:
            thread = self.choice.choice(threads)
            kind = self.choices(("access", "lock", "message", "atomic", "new"), weights)
            steps += getattr(self, "_" + kind)(thread, number)
        return steps

    def choices(self, values, weights):
        return self.choice.choices(values, weights)[0]

    def _access(self, thread, number):
        variable = number * VARIABLES_IN_CASE + self.choice.randrange(VARIABLES_IN_CASE)
        site = number * SITES_IN_CASE + self.choice.randrange(SITES_IN_CASE)
        return [(thread, self.choice.choice("rww"), variable, site)] * self.choice.randint(1, 2)

    def _lock(self, thread, number):
        del number
        held = [key for key, threads in sorted(self.holder.items()) if thread in threads]
        if held and self.choice.random() < 0.6:
            kind, lock = self.choice.choice(held)
            self.holder[kind, lock].discard(thread)
            return [(thread, self._end(kind), lock, 0)]
        kind, lock = self.choice.choice([("l", 0), ("l", 1), ("R", 0), ("W", 0)])
        others = {"l": "l", "R": "W", "W": "RW"}[kind]
        mine = "RW" if kind in "RW" else "l"
        if any(self.holder.get((other, lock)) for other in others) or any(thread in self.holder.get((k, lock), ()) for k in mine):
            return []
        self.holder.setdefault((kind, lock), set()).add(thread)
        return [(thread, kind, lock, 0)]

    def _message(self, thread, number):
        del number
        semaphore = self.choice.randrange(2)
        if self.posted[semaphore] and self.choice.random() < 0.5:
            self.posted[semaphore] -= 1
            return [(thread, "q", semaphore, 0)]
        self.posted[semaphore] += 1
        return [(thread, "p", semaphore, 0)]

    def _atomic(self, thread, number):
        del number
        return [(thread, self.choice.choice("sax"), self.choice.randrange(2), 0)]

    def _new(self, thread, number):
        return [(thread, "n", number * VARIABLES_IN_CASE + self.choice.randrange(VARIABLES_IN_CASE), 0)]

    def text(self):
        return "".join(" ".join(map(str, step)) + "\n" for case in self.cases for step in case)


def site_of(access):
    """write_at<17>, or what of the program is not of the script."""
    function = access["site"].get("function", "?")
    found = re.search(r"(\w+)<(\d+)", function)
    return f"{found[1]}<{found[2]}>" if found else function


def analyze(sooth, trace, analyses, *flags):
    """{analysis: the pairs of functions, which are the sites}"""
    report = json.loads(must(sooth, "analyze", trace, "--with", ",".join(analyses), "--format", "json", "--fail-on", "never",
                             "--witness-events", "0", *flags))
    found = {name: set() for name in analyses}
    for finding in report["findings"]:
        if finding["kind"] == "race":
            ends = tuple(sorted(site_of(access) for access in finding["accesses"]))
            for name in finding["found_by"]:
                found[name].add(ends)
    return found


def differences(whole, filtered, names):
    return [(name, pair, pair in whole[name]) for name in names for pair in sorted(whole[name] ^ filtered[name])]


def describe(script, seed, mode, difference):
    name, pair, lost = difference
    sites = [int(number) for number in re.findall(r"<(\d+)>", " ".join(pair))]
    lines = [f"seed {seed}: {mode} {'loses' if lost else 'makes up'} the pair {' | '.join(pair)} of {name}"]
    if sites:
        case = script.cases[sites[0] // SITES_IN_CASE]
        lines.append("    " + " ".join(f"T{t}:{op}{obj}{f'@{site}' if op in 'rw' else ''}" for t, op, obj, site in case))
    return "\n".join(lines)


def check_script(sooth, program, folder, seed):
    """Sentences on what differs, accesses left out by each mode, and how many pairs there were."""
    script = Script(seed)
    path = folder / "script"
    path.write_text(script.text())
    traces = {}
    for mode in ["off", *MODES]:
        traces[mode] = folder / f"{seed}-{mode.replace(':', '-')}"
        must(sooth, "record", "--filter", mode, "-o", traces[mode], "--", program, path)
    counts = {mode: json.loads(must(sooth, "trace", "info", "--json", trace))["kinds"] for mode, trace in traces.items()}
    accesses = {mode: kinds.get("read", 0) + kinds.get("write", 0) for mode, kinds in counts.items()}
    whole = analyze(sooth, traces["off"], sorted({name for names in [*MODES.values(), *IN_ANALYZE.values()] for name in names}))
    wrong = []
    for mode, names in MODES.items():
        wrong += [describe(script, seed, "record --filter " + mode, d) for d in differences(whole, analyze(sooth, traces[mode], names), names)]
    for mode, names in IN_ANALYZE.items():
        filtered = analyze(sooth, traces["off"], names, "--filter", mode)
        wrong += [describe(script, seed, "analyze --filter " + mode, d) for d in differences(whole, filtered, names)]
    return wrong, accesses, sum(len(pairs) for pairs in whole.values())


def check_refusals(sooth, program, folder):
    """The recorder and the analyses say no where a pair could be lost."""
    wrong = []
    script = folder / "short"
    script.write_text("0 w 0 0\n")
    serial = execute(sooth, "record", "--filter", "tree", "--schedule", "serial", "-o", folder / "serial", "--", program, script)
    if serial.returncode != 64 or "serial" not in serial.stderr:
        wrong.append(f"a serial recording with a filter ends with {serial.returncode}: {serial.stderr.strip()}")
    for mode, names in REFUSED.items():
        trace, text = folder / f"refused-{mode.replace(':', '-')}", folder / f"refused-{mode.replace(':', '-')}.std"
        must(sooth, "record", "--filter", mode, "-o", trace, "--", program, script)
        must(sooth, "trace", "convert", trace, text)
        for source in (trace, text):  # a copy knows it, too
            for name in names:
                run = execute(sooth, "analyze", source, "--with", name)
                if run.returncode != 64 or f"--filter {mode}" not in run.stderr:
                    wrong.append(f"{name} on a recording with --filter {mode} ends with {run.returncode}: {run.stderr.strip()}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sooth", required=True, type=os.path.abspath)
    parser.add_argument("--cases", type=int, default=int(os.environ.get("SOOTH_CASES", "1500")))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SOOTH_SEED", "1")))
    parser.add_argument("--programs", default="", help="of tests/programs and examples, recorded with tree:strict")
    options = parser.parse_args()
    wrong, total, pairs = [], {}, 0
    scripts = max(1, options.cases // CASES_IN_SCRIPT)
    with tempfile.TemporaryDirectory(prefix="sooth-filter-") as work:
        folder = pathlib.Path(work)
        program = folder / "replay"
        # Without debug information: sites on one line are one finding, and here they are to be told apart.
        must(options.sooth, "c++", "-std=c++20", "-O0", "-g0", FOLDER / "replay.cc", "-o", program)
        wrong += check_refusals(options.sooth, program, folder)
        for number in range(scripts):
            sentences, accesses, found = check_script(options.sooth, program, folder, options.seed + number)
            wrong += sentences
            pairs += found
            total = {mode: total.get(mode, 0) + count for mode, count in accesses.items()}
    for mode in MODES:
        if total[mode] >= total["off"]:
            wrong.append(f"record --filter {mode} left out nothing of {total['off']} accesses")
    if options.programs:
        run = execute(sys.executable, PROGRAMS / "run.py", "--sooth", options.sooth, "--compilers", "gcc", "--levels", "1", "--filter",
                      "tree:strict", *options.programs.split(","))
        if run.returncode != 0:
            wrong.append(run.stdout + run.stderr)
    print("\n".join(wrong))
    print(f"{scripts} scripts of {CASES_IN_SCRIPT} cases, {pairs} pairs; accesses recorded: " +
          ", ".join(f"{mode} {count}" for mode, count in total.items()))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
