#!/usr/bin/env python3
"""The explorer of models, which the campaign takes for the truth: small models whose truth everybody can see, and states merged against states kept apart.

    explore_test.py [--seeds N]
"""
import argparse
import sys

import explore
import generate
import model
from model import Object, Statement

X, Y, A, C, S, BOX = Object("g", 0), Object("g", 1), Object("a", 0), Object("c", 0), Object("s", 0), Object("box", 0)
M, N, W, R = Object("m", 0), Object("m", 1), Object("w", 0), Object("r", 0)


def do(kind, *args, body=(), other=()):
    return Statement(kind, args, tuple(body), tuple(other))


def write(variable=X):
    return do("write", variable, 1)


def read(variable=X):
    return do("read", 0, variable)


def lock(which, *body, shared=False):
    return do("lock", which, shared, False, body=body)


def attempt(which, *body, timed=False):
    return do("try", which, False, timed, body=body)


def when_loaded(order, *body):
    return do("if", ("atomic", A, 1, order), A, body=body)


def program(*threads, joined=True, semaphores=(), barriers=()):
    main = [do("fork", i + 1) for i in range(len(threads))] + [do("join" if joined else "detach", i + 1) for i in range(len(threads))]
    return model.Program((tuple(main), *map(tuple, threads)), semaphores, barriers)


def message(store, load):
    return program([write(), do("store", A, 1, store)], [when_loaded(load, read())])


# What it is: the model, races, deadlocks by locks, whether it may hang.
CASES = [
    ("two writes", program([write()], [write()]), 1, 0, False),
    ("two reads", program([read()], [read()]), 0, 0, False),
    ("a lock", program([lock(M, write())], [lock(M, write())]), 0, 0, False),
    ("two locks", program([lock(M, write())], [lock(N, write())]), 1, 0, False),
    ("a message by release and acquire", message("release", "acquire"), 0, 0, False),
    ("a message by relaxed store", message("relaxed", "acquire"), 1, 0, False),
    ("a message by relaxed load", message("release", "relaxed"), 1, 0, False),
    ("a message by fences", program([write(), do("fence", "release"), do("store", A, 1, "relaxed")],
                                    [when_loaded("relaxed", do("fence", "acquire"), read())]), 0, 0, False),
    ("a message by one fence", program([write(), do("fence", "release"), do("store", A, 1, "relaxed")], [when_loaded("relaxed", read())]), 1, 0, False),
    ("a release sequence", program([write(), do("store", A, 1, "release")], [do("cas", A, 1, 2, "relaxed")],
                                   [do("if", ("atomic", A, 2, "acquire"), A, body=[read()])]), 0, 0, False),
    ("a store that ends it", program([write(), do("store", A, 1, "release"), do("store", A, 2, "relaxed")],
                                     [do("if", ("atomic", A, 2, "acquire"), A, body=[read()])]), 1, 0, False),
    ("opposite order", program([lock(M, lock(N))], [lock(N, lock(M))]), 0, 1, True),
    ("three in a circle", program([lock(M, lock(N))], [lock(N, lock(R))], [lock(R, lock(M))]), 0, 1, True),
    ("opposite order under a third lock", program([lock(R, lock(M, lock(N)))], [lock(R, lock(N, lock(M)))]), 0, 0, False),
    ("a try does not wait", program([lock(M, attempt(N))], [lock(N, lock(M))]), 0, 0, False),
    ("a timed lock does not wait for ever", program([lock(M, attempt(N, timed=True))], [lock(N, lock(M))]), 0, 0, False),
    ("what a try took is held", program([attempt(M, lock(N))], [lock(N, lock(M))]), 0, 1, True),
    ("scoped locks", program([do("both", M, N, body=[write()])], [do("both", N, M, body=[write()])]), 0, 0, False),
    ("a scoped lock inside", program([lock(R, do("both", M, N))], [do("both", N, M, body=[lock(R)])]), 0, 1, True),
    ("a failed try has no lock", program([lock(M, write())], [attempt(M), read()]), 1, 0, False),
    ("a recursive lock", program([lock(R, lock(R, write()), write())], [lock(R, write())]), 0, 0, False),
    ("readers", program([lock(W, read(), shared=True)], [lock(W, read(), shared=True)], [lock(W, write())]), 0, 0, False),
    ("a reader that writes", program([lock(W, write(), shared=True)], [lock(W, write(), shared=True)]), 1, 0, False),
    ("hand over hand", program([do("chain", M, N, body=[write()], other=[write(Y)])], [do("chain", M, N, body=[write()], other=[write(Y)])]), 0, 0, False),
    ("a predicate", program([do("wait", C, M, X, 1, body=[])], [lock(M, write()), do("notify", C, False)]), 0, 0, False),
    ("a flag without the lock", program([do("wait", C, M, X, 1, body=[])], [write(), do("notify", C, False)]), 1, 0, True),
    ("a wait without predicate", program([do("wait once", C, M, False)], [do("notify", C, True)]), 0, 0, True),
    ("a notification orders nothing", program([do("wait once", C, M, True), read()], [write(), do("notify", C, True)]), 1, 0, False),
    ("a semaphore", program([write(), do("post", S)], [do("take semaphore", S), read()], semaphores=(0,)), 0, 0, False),
    ("a semaphore that starts with one", program([write(), do("post", S)], [do("take semaphore", S), read()], semaphores=(1,)), 1, 0, False),
    ("a semaphore that nobody posts", program([do("take semaphore", S)], semaphores=(0,)), 0, 0, True),
    ("a barrier", program([write(), do("barrier", Object("p", 0))], [do("barrier", Object("p", 0)), read()], barriers=(2,)), 0, 0, False),
    ("a barrier for more", program([do("barrier", Object("p", 0))], [do("barrier", Object("p", 0))], barriers=(3,)), 0, 0, True),
    ("after main", program([write()], [write()], joined=False), 1, 0, False),
    ("blocks handed over", program([do("give", BOX, "acq_rel")], [do("take", BOX, "acq_rel")]), 0, 0, False),
    ("blocks handed over without order", program([do("give", BOX, "relaxed")], [do("take", BOX, "relaxed")]), 1, 0, False),
    ("parts of an array", program([do("memset", Object("b", 0), 0, 4)], [do("memset", Object("b", 0), 4, 4)]), 0, 0, False),
    ("overlapping parts", program([do("memset", Object("b", 0), 0, 4)], [do("memcpy", Object("b", 1), 0, Object("b", 0), 2, 4)]), 1, 0, False),
    ("a sleep orders nothing", program([write()], [do("sleep"), read()]), 1, 0, False),
    ("a branch that nobody takes", program([do("if", ("plain", X, 1), X, body=[write(Y)])], [read(Y)]), 0, 0, False),
    ("a value that comes by a race", program([do("if", ("plain", X, 1), X, body=[write(Y)])], [write(), read(Y)]), 2, 0, False),
]


