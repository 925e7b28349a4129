"""Programs as data: threads of statements, and the small steps that a statement is made of.

A statement has a kind (COMPILERS below has all of them) and arguments; those with a body have statements inside. Each statement stands on lines of
its own in the rendered program, so a finding is a pair of statements. `compile_thread` makes the code of a thread, a list of steps that the explorer (explore.py)
executes one at a time; every access to something shared is a step of its own.

Shared objects, each with an index:
    g  plain int            b  plain bytes (blocks of two)     a  atomic int            box  atomic pointer to a block of its owner
    m  mutex                r  recursive mutex                 t  timed mutex           w  reader-writer lock
    c  condition variable   s  semaphore                       p  barrier
"""
import dataclasses

ORDERS = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")
RELEASES = {"release", "acq_rel", "seq_cst"}
ACQUIRES = {"acquire", "acq_rel", "seq_cst"}
REGISTERS = 2  # locals of a thread; one more holds what a step hands to the next
SCRATCH = REGISTERS
VALUES = 4  # ints are counted modulo this, so that there are few states


@dataclasses.dataclass(frozen=True)
class Statement:
    """One statement; `body` is what it encloses, `other` the branch that is not taken."""

    kind: str
    args: tuple = ()
    body: tuple = ()
    other: tuple = ()

    def with_(self, **changes):
        return dataclasses.replace(self, **changes)


@dataclasses.dataclass(frozen=True)
class Program:
    """threads[0] is main, which starts the others by `fork`."""

    threads: tuple
    semaphores: tuple = ()  # initial values
    barriers: tuple = ()  # how many they wait for
    dialect: str = "c"  # c, c++

    def statements(self):
        def walk(block):
            for statement in block:
                yield statement
                yield from walk(statement.body)
                yield from walk(statement.other)
        for thread in self.threads:
            yield from walk(thread)

    def objects(self):
        """The indices in use, per letter."""
        used = {}
        for statement in self.statements():
            for argument in statement.args:
                if isinstance(argument, Object):
                    used.setdefault(argument.kind, set()).add(argument.index)
        return {kind: sorted(indices) for kind, indices in used.items()}


@dataclasses.dataclass(frozen=True, order=True)
class Object:
    kind: str
    index: int

    def __str__(self):
        return f"{self.kind}{self.index}"


@dataclasses.dataclass
class Step:
    """`op` on `args` at the line `line` of the statement (a path and which of its lines)."""

    op: str
    args: tuple
    line: tuple


class Code:
    """Steps of one thread while they are collected."""

    def __init__(self):
        self.steps = []

    def add(self, op, *args, line):
        self.steps.append(Step(op, args, line))
        return len(self.steps) - 1

    def patch(self, index):
        """The jump at `index` goes here."""
        step = self.steps[index]
        step.args = (*step.args, len(self.steps))


def _block(code, statements, path):
    for i, statement in enumerate(statements):
        COMPILERS[statement.kind](code, statement, (*path, i))


def compile_thread(statements, thread):
    code = Code()
    _block(code, statements, (thread,))
    return code.steps


# How each kind becomes steps. A line is (path, n): the n-th line of the statement with that path; its last one is (path, -1).


def _read(code, s, path):
    register, variable = s.args
    code.add("read", variable, register, line=(path, 0))


def _write(code, s, path):
    variable, value = s.args
    code.add("write", variable, None, value, line=(path, 0))


def _write_register(code, s, path):
    variable, register = s.args
    code.add("write", variable, register, 0, line=(path, 0))


def _copy(code, s, path):
    target, source, plus = s.args
    code.add("read", source, SCRATCH, line=(path, 0))
    code.add("write", target, SCRATCH, plus, line=(path, 0))


