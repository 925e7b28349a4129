#!/usr/bin/env python3
"""Litmus tests: what `sooth explore --memory-model c11` sees of each is exactly what the axioms allow.

    litmus.py --sooth build/bin/sooth --oracle build/tests/weak_oracle [--only MP] [--random N] [--seed S] [--list]

Shapes are those of Alglave, Maranget and Tautschnig (Herding cats, TOPLAS 2014) with every memory order and fence; --random
adds programs that nobody has thought of. `litmus.cc` runs a test, `oracle.cc` enumerates executions.
"""
import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
TIME_LIMIT = 300  # seconds for one exploration on a busy machine

# Accesses of each thread, without orders.
SHAPES = {
    "MP": "Wx1 Wy1 | Ry Rx",
    "SB": "Wx1 Ry | Wy1 Rx",
    "LB": "Rx Wy1 | Ry Wx1",
    "S": "Wx2 Wy1 | Ry Wx1",
    "R": "Wx1 Wy1 | Wy2 Rx",
    "2+2W": "Wx1 Wy2 | Wy1 Wx2",
    "WRC": "Wx1 | Rx Wy1 | Ry Rx",
    "RWC": "Wx1 | Rx Ry | Wy1 Rx",
    "ISA2": "Wx1 Wy1 | Ry Wz1 | Rz Rx",
    "W+RWC": "Wx1 Wy1 | Ry Rz | Wz1 Rx",
    "IRIW": "Wx1 | Wy1 | Rx Ry | Ry Rx",
}
COHERENCE = {
    "CoRR": "Wx1 | Rx Rx",
    "CoRR2": "Wx1 | Wx2 | Rx Rx | Rx Rx",
    "CoWW": "Wx1 Wx2 | Rx Rx",
    "CoRW1": "Rx Wx1 | Rx",
    "CoRW2": "Rx Wx1 | Wx2",
    "CoWR": "Wx1 Rx | Wx2",
}
# Orders of stores and of loads.
ORDERS = {"rlx": ("rlx", "rlx"), "ra": ("rel", "acq"), "sc": ("sc", "sc"), "rel": ("rel", "rlx"), "acq": ("rlx", "acq")}
FENCES = {"far": "F.ar", "fsc": "F.sc"}
OTHERS = {
    "MP+fences": "Wx1.rlx F.rel Wy1.rlx | Ry.rlx F.acq Rx.rlx",
    "MP+rel+facq": "Wx1.rlx Wy1.rel | Ry.rlx F.acq Rx.rlx",
    "MP+frel+acq": "Wx1.rlx F.rel Wy1.rlx | Ry.acq Rx.rlx",
    "MP+frel+rlx": "Wx1.rlx F.rel Wy1.rlx | Ry.rlx Rx.rlx",
    "MP+again": "Wx1.rlx Wy1.rel Wy2.rlx | Ry.acq Rx.rlx",
    "MP+sequence": "Wx1.rlx Wy1.rel | Ay1.rlx | Ry.acq Rx.rlx",
    "MP+sequence2": "Wx1.rlx Wy1.rel | Ay1.rlx | Ay1.rlx | Ry.acq Rx.rlx",
    "MP+exchange": "Wx1.rlx Wy1.rel | Ey5.rlx | Ry.acq Rx.rlx",
    "MP+rmw": "Wx1.rlx Ay1.rel | Ay1.acq Rx.rlx",
    "MP+cas": "Wx1.rlx Wy1.rel | Cy12.acq.rlx Rx.rlx",
    "MP+cas+fails": "Wx1.rlx Wy1.rel | Cy02.rlx.rlx Rx.rlx",
    "SB+rmw": "Ax1.ar Ry.acq | Ay1.ar Rx.acq",
    "SB+rmw+sc": "Ax1.sc Ry.sc | Ay1.sc Rx.sc",
    "SB+fsc+sc": "Wx1.rlx F.sc Ry.rlx | Wy1.sc Rx.sc",
    "SB+fsc+far": "Wx1.rlx F.sc Ry.rlx | Wy1.rlx F.ar Rx.rlx",
    "SB+sc+rlx": "Wx1.sc Ry.rlx | Wy1.sc Rx.sc",
    "SB+one+fence": "Wx1.rlx F.sc Ry.rlx | Wy1.rlx Rx.rlx",
    "Z6.U": "Wx1.sc Wy1.rel | Ay1.sc Ry.rlx | Wy3.sc Rx.sc",
    "IRIW+sc+acq": "Wx1.sc | Wy1.sc | Rx.acq Ry.sc | Ry.acq Rx.sc",
    "RMW": "Ax1.rlx | Ax1.rlx | Ax1.rlx",
    "RMW+store": "Ax1.rlx | Wx5.rlx | Rx.rlx",
    "CAS": "Cx01.ar.acq | Cx02.ar.acq",
    "CAS+chain": "Cx01.rlx.rlx | Cx12.rlx.rlx | Rx.rlx Rx.rlx",
    "S+rmw": "Wx2.rlx Wy1.rel | Ry.acq Ax1.rlx",
    "S+sc+rlx": "Wx2.sc Wy1.rlx | Ry.rlx Wx1.sc",
    "2+2W+one+sc": "Wx1.sc Wy2.sc | Wy1.rel Wx2.rel",
    "R+fsc+sc": "Wx1.rlx F.sc Wy1.rlx | Wy2.sc Rx.sc",
}


