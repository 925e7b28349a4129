"""A model program from a seed: what people do with threads, in few statements."""
import random

import model
from model import Object, Statement

# What programs may contain. Everything else (plain accesses, branches, loops, mutexes) is always there.
FEATURES = {
    "atomics": "atomics of all orders", "fences": "atomic_thread_fence", "bytes": "memset, memcpy and parts of arrays", "heap": "blocks that are freed, handed over and used again",
    "recursive": "recursive mutexes", "rw": "reader-writer locks", "chain": "locks that overlap without being nested", "try": "try locks", "timed": "timed locks",
    "scoped": "std::scoped_lock of two", "conditions": "condition variables, with and without predicates", "semaphores": "semaphores", "barriers": "barriers",
    "sleep": "sleeps", "detach": "detached threads", "exit": "main ends while threads run", "stuck": "programs that may hang, other than by locks in a circle",
}
ATOMICS, LOCKS, BUFFERS = 2, 3, 2


class Generator:
    def __init__(self, seed, features):
        self.choice = random.Random(seed)
        self.features = features
        self.dialect = "c++" if self.choice.random() < 0.3 or ("scoped" in features and self.choice.random() < 0.3) else "c"
        self.variables = self.choice.choice((1, 2, 2, 3))
        self.semaphores = tuple(self.choice.choice((0, 0, 1, 2)) for _ in range(2))
        self.barriers = []
        # A program has a theme: the more kinds of things meet, the less they meet each other.
        kinds = ["plain", "lock", "lock", "branch"]
        pool = [kind for kind, feature in (("atomic", "atomics"), ("fence", "fences"), ("bytes", "bytes"), ("heap", "heap"), ("recursive", "recursive"), ("rw", "rw"), ("chain", "chain"),
                                           ("try", "try"), ("timed", "timed"), ("scoped", "scoped"), ("condition", "conditions"), ("semaphore", "semaphores"), ("sleep", "sleep"))
                if feature in features and not (kind == "scoped" and self.dialect == "c")]
        locks = [kind for kind in pool if kind in ("recursive", "rw", "chain", "try", "timed", "scoped")]
        self.locks = LOCKS
        if locks and self.choice.random() < 0.3:  # little else than locks in one another, and few of them: deadlocks
            kinds, self.locks = ["plain", "lock", "lock", "lock", *locks], 2
        else:
            kinds += self.choice.sample(pool, min(len(pool), 3)) * 2
        if "atomic" in kinds or "fence" in kinds:
            kinds += ["atomic", "spin"]
        self.kinds = kinds

    def object(self, kind, count):
        return Object(kind, self.choice.randrange(count))

    def variable(self):
        return self.object("g", self.variables)

    def load_order(self):
        return self.choice.choice(("relaxed", "acquire", "acquire", "seq_cst"))

    def store_order(self):
        return self.choice.choice(("relaxed", "release", "release", "seq_cst"))

    def order(self):
        return self.choice.choice(model.ORDERS)

    def register(self):
        return self.choice.randrange(model.REGISTERS)

    def value(self):
        return self.choice.randrange(1, 3)

    def block(self, depth, held, least=1, most=2):
        return tuple(statement for _ in range(self.choice.randint(least, most)) for statement in self.statements(depth, held))

    def statements(self, depth, held):
        """One idea, as one or more statements. `held`: locks that the thread has here."""
        kinds = self.kinds if depth < 2 else [kind for kind in self.kinds if kind in ("plain", "atomic", "bytes", "heap", "sleep")] or ["plain"]
        return getattr(self, "_" + self.choice.choice(kinds))(depth, held)

    def _plain(self, depth, held):
        kind = self.choice.choice(("read", "write", "copy", "copy", "write register"))
        if kind == "read":
            return [Statement("read", (self.register(), self.variable()))]
        if kind == "write":
            return [Statement("write", (self.variable(), self.value()))]
        if kind == "copy":
            target = self.variable()
            return [Statement("copy", (target, self.choice.choice((target, self.variable())), self.choice.randrange(2)))]
        return [Statement("write register", (self.variable(), self.register()))]

    def _branch(self, depth, held):
        if self.choice.random() < 0.3:
            return [Statement("loop", (2,), self.block(depth + 1, held))]
        condition = self.choice.choice((("register", self.register(), self.choice.randrange(2)), ("plain", self.variable(), self.choice.randrange(2)),
                                        ("atomic", self.object("a", ATOMICS), self.choice.randrange(2), self.load_order())))
        if condition[0] == "atomic" and "atomic" not in self.kinds:
            condition = ("plain", self.variable(), 1)
        return [Statement("if", (condition, *(part for part in condition if isinstance(part, Object))), self.block(depth + 1, held),
                          self.block(depth + 1, held, 1, 1) if self.choice.random() < 0.3 else ())]

    def _atomic(self, depth, held):
        variable = self.object("a", ATOMICS)
        return [self.choice.choice((Statement("load", (self.register(), variable, self.load_order())), Statement("store", (variable, self.value(), self.store_order())),
                                    Statement("add", (self.register(), variable, self.order())),
                                    Statement("cas", (variable, self.choice.randrange(2), self.value(), self.order()))))]

    def _fence(self, depth, held):
        return [Statement("fence", (self.choice.choice(("acquire", "release", "acq_rel", "seq_cst")),))]

    def _spin(self, depth, held):
        return [Statement("spin", (self.object("a", ATOMICS), 1, self.load_order(), 2))]

    def _bytes(self, depth, held):
        target, source = self.object("b", BUFFERS), self.object("b", BUFFERS)
        kind = self.choice.choice(("memset", "memcpy", "byte", "byte"))
        if kind == "memset":
            return [Statement("memset", (target, *self.choice.choice(((0, 8), (0, 4), (4, 4), (2, 4)))))]
        if kind == "memcpy" and target != source:
            length = self.choice.choice((2, 4))
            return [Statement("memcpy", (target, self.choice.choice((0, 2, 4)), source, self.choice.choice((0, 2, 4)), length))]
        return [Statement("byte", (target, self.choice.choice((0, 2, 4, 6)), self.choice.random() < 0.6))]

    def _heap(self, depth, held):
        order = self.choice.choice(("acq_rel", "acq_rel", "seq_cst", "relaxed", "acquire", "release"))
        return [self.choice.choice((Statement("private"), Statement("give", (Object("box", 0), order)), Statement("take", (Object("box", 0), order))))]

    def _sleep(self, depth, held):
        return [Statement(self.choice.choice(("sleep", "sleep", "yield")))]

    def free_lock(self, kind, held, count=None):
        """A lock that the thread does not have, or None."""
        locks = [lock for lock in (Object(kind, index) for index in range(count or self.locks)) if lock not in held]
        return self.choice.choice(locks) if locks else None

    def _lock(self, depth, held):
        lock = self.free_lock("m", held)
        if lock is None:
            return self._plain(depth, held)
        return [Statement("lock", (lock, False, self.choice.random() < 0.5), self.block(depth + 1, (*held, lock)))]

    def _recursive(self, depth, held):
        lock = Object("r", self.choice.randrange(2))
        return [Statement("lock", (lock, False, self.choice.random() < 0.5), self.block(depth + 1, (*held, lock)))]

    def _rw(self, depth, held):
        lock = self.free_lock("w", held, 2)
        if lock is None:
            return self._plain(depth, held)
        shared = self.choice.random() < 0.6
        body = self.block(depth + 1, (*held, lock))
        if "try" in self.features and self.choice.random() < 0.2:
            return [Statement("try", (lock, shared, False), body)]
        return [Statement("lock", (lock, shared, self.choice.random() < 0.5), body)]

    def _chain(self, depth, held):
        first = self.free_lock("m", held)
        second = first and self.free_lock("m", (*held, first))
        if not second:
            return self._plain(depth, held)
        return [Statement("chain", (first, second), self.block(depth + 1, (*held, first)), self.block(depth + 1, (*held, second)))]

    def _try(self, depth, held):
        lock = self.free_lock("m", held)
        if lock is None:
            return self._plain(depth, held)
        return [Statement("try", (lock, False, False), self.block(depth + 1, (*held, lock)))]

    def _timed(self, depth, held):
        lock = self.free_lock("t", held, 2)
        if lock is None:
            return self._plain(depth, held)
        body = self.block(depth + 1, (*held, lock))
        return [Statement("try", (lock, False, True), body) if self.choice.random() < 0.6 else Statement("lock", (lock, False, False), body)]

    def _scoped(self, depth, held):
        first = self.free_lock("m", held)
        second = first and self.free_lock("m", (*held, first))
        if not second:
            return self._plain(depth, held)
        return [Statement("both", (first, second), self.block(depth + 1, (*held, first, second)))]

    def _condition(self, depth, held):
        lock, condition, flag = Object("m", 0), Object("c", 0), Object("g", 0)
        if lock in held:
            return [Statement("write", (flag, 1)), Statement("notify", (condition, self.choice.random() < 0.5))]
        draw = self.choice.random()
        if draw < 0.35:
            return [Statement("wait", (condition, lock, flag, 1), self.block(depth + 1, (*held, lock)))]
        if draw < 0.5:
            return [Statement("wait once", (condition, lock, "stuck" not in self.features or self.choice.random() < 0.5), self.block(depth + 1, (*held, lock)))]
        before = self._plain(depth, held) if self.choice.random() < 0.4 else []
        signal = Statement("notify", (condition, self.choice.random() < 0.5))
        if self.choice.random() < 0.3:  # the flag changes without the lock
            return [*before, Statement("write", (flag, 1)), signal]
        section = Statement("lock", (lock, False, self.choice.random() < 0.5), (Statement("write", (flag, 1)),))
        return [*before, section, signal]

    def _semaphore(self, depth, held):
        semaphore = self.object("s", 2)
        draw = self.choice.random()
        if draw < 0.5:
            return [Statement("post", (semaphore,))]
        if draw < 0.85:
            return [Statement("take semaphore", (semaphore,))]
        return [Statement("try semaphore", (semaphore,), self.block(depth + 1, held))]

    def program(self):
        workers = 2 if self.choice.random() < 0.65 else 3
        bodies = [list(self.block(0, (), 1, 4 if workers == 2 else 3)) for _ in range(workers)]
        if "barriers" in self.features and self.choice.random() < 0.15:
            members = self.choice.sample(range(workers), self.choice.randint(2, workers))
            self.barriers.append(len(members) if "stuck" not in self.features or self.choice.random() < 0.8 else 2)
            for member in members:
                bodies[member].insert(self.choice.randint(0, len(bodies[member])), Statement("barrier", (Object("p", 0),)))
        main = list(self.block(1, (), 0, 1))
        for worker in range(1, workers + 1):
            main.append(Statement("fork", (worker,)))
            if self.choice.random() < 0.2:
                main += self._plain(1, ())
        main += list(self.block(1, (), 0, 1))
        for worker in range(1, workers + 1):
            draw = self.choice.random()
            if "detach" in self.features and draw < 0.1:
                main.append(Statement("detach", (worker,)))
            elif "exit" in self.features and draw < 0.2:
                main += [Statement("detach", (worker,))] if self.dialect == "c++" else []
            else:
                main.append(Statement("join", (worker,)))
                if self.choice.random() < 0.2:
                    main += self._plain(1, ())
        return model.Program((tuple(main), *map(tuple, bodies)), self.semaphores, tuple(self.barriers), self.dialect)


def generate(seed, features=frozenset(FEATURES)):
    return Generator(seed, features).program()
