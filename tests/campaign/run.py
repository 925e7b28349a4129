#!/usr/bin/env python3
"""Random programs with known truth: is anything that `sooth run` says false, and how much of the truth does it find?

    run.py --sooth build/bin/sooth [--programs N] [--first-seed N] [--features a,b | all | all,-try] [--deep] [--quick] [--jobs N] [--keep DIR]
    run.py --show SEED                                         the program of a seed and the truth about it
    run.py --sooth build/bin/sooth --selftest                  that something false is noticed, and made small

Each seed gives a model (generate.py), a program in C or C++ with a line for each statement (render.py), and, by exploring all interleavings of the model
(explore.py), its races, deadlocks and stuck states. Models with too many states are passed over, and the next seed is taken. Everything that `sooth run` reports on
`predicted` or above must be among the truth, by lines; with --deep the same for a build with `--deep`. Exceptions are printed with the smallest program that still shows one.
With --quick a program is not run again and again: it is recorded once, in turn, under one of several schedules, and everything that `sooth analyze` says is judged. That is
a tenth of the time, for many programs; it shows what predictions are worth, and nothing of controlled runs.
Prints the share of the true races and deadlocks that were found: no goal, but a figure to watch.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "programs"))
import explore  # noqa: E402
import generate  # noqa: E402
import model  # noqa: E402
import render  # noqa: E402
import run as programs  # noqa: E402  (commands that must end in time, and sentences on what went wrong)

# Left out until runs that hang otherwise than by locks are all findings of their own.
NOT_YET = {"stuck"}
STANDARD = frozenset(generate.FEATURES) - NOT_YET

TIME_LIMIT = 300  # seconds for one command on a busy machine
HANG_LIMIT = 40  # seconds for a run that may hang
QUICK_LIMIT = "3s"  # for a recording
QUICK_SCHEDULES = ("serial", "random", "pct:3", "serial")
QUICK_ANALYSES = "hb,wcp,syncp,deadlock,mcm,misuse"

Judgement = collections.namedtuple("Judgement", "races found cycles found_cycles false seconds")


@dataclasses.dataclass
class Case:
    """A model with its truth, as numbers of lines of the source."""

    program: model.Program
    level: str
    text: str
    races: set
    cycles: set
    stuck: set
    leaks: set  # lines that start a thread which nobody joins or detaches
    line_set: set
    loops: dict  # head -> last line

    def same(self, line):
        """The lines that a place may be meant by: compilers give accesses at the end of a loop the line of its head."""
        return [at for at in range(line, self.loops[line]) if at in self.line_set] if line in self.loops else [line]

    @property
    def suffix(self):
        return ".cc" if self.program.dialect == "c++" else ".c"


def make_case(program, seed, max_states, seconds):
    """None when there are too many states."""
    truth = explore.Explorer(program, max_states, seconds).explore()
    if not truth.complete:
        return None
    level = "0112"[seed % 4]
    text, lines, loops = render.render(program, volatile=level != "0")  # volatile: no compiler merges accesses, or moves them
    number = {line: at for at, line in lines.items()}
    forks = {statement.args[0]: number[(0, i), 0] for i, statement in enumerate(program.threads[0]) if statement.kind == "fork"}
    kept = {statement.args[0] for statement in program.threads[0] if statement.kind in ("join", "detach")}
    return Case(program, level, text, {tuple(sorted(number[line] for line in pair)) for pair in truth.races},
                {frozenset(number[line] for line in cycle) for cycle in truth.cycles},
                {frozenset(number[line] for line in stuck) for stuck in truth.stuck},
                {line for thread, line in forks.items() if thread not in kept}, set(lines), loops)


def usable(program, case, features):
    """Whether the program cannot hang but by locks in a circle."""
    return case is not None and ("stuck" in features or all(any(cycle <= stuck for cycle in case.cycles) for stuck in case.stuck))


class Headers:
    """The headers of C++ programs, compiled once for each level: two thirds of the time that a program takes."""

    def __init__(self, sooth):
        self.sooth, self.folders, self.lock, self.root = sooth, {}, threading.Lock(), tempfile.TemporaryDirectory(prefix="sooth-campaign-headers-")

    def flags(self, case):
        if case.suffix != ".cc":
            return []
        with self.lock:
            if case.level not in self.folders:
                folder = pathlib.Path(self.root.name) / case.level
                folder.mkdir()
                (folder / "all.h").write_text("".join(line + "\n" for line in case.text.splitlines() if line.startswith("#include")))
                programs.must([self.sooth, "c++", *flags_of(case), "-x", "c++-header", folder / "all.h", "-o", folder / "all.h.gch"], cwd=folder, limit=TIME_LIMIT)
                self.folders[case.level] = folder
            return ["-include", self.folders[case.level] / "all.h"]


# GCC makes one of arms and functions that do the same, on the lines of one of them: the truth is about the other's lines, too.
LINES_STAY = ["-fno-crossjumping", "-fno-tree-tail-merge", "-fno-code-hoisting", "-fno-ipa-icf"]


def flags_of(case, deep=False):
    return ["-std=c++20" if case.suffix == ".cc" else "-std=c11", "-g", f"-O{case.level}", "-w", "-pthread", *([] if deep else LINES_STAY)]


class Judge:
    def __init__(self, options):
        self.options = options
        self.headers = Headers(options.sooth) if options.quick else None

    def report(self, case, deep, folder):
        """What `sooth run` says, or None when its recorded run hangs, as the program may."""
        source = folder / f"program{case.suffix}"
        binary, store = folder / "program", folder / "report.json"
        source.write_text(case.text)
        store.unlink(missing_ok=True)
        self.build(case, deep, folder, source, binary)
        if self.options.quick:
            return self.quick_report(case, folder, binary, store)
        command = [self.options.sooth, "run", "--budget", f"{self.options.budget}s", "--timeout", "5s", "--trials", self.options.trials, "--jobs", 1, "--store", store,
                   "-o", folder / "report.txt", *(["--thin-from", self.options.thin_from] if self.options.thin_from else []), "--", binary]
        errors, status = self.execute(command, folder, HANG_LIMIT if case.stuck else TIME_LIMIT)
        if status is None and case.stuck:
            return None
        if status not in (0, 66) or not store.exists():
            raise programs.Failure(f"`sooth run` {'did not end' if status is None else f'ended with status {status}'}: {errors.strip()[-500:]}")
        return json.loads(store.read_text())

    def build(self, case, deep, folder, source, binary):
        mode = "c++" if case.suffix == ".cc" else "cc"
        ready = self.headers.flags(case) if self.headers is not None and not deep else []
        programs.must([self.options.sooth, mode, *(["--deep"] if deep else []), *flags_of(case, deep), *ready, source, "-o", binary], cwd=folder, limit=TIME_LIMIT)

    def quick_report(self, case, folder, binary, store):
        """What `sooth analyze` says of one recording, or None when that deadlocked, as the program may."""
        trace = folder / "trace"
        shutil.rmtree(trace, ignore_errors=True)
        schedule = QUICK_SCHEDULES[sum(case.text.encode()) % len(QUICK_SCHEDULES)]
        _, status = self.execute([self.options.sooth, "record", "--schedule", schedule, "--seed", 1 + len(case.text) % 7, "--timeout", QUICK_LIMIT, "-o", trace, "--", binary], folder, TIME_LIMIT)
        if status != 0 and case.stuck:
            return None
        command = [self.options.sooth, "analyze", trace, "--with", QUICK_ANALYSES, "--format", "json", "-o", store]
        errors, status = self.execute(command, folder, TIME_LIMIT)
        if status not in (0, 66) or not store.exists():
            raise programs.Failure(f"`sooth analyze` {'did not end' if status is None else f'ended with status {status}'}: {errors.strip()[-500:]}")
        return json.loads(store.read_text())

    @staticmethod
    def execute(command, folder, limit):
        """Standard error and status, which is None when the command had to be ended; nothing of it is left then."""
        with open(folder / "errors.txt", "w+") as errors:
            process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, cwd=folder, start_new_session=True)
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            errors.seek(0)
            return errors.read(), status

    def judge(self, case, deep, folder):
        begin = time.monotonic()
        report = self.report(case, deep, folder)
        if report is None:
            return None
        found, cycles, false = set(), set(), []
        for finding in report["findings"]:
            # The explorer's interleavings are sequentially consistent: it does not know what races old values lead to.
            if finding["rung"] == "suspected" or finding.get("replay", {}).get("strategy", "").endswith(" with weak memory"):
                continue
            lines = [line_of(access, case) for access in finding["accesses"]]
            if finding["kind"] == "race":
                pairs = {tuple(sorted(pair)) for pair in itertools.product(*map(case.same, lines))}
                found |= pairs & case.races if len(pairs) == 1 else set()
                if not pairs & case.races:
                    false.append(f"{finding['rung']} race of lines {lines[0]} and {lines[1]} ({', '.join(finding['found_by'])})")
            elif finding["kind"] == "deadlock":
                # Of a controlled run that deadlocked only the innermost frame is known, which may stand in a header of the library.
                lines = frozenset(line for line in lines if line != 0 or not finding.get("failure"))
                cycles |= {lines} & case.cycles
                if lines not in case.cycles and not any(lines <= stuck for stuck in case.stuck):
                    false.append(f"{finding['rung']} deadlock at lines {', '.join(map(str, sorted(lines)))}")
            elif finding["kind"] == "misuse":
                if finding["misuse"] != "thread_leak" or lines[0] not in case.leaks:
                    false.append(f"misuse {finding['misuse']} at line {lines[0]}")
            elif finding["kind"] in ("crash", "hang") and not case.stuck:
                false.append(f"{finding['rung']} {finding['kind']}")
        return Judgement(case.races, found, case.cycles, cycles, false, time.monotonic() - begin)


def line_of(access, case):
    """The innermost frame that stands on a line of a statement."""
    for frame in [access["site"], *access.get("stack", [])]:
        if pathlib.Path(frame.get("file", "")).name == f"program{case.suffix}" and (frame.get("line", 0) in case.line_set or frame.get("line", 0) in case.loops):
            return frame["line"]
    return 0


def smaller(block, needed):
    """Every block with one statement less that is not of a needed kind, or with what a statement encloses in its place."""
    for i, statement in enumerate(block):
        before, after = block[:i], block[i + 1:]
        if statement.kind not in needed:
            yield before + after
        if statement.kind in ("if", "loop", "lock", "try", "both", "chain"):
            yield before + statement.body + statement.other + after
        for body in smaller(statement.body, needed):
            yield before + (statement.with_(body=body),) + after
        for other in smaller(statement.other, needed):
            yield before + (statement.with_(other=other),) + after


def smaller_programs(program):
    needed = ("fork", "join", "detach") if program.dialect == "c++" else ("fork",)  # std::thread insists on its end
    for thread, block in enumerate(program.threads):
        for less in smaller(block, needed):
            yield dataclasses.replace(program, threads=program.threads[:thread] + (less,) + program.threads[thread + 1:])


def cut_down(judge, case, seed, deep, folder):
    """The smallest case that still has an exception, and its exceptions."""
    end = time.monotonic() + judge.options.shrink
    false, shrunk = [], True
    while shrunk and time.monotonic() < end:
        shrunk = False
        for program in smaller_programs(case.program):
            if time.monotonic() > end:
                break
            less = make_case(program, seed, judge.options.states, judge.options.explore)
            if not usable(program, less, judge.options.features):
                continue
            try:
                judgement = judge.judge(less, deep, folder)
            except programs.Failure:
                continue
            if judgement and judgement.false:
                case, false, shrunk = less, judgement.false, True
                break
    return case, false


def describe(case):
    numbered = "".join(f"{at:4} {line}\n" for at, line in enumerate(case.text.splitlines(), 1) if at in case.line_set or not line.startswith(("#", "using", "static struct", "static int")))
    return (f"{numbered}  -O{case.level}; races: {', '.join(f'{a}-{b}' for a, b in sorted(case.races)) or 'none'}; deadlocks: "
            f"{'; '.join(' '.join(map(str, sorted(cycle))) for cycle in sorted(case.cycles, key=sorted)) or 'none'}; "
            f"stuck: {'; '.join(' '.join(map(str, sorted(lines))) for lines in sorted(case.stuck, key=sorted)) or 'never'}")


def check(judge, seed):
    """(judgements per build, sentences); None for a seed whose program is passed over."""
    options = judge.options
    program = generate.generate(seed, options.features)
    case = make_case(program, seed, options.states, options.explore)
    if not usable(program, case, options.features):
        return None
    judgements, wrong = {}, []
    with tempfile.TemporaryDirectory(prefix="sooth-campaign-") as work:
        folder = pathlib.Path(work)
        for deep in ([False, True] if options.deep else [False]):
            name = f"seed {seed}{' with --deep' if deep else ''}"
            try:
                judgements[deep] = judge.judge(case, deep, folder)
            except programs.Failure as failure:
                wrong.append(f"{name}: {failure}\n{describe(case)}")
                continue
            if judgements[deep] is None:  # the run deadlocked, as the model says it can
                continue
            if judgements[deep].false:
                wrong.append(f"{name}: {'; '.join(judgements[deep].false)}")
                small, false = cut_down(judge, case, seed, deep, folder) if options.shrink else (case, [])
                wrong.append(f"{'; '.join(false) or 'as it is'}:\n{describe(small)}")
                if options.keep:
                    target = options.keep / f"seed-{seed}{'-deep' if deep else ''}"
                    shutil.rmtree(target, ignore_errors=True)
                    target.mkdir(parents=True)
                    (target / f"program{case.suffix}").write_text(case.text)
                    (target / f"small{case.suffix}").write_text(small.text)
                    (target / "why.txt").write_text("\n".join(wrong) + "\n" + describe(case) + "\n")
            elif options.verbose:
                missed = [f"{a}-{b}" for a, b in sorted(judgements[deep].races - judgements[deep].found)]
                missed += [f"deadlock {' '.join(map(str, sorted(cycle)))}" for cycle in judgements[deep].cycles - judgements[deep].found_cycles]
                print(f"{name}: misses {', '.join(missed)}\n{describe(case)}" if missed else f"{name}: misses nothing", flush=True)
    return judgements, wrong


def share(part, whole):
    return f"{part} of {whole}" + (f" ({100 * part / whole:.0f} %)" if whole else "")


def features_of(text):
    """`all`, `standard` or names; `-name` takes one away."""
    chosen = set()
    for word in text.split(","):
        name = word.lstrip("-")
        named = set(generate.FEATURES) if name == "all" else set(STANDARD) if name == "standard" else {name}
        if not named <= set(generate.FEATURES):
            raise argparse.ArgumentTypeError(f"there is no feature {name}; there are {', '.join(generate.FEATURES)}")
        chosen = chosen - named if word.startswith("-") else chosen | named
    return frozenset(chosen)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="Features:\n" + "".join(f"  {name:12}{what}{' (not in `standard`)' if name in NOT_YET else ''}\n" for name, what in generate.FEATURES.items()))
    parser.add_argument("--sooth", type=os.path.abspath)
    parser.add_argument("--programs", type=int, default=100, help="so many programs")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--features", type=features_of, default=STANDARD, help="what programs may contain: `all`, `standard` (default) or names; -NAME takes one away")
    parser.add_argument("--deep", action="store_true", help="each program also built with --deep")
    parser.add_argument("--quick", action="store_true", help="one recording and its analysis instead of `sooth run`")
    parser.add_argument("--states", type=int, default=6_000, help="of a model; those with more are passed over")
    parser.add_argument("--explore", type=float, default=30.0, help="seconds of processor time for a model; --states ends it before on any machine")
    parser.add_argument("--budget", type=int, default=10, help="seconds of `sooth run`")
    parser.add_argument("--trials", type=int, default=5, help="controlled runs towards each finding")
    parser.add_argument("--thin-from", help="passed to `sooth run`: 1 leaves out of recordings what can be left out")
    parser.add_argument("--shrink", type=int, default=60, help="seconds to make an exception smaller; 0: do not")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at a time")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for exceptions")
    parser.add_argument("--verbose", action="store_true", help="also programs of which something was missed")
    parser.add_argument("--show", type=int, metavar="SEED")
    parser.add_argument("--selftest", action="store_true", help="see above")
    options = parser.parse_args()
    if not options.sooth and options.show is None:
        parser.error("--sooth is missing")
    return options


def selftest(judge):
    """0: both halves pass."""
    return selftest_of_false(judge) or selftest_of_twins(judge)


def selftest_of_twins(judge):
    """Arms and threads that do the same keep lines of their own, whatever the compiler: else a race of one is told of the other, and taken for false."""
    variable = model.Object("g", 0)
    step = model.Statement("copy", (variable, variable, 1))
    twins = (model.Statement("read", (0, variable)), model.Statement("if", (("register", 0, 0),), (step,), (step,)))
    ends = tuple(model.Statement(kind, (thread,)) for kind in ("fork", "join") for thread in (1, 2))
    program = model.Program((ends, twins, twins))
    wrong = []
    with tempfile.TemporaryDirectory(prefix="sooth-campaign-") as work:
        for seed, deep in itertools.product((1, 3), (False, True) if judge.options.deep else (False,)):  # -O1, -O2
            case = make_case(program, seed, 1000, 5)
            judgement = judge.judge(case, deep, pathlib.Path(work))
            wrong += [f"-O{case.level}{' --deep' if deep else ''}: {sentence}" for sentence in judgement.false or ([] if judgement.found else ["nothing was found"])]
    print("passed" if not wrong else f"failed: {'; '.join(wrong)}\n{describe(case)}")
    return 1 if wrong else 0


def selftest_of_false(judge):
    """A race that the model does not know (its lock is left out of the program's text) is called false, and stays when the rest is cut off."""
    variable, lock = model.Object("g", 0), model.Object("m", 0)
    section = model.Statement("lock", (lock, False, False), (model.Statement("write", (variable, 1)), model.Statement("read", (0, model.Object("g", 1)))))
    program = model.Program(((model.Statement("fork", (1,)), model.Statement("fork", (2,)), model.Statement("join", (1,)), model.Statement("join", (2,))), (section,), (section,)))

    class Careless(Judge):
        def judge(self, case, deep, folder):
            case = dataclasses.replace(case, text=case.text.replace("pthread_mutex_lock(&m0);", ";").replace("pthread_mutex_unlock(&m0);", ";"))
            return super().judge(case, deep, folder)
    with tempfile.TemporaryDirectory(prefix="sooth-campaign-") as work:
        careless, folder = Careless(judge.options), pathlib.Path(work)
        case = make_case(program, 0, 1000, 5)
        honest, wrong = judge.judge(case, False, folder).false, careless.judge(case, False, folder).false
        small, _ = cut_down(careless, case, 0, False, folder)
    passed = not honest and len(wrong) == 1 and "g0 = 1" in small.text and "g1" not in small.text
    print("passed" if passed else f"failed: {honest} {wrong}\n{small.text}")
    return 0 if passed else 1


def main():
    options = parse_options()
    if options.show is not None:
        case = make_case(generate.generate(options.show, options.features), options.show, options.states, options.explore)
        print(case and case.text + "\n" + describe(case))
        return 0
    judge = Judge(options)
    if options.selftest:
        return selftest(judge)
    begin, failed, judged, seeds, total = time.monotonic(), 0, 0, 0, collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        while judged < options.programs:
            batch = range(options.first_seed + seeds, options.first_seed + seeds + options.programs - judged)
            seeds += len(batch)
            for seed, result in zip(batch, pool.map(lambda seed: check(judge, seed), batch)):
                if result is None:
                    continue
                judged += 1
                failed += bool(result[1])
                for sentence in result[1]:
                    print(sentence, flush=True)
                for deep, judgement in result[0].items():
                    if judgement is None:
                        total[deep, "hung"] += 1
                        continue
                    total.update({(deep, "races"): len(judgement.races), (deep, "found"): len(judgement.found), (deep, "cycles"): len(judgement.cycles),
                                  (deep, "found cycles"): len(judgement.found_cycles), (deep, "false"): len(judgement.false)})
    print(f"{judged} programs of {seeds} seeds, in {time.monotonic() - begin:.0f} s; features: {', '.join(sorted(options.features))}")
    for deep in ([False, True] if options.deep else [False]):
        print(f"{'with --deep: ' if deep else ''}{share(total[deep, 'found'], total[deep, 'races'])} races found, "
              f"{share(total[deep, 'found cycles'], total[deep, 'cycles'])} deadlocks; {total[deep, 'false']} false; {total[deep, 'hung']} runs hung, as they may")
    print(f"{judged - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