def _byte_blocks(buffer, offset, length):
    return tuple((str(buffer), at // 2) for at in range(offset, offset + length, 2))


def _memset(code, s, path):
    buffer, offset, length = s.args
    code.add("touch", _byte_blocks(buffer, offset, length), True, line=(path, 0))


def _memcpy(code, s, path):
    target, at, source, source_at, length = s.args
    code.add("touch", _byte_blocks(source, source_at, length), False, line=(path, 0))
    code.add("touch", _byte_blocks(target, at, length), True, line=(path, 0))


def _byte(code, s, path):
    buffer, offset, writes = s.args
    code.add("touch", _byte_blocks(buffer, offset, 2), writes, line=(path, 0))


def _nothing(code, s, path):
    code.add("nothing", line=(path, 0))


def _give(code, s, path):
    box, order = s.args
    code.add("new", SCRATCH, line=(path, 0))
    code.add("swap", box, SCRATCH, order, line=(path, 0))
    code.add("free", SCRATCH, line=(path, 0))


def _take(code, s, path):
    box, order = s.args
    code.add("null", SCRATCH, line=(path, 0))
    code.add("swap", box, SCRATCH, order, line=(path, 0))
    code.add("block", SCRATCH, False, line=(path, 0))
    code.add("block", SCRATCH, True, line=(path, 0))
    code.add("free", SCRATCH, line=(path, 0))


def _load(code, s, path):
    register, variable, order = s.args
    code.add("load", variable, register, order, line=(path, 0))


def _store(code, s, path):
    variable, value, order = s.args
    code.add("store", variable, value, order, line=(path, 0))


def _add(code, s, path):
    register, variable, order = s.args
    code.add("add", variable, register, order, line=(path, 0))


def _cas(code, s, path):
    variable, expected, desired, order = s.args
    code.add("cas", variable, expected, desired, order, line=(path, 0))


def _fence(code, s, path):
    code.add("fence", s.args[0], line=(path, 0))


def _condition(code, condition, line):
    """The jump that is taken when the condition does not hold, to be patched."""
    what, *rest = condition
    if what == "register":
        register, value = rest
    elif what == "plain":
        variable, value = rest
        register = SCRATCH
        code.add("read", variable, register, line=line)
    else:
        variable, value, order = rest
        register = SCRATCH
        code.add("load", variable, register, order, line=line)
    return code.add("unless", register, value, line=line)


def _if(code, s, path):
    jump = _condition(code, s.args[0], (path, 0))
    _block(code, s.body, (*path, "body"))
    if s.other:
        end = code.add("jump", line=(path, -1))
        code.patch(jump)
        _block(code, s.other, (*path, "other"))
        code.patch(end)
    else:
        code.patch(jump)


def _loop(code, s, path):
    for _ in range(s.args[0]):
        _block(code, s.body, (*path, "body"))


def _spin(code, s, path):
    variable, value, order, tries = s.args
    for _ in range(tries):
        code.add("load", variable, SCRATCH, order, line=(path, 0))
        over = code.add("unless", SCRATCH, value, line=(path, 0))
        code.add("jump", line=(path, 0))
        code.patch(over)
    ends = [i for i, step in enumerate(code.steps) if step.op == "jump" and step.line == (path, 0) and not step.args]
    for end in ends:
        code.patch(end)


def _lock(code, s, path):
    lock, shared, _ = s.args
    code.add("lock", lock, shared, line=(path, 0))
    _block(code, s.body, (*path, "body"))
    code.add("unlock", lock, line=(path, -1))


def _try(code, s, path):
    lock, shared, timed = s.args
    code.add("timed" if timed else "try", lock, shared, SCRATCH, line=(path, 0))
    jump = code.add("unless", SCRATCH, 1, line=(path, 0))
    _block(code, s.body, (*path, "body"))
    code.add("unlock", lock, line=(path, -1))
    code.patch(jump)


def _both(code, s, path):
    """std::lock as libstdc++ has it: waits for one, tries the other, and if that is taken begins with it."""
    first, second = s.args
    begin = len(code.steps)
    ends = []
    for one, other in ((first, second), (second, first)):
        code.add("lock", one, False, line=(path, 0))
        code.add("try", other, False, SCRATCH, line=(path, 0))
        failed = code.add("unless", SCRATCH, 1, line=(path, 0))
        ends.append(code.add("jump", line=(path, 0)))
        code.patch(failed)
        code.add("unlock", one, line=(path, 0))
    code.steps.append(Step("jump", (begin,), (path, 0)))
    for end in ends:
        code.patch(end)
    _block(code, s.body, (*path, "body"))
    code.add("unlock", second, line=(path, -1))
    code.add("unlock", first, line=(path, -1))


def _chain(code, s, path):
    """Hand over hand: the second lock is taken before the first is given back."""
    first, second = s.args
    code.add("lock", first, False, line=(path, 0))
    _block(code, s.body, (*path, "body"))
    code.add("lock", second, False, line=(path, 1))
    code.add("unlock", first, line=(path, 2))
    _block(code, s.other, (*path, "other"))
    code.add("unlock", second, line=(path, -1))


def _wait(code, s, path):
    """Lock, wait until the variable has the value, body, unlock."""
    condition, lock, variable, value = s.args
    code.add("lock", lock, False, line=(path, 0))
    begin = len(code.steps)
    code.add("read", variable, SCRATCH, line=(path, 1))
    wrong = code.add("unless", SCRATCH, value, line=(path, 1))
    done = code.add("jump", line=(path, 1))
    code.patch(wrong)
    _sleep_on(code, condition, lock, False, (path, 2))
    code.steps.append(Step("jump", (begin,), (path, 2)))
    code.patch(done)
    _block(code, s.body, (*path, "body"))
    code.add("unlock", lock, line=(path, -1))


def _wait_once(code, s, path):
    """Lock, wait without a predicate, body, unlock."""
    condition, lock, timed = s.args
    code.add("lock", lock, False, line=(path, 0))
    _sleep_on(code, condition, lock, timed, (path, 1))
    _block(code, s.body, (*path, "body"))
    code.add("unlock", lock, line=(path, -1))


def _sleep_on(code, condition, lock, timed, line):
    code.add("sleep on", condition, lock, line=line)  # joins the sleepers and gives the lock back, in one
    code.add("woken", condition, timed, line=line)
    code.add("lock", lock, False, line=line)


def _notify(code, s, path):
    condition, everybody = s.args
    code.add("notify", condition, everybody, line=(path, 0))


def _post(code, s, path):
    code.add("post", s.args[0], line=(path, 0))


def _take_semaphore(code, s, path):
    code.add("take", s.args[0], line=(path, 0))


def _try_semaphore(code, s, path):
    code.add("try take", s.args[0], SCRATCH, line=(path, 0))
    jump = code.add("unless", SCRATCH, 1, line=(path, 0))
    _block(code, s.body, (*path, "body"))
    code.patch(jump)


def _barrier(code, s, path):
    code.add("arrive", s.args[0], line=(path, 0))
    code.add("leave", s.args[0], line=(path, 0))


def _fork(code, s, path):
    code.add("fork", s.args[0], line=(path, 0))


def _join(code, s, path):
    code.add("join", s.args[0], line=(path, 0))


COMPILERS = {
    "read": _read, "write": _write, "write register": _write_register, "copy": _copy, "memset": _memset, "memcpy": _memcpy, "byte": _byte,
    "private": _nothing, "sleep": _nothing, "yield": _nothing, "detach": _nothing, "give": _give, "take": _take,
    "load": _load, "store": _store, "add": _add, "cas": _cas, "fence": _fence, "if": _if, "loop": _loop, "spin": _spin,
    "lock": _lock, "try": _try, "both": _both, "chain": _chain, "wait": _wait, "wait once": _wait_once, "notify": _notify,
    "post": _post, "take semaphore": _take_semaphore, "try semaphore": _try_semaphore, "barrier": _barrier, "fork": _fork, "join": _join,
}