class Patient(explore.Explorer):
    """Keeps every two states apart that differ in anything, and makes no step ahead of the others."""

    def _is_alone(self, step):
        return False

    def _key(self, state):
        return tuple(tuple(part) if isinstance(part, list) else frozenset(part.items()) if isinstance(part, dict) else part
                     for part in (getattr(state, name) for name in explore.State.__slots__))


def test_cases():
    for name, case, races, cycles, stuck in CASES:
        truth = explore.Explorer(case).explore()
        seen = (len(truth.races), len(truth.cycles), bool(truth.stuck))
        if not truth.complete or seen != (races, cycles, stuck):
            yield f"{name}: {seen} races, deadlocks, may hang; expected {(races, cycles, stuck)}"


def test_merging(seeds):
    compared = 0
    for seed in range(seeds):
        small = generate.generate(seed)
        slow = Patient(small, max_states=4000).explore()
        if slow.complete:
            compared += 1
            fast = explore.Explorer(small).explore()
            if fast[:3] != slow[:3]:
                yield f"seed {seed}: {fast[:3]} with states merged, {slow[:3]} without"
    if compared < seeds // 10:
        yield f"only {compared} of {seeds} models were small enough"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=40, help="models with merged states compared with states kept apart")
    options = parser.parse_args()
    wrong = [*test_cases(), *test_merging(options.seeds)]
    print("\n".join(wrong) or f"{len(CASES)} cases and {options.seeds} seeds passed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