def with_orders(shape, stores, loads, fence=None):
    threads = []
    for thread in shape.split("|"):
        words = [word + "." + (stores if word[0] == "W" else loads) for word in thread.split()]
        threads.append((f" {fence} " if fence else " ").join(words))
    return " | ".join(threads)


def table():
    tests = {}
    for name, shape in SHAPES.items():
        for mix, (stores, loads) in ORDERS.items():
            tests[f"{name}+{mix}"] = with_orders(shape, stores, loads)
        for mix, fence in FENCES.items():
            tests[f"{name}+{mix}"] = with_orders(shape, "rlx", "rlx", fence)
    for name, shape in COHERENCE.items():
        for mix in ("rlx", "ra", "sc"):
            tests[f"{name}+{mix}"] = with_orders(shape, *ORDERS[mix])
    return {**tests, **OTHERS}


def random_test(draw):
    threads = draw.choice((2, 2, 3))
    text = []
    for thread in range(1, threads + 1):
        words = []
        for _ in range(draw.randint(1, 3 if threads == 2 else 2)):
            where, value = draw.choice("xy"), str(thread)
            order = draw.choice(("rlx", "acq", "rel", "ar", "sc"))
            failure = draw.choice({"acq": ("rlx", "acq"), "ar": ("rlx", "acq"), "sc": ("rlx", "acq", "sc")}.get(order, ("rlx",)))
            words.append(draw.choice([
                f"W{where}{value}." + draw.choice(("rlx", "rel", "sc")), f"W{where}{value}." + draw.choice(("rlx", "rel", "sc")),
                f"R{where}." + draw.choice(("rlx", "acq", "sc")), f"R{where}." + draw.choice(("rlx", "acq", "sc")),
                f"A{where}{value}.{order}", f"C{where}0{value}.{order}.{failure}", "F." + draw.choice(("acq", "rel", "ar", "sc")),
            ]))
        text.append(" ".join(words))
    return " | ".join(text)


def explored(sooth, program, test, folder):
    """The outcomes that exploration sees, and the number of runs."""
    command = [sooth, "explore", "--memory-model", "c11", "--runs", "100000", "--schedules", folder, "--", program, test]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    if done.returncode != 0 or "\ncomplete:" not in done.stdout:
        raise RuntimeError(f"status {done.returncode}:\n{done.stdout}{done.stderr}")
    outcomes = re.findall(r'^outcome: exit status 0, output "(.*)\\n", in', done.stdout, re.MULTILINE)
    return set(outcomes), int(done.stdout.split()[0].replace(",", ""))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sooth", required=True)
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--only", help="tests whose names begin so")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    tests = {name: test for name, test in table().items() if name.startswith(options.only or "")}
    draw = random.Random(options.seed)
    tests.update({f"random {i}": random_test(draw) for i in range(options.random)})
    allowed = subprocess.run([options.oracle], input="\n".join(tests.values()) + "\n", capture_output=True, text=True, check=True)
    failed, runs = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/litmus"
        subprocess.run([options.sooth, "c++", "-O1", "-g", "-Wno-tsan", "-Wno-invalid-memory-model", "-o", program, str(FOLDER / "litmus.cc")],
                       check=True, timeout=TIME_LIMIT, capture_output=True)
        for (name, test), line in zip(tests.items(), allowed.stdout.splitlines()):
            wanted = set(line.split(";"))
            try:
                seen, made = explored(options.sooth, program, test, folder)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"{name}: {test}: {error}")
                failed += 1
                continue
            runs += made
            if options.list:
                print(f"{name:16} {len(seen):3} outcomes {made:5} runs  {test}")
            if seen != wanted:
                failed += 1
                print(f"{name}: {test}: not seen: {sorted(wanted - seen)}; not allowed: {sorted(seen - wanted)}")
    print(f"{len(tests)} litmus tests in {runs} runs, {failed} of them differ from the axioms")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
