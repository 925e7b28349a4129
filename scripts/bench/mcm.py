#!/usr/bin/env python3
"""How fast maximal causality decides pairs of accesses, and what its stages before the solver save.

    scripts/bench.py mcm [--quick]

Generates traces of 1,000, 5,000 and 10,000 events, each one window, without values and with few and many different values, and
runs `sooth analyze --with mcm` on them: with all stages, and with the solver alone. Times are processor time of the whole command, with
one thread; the time of `--with none` is taken off. Exits with 1 when a goal is missed.
"""
import argparse
import collections
import pathlib
import random
import re
import sys

import measured
import tables

WINDOWS = [1_000, 5_000, 10_000]
SEEDS = [1, 2, 3]
# Share of pairs decided without the solver, in traces without values: at least.
LEAST_SHARE = 0.97
# Times that the solver alone costs, at least.
LEAST_GAIN = 50
SOLVER_TIMEOUT = "20s"
# Few different values make hard questions: here the share that is left over is of interest, not how long one can try.
VALUES_LIMITS = ["--solver-timeout", "500ms", "--mcm-pairs", "10"]
# Alone it does not get through: what it is cut off from makes the factor a lower bound.
ALONE_LIMITS = ["--solver-timeout", "1s", "--mcm-pairs", "1"]

Run = collections.namedtuple("Run", "seconds peak_bytes stats")


def write_trace(path, events, values, seed):
    """Threads that take locks, read what others stored and sometimes forget the lock. `values`: how many different ones; 0: none."""
    rng = random.Random(seed)
    threads, locks, variables = 6, 6, 40
    memory = {}
    lines = [f"T0|fork(T{t})|0" for t in range(1, threads)]
    held = {t: None for t in range(threads)}
    left = {t: 0 for t in range(threads)}
    owner = {}
    while len(lines) < events:
        t = rng.randrange(threads)
        if held[t] is None and rng.random() < 0.9:
            lock = rng.randrange(locks)
            if lock in owner:
                continue
            owner[lock] = t
            held[t], left[t] = lock, rng.randint(1, 6)
            lines.append(f"T{t}|acq(l{lock})|{1000 + lock}")
            continue
        if held[t] is not None and left[t] == 0:
            lines.append(f"T{t}|rel(l{held[t]})|{2000 + held[t]}")
            del owner[held[t]]
            held[t] = None
            continue
        left[t] -= 1
        own = [v for v in range(variables) if held[t] is not None and v % locks == held[t]]
        v = rng.choice(own) if own else rng.randrange(variables)
        site = 10 * (v % 20) + (0 if own else 5)
        if rng.random() < 0.55:
            value = f"|={memory.get(v, 0)}" if values else ""
            lines.append(f"T{t}|r(v{v})|{site}{value}")
        else:
            memory[v] = rng.randrange(values) if values else 0
            lines.append(f"T{t}|w(v{v})|{site + 1}" + (f"|={memory[v]}" if values else ""))
    path.write_text("\n".join(lines) + "\n")


def run(sooth, trace, *flags):
    command = [sooth, "analyze", str(trace), "--stats", "--jobs", "1", "--fail-on", "never", *flags]
    it = measured.run(command, keep_output=True)
    stats = {m[1]: int(m[2]) for m in re.finditer(r"^  mcm (.*\S)\s+(\d+)$", it.output, re.MULTILINE)}
    return Run(it.cpu, it.peak_bytes, stats)


def measure(sooth, traces, *flags):
    """Sums over the traces: pairs asked, those decided by the solver, those not decided, seconds; and the peak memory."""
    pairs = solver = undecided = 0
    seconds = peak = 0
    for trace in traces:
        base = run(sooth, trace, "--with", "none")
        limits = () if "--solver-timeout" in flags else ("--solver-timeout", SOLVER_TIMEOUT)
        it = run(sooth, trace, "--with", "mcm", "--window", "1M", *limits, *flags)
        pairs += it.stats["pairs of accesses asked about"]
        solver += it.stats["... decided by the solver"]
        undecided += it.stats["... not decided"]
        seconds += max(it.seconds - base.seconds, 0.001)
        peak = max(peak, it.peak_bytes)
    return pairs, solver, undecided, seconds, peak


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True)
    parser.add_argument("--scratch", required=True, type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="one trace of each kind; the solver alone on the smallest only")
    options = parser.parse_args()
    options.scratch.mkdir(parents=True, exist_ok=True)
    seeds = SEEDS[:1] if options.quick else SEEDS
    missed = []
    table = tables.Printed(">window", ">values", ">pairs", ">without solver", ">undecided", ">pairs/s", ">solver alone, pairs/s", ">x", ">peak memory")
    for events in WINDOWS:
        for values in [0, 100, 4, 2] if events == WINDOWS[0] else [0, 100]:
            traces = []
            for seed in seeds:
                traces.append(options.scratch / f"mcm-{events}-{values}-{seed}.std")
                write_trace(traces[-1], events, values, seed)
            pairs, solver, undecided, seconds, peak = measure(options.sooth, traces, *(VALUES_LIMITS if values else []))
            share = 1 - (solver + undecided) / max(pairs, 1)
            alone_text = gain_text = ""
            # The solver alone takes minutes for more.
            if values == 0 and (events == WINDOWS[0] or not options.quick):
                sample = traces[:1]
                mine = measure(options.sooth, sample)
                alone = measure(options.sooth, sample, "--mcm-stages", "solver", *ALONE_LIMITS)
                gain = (alone[3] / max(alone[0], 1)) / (mine[3] / max(mine[0], 1))
                alone_text, gain_text = f"{alone[0] / alone[3]:.1f}", f"{gain:.0f}"
                if gain < LEAST_GAIN:
                    missed.append(f"the stages before the solver gain only a factor {gain:.0f} at {events} events; goal {LEAST_GAIN}")
            if values == 0 and share < LEAST_SHARE:
                missed.append(f"{share:.1%} of pairs decided without the solver at {events} events; goal {LEAST_SHARE:.0%}")
            table.row(f"{events:,}", values or "-", pairs, f"{share:.1%}", undecided, f"{pairs / seconds:.0f}", alone_text, gain_text, f"{peak / 1e6:.0f} MB")
            for trace in traces:
                trace.unlink()
    for sentence in missed:
        tables.goal(False, sentence)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
