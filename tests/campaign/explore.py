"""All interleavings of a model program, and so the truth about it.

A race is a pair of lines with two conflicting accesses that happens-before of C++ leaves unordered in some interleaving (docs/semantics.md): two that can be next at the same time
are among them. Sequentially consistent interleavings suffice, because controlled runs and witnesses are such; clocks along each of them give atomics of weaker orders the races that
they have in C++. A notification and the end of a sleep order nothing; nobody wakes without a reason; a try or timed lock fails only when the lock is taken, and
never waits for ever; threads go on when main has ended.

States that differ only in clocks that no later access can tell apart are one (`_key`), and a step that no step of another thread can disturb, now or later, is made at once
(`_is_alone`): both keep the number of states small, and change nothing of the result.
"""
import bisect
import collections
import time

import model

Truth = collections.namedtuple("Truth", "races cycles stuck states complete")
# races: {(line, line)}; cycles: {frozenset of the lines at which threads wait in a circle}; stuck: {frozenset of all lines at which threads wait when nobody
# can go on}; complete: whether these are all interleavings.

NOT_STARTED, RUNNING, ENDED = range(3)
FREE = (None, 0, ())  # a lock: owner, how often it has it, readers


def _join(a, b):
    return a if b is None else tuple(map(max, a, b))


class State:
    """Mutable; copied for each successor."""

    __slots__ = ("pc", "status", "registers", "memory", "locks", "sleepers", "tokens", "rounds", "clocks", "marks", "records", "fences")

    def copy(self):
        other = State.__new__(State)
        other.pc = self.pc[:]
        other.status = self.status[:]
        other.registers = self.registers[:]
        other.memory = dict(self.memory)
        other.locks = dict(self.locks)
        other.sleepers = self.sleepers
        other.tokens = dict(self.tokens)
        other.rounds = dict(self.rounds)
        other.clocks = self.clocks[:]
        other.marks = dict(self.marks)  # clocks left behind at locks, atomics and ended threads
        other.records = dict(self.records)  # (place, thread, line, writes, atomic) -> time of its thread
        other.fences = dict(self.fences)
        return other


class Explorer:
    def __init__(self, program, max_states=50_000, seconds=5.0):
        self.program = program
        self.code = [model.compile_thread(block, thread) for thread, block in enumerate(program.threads)]
        self.threads = range(len(self.code))
        self.max_states, self.seconds = max_states, seconds
        self.races, self.cycles, self.stuck = set(), set(), set()
        self.users, self.writers, self.tried = {}, {}, set()
        for thread, steps in enumerate(self.code):
            for step in steps:
                self._note(thread, step)

    def _note(self, thread, step):
        """Who uses what: the first argument of a step is the object, or the places."""
        for place in step.args[0] if step.op == "touch" else step.args[:1]:
            self.users.setdefault(place, set()).add(thread)
            if step.op not in ("read", "load") and not (step.op == "touch" and not step.args[1]):
                self.writers.setdefault(place, set()).add(thread)
        if step.op in ("try", "timed"):
            self.tried.add(step.args[0])
        if step.op == "sleep on":
            self.users.setdefault(step.args[1], set()).add(thread)

    def start(self):
        state = State.__new__(State)
        count = len(self.code)
        state.pc = [0] * count
        state.status = [RUNNING] + [NOT_STARTED] * (count - 1)
        state.registers = [(0,) * (model.REGISTERS + 1)] * count
        state.memory, state.locks, state.marks, state.records, state.fences = {}, {}, {}, {}, {}
        state.sleepers = ()  # (condition, thread, woken)
        zero = (0,) * count
        state.tokens = {i: (zero,) * value for i, value in enumerate(self.program.semaphores)}
        state.rounds = {}  # barrier -> (those who have arrived, their clocks joined); (barrier, thread) -> clock to leave with
        state.clocks = [tuple(int(i == thread) for i in range(count)) for thread in range(count)]
        return state

    def explore(self):
        end = time.thread_time() + self.seconds
        first = self.start()
        self._settle(first)
        seen, work, complete = {self._key(first)}, [first], True
        while work:
            if len(seen) > self.max_states or (len(seen) % 64 == 0 and time.thread_time() > end):
                complete = False
                break
            state = work.pop()
            enabled = []
            for thread in self.threads:
                if state.status[thread] == RUNNING:
                    enabled += [(thread, choice) for choice in self.choices(state, thread)]
            self._look_for_deadlocks(state, {thread for thread, _ in enabled})
            for thread, choice in enabled:
                after = state.copy()
                self.step(after, thread, choice)
                self._settle(after)
                key = self._key(after)
                if key not in seen:
                    seen.add(key)
                    work.append(after)
        return Truth(self.races, self.cycles, self.stuck, len(seen), complete)

    # What can happen next.

    def _is_alone(self, step):
        """Whether the step, when it can be made, commutes with all that other threads can do before it."""
        if step.op in ("fork", "join", "leave", "fence", "new", "block", "free"):
            return True  # blocks belong to whoever has them
        if step.op == "unlock" and step.args[0] not in self.tried:
            return True  # who wants the lock waits for this
        if step.op in ("read", "write", "load", "store", "add", "cas", "lock", "unlock", "try", "timed"):
            places = step.args[:1]
        elif step.op == "touch":
            places = step.args[0]
        else:
            return False
        return all(len(self.users[place]) == 1 or place not in self.writers for place in places)

    def _settle(self, state):
        """Goes on with what nobody else can see or disturb, and with the ends of threads."""
        went_on = True
        while went_on:
            went_on = any([self._settle_thread(state, thread) for thread in self.threads])

    def _settle_thread(self, state, thread):
        """Whether it went on."""
        begin = (state.pc[thread], state.status[thread])
        while state.status[thread] == RUNNING:
            if state.pc[thread] >= len(self.code[thread]):
                state.status[thread] = ENDED
                state.registers[thread] = ()
                state.marks["end", thread] = state.clocks[thread]
                break
            step = self.code[thread][state.pc[thread]]
            if step.op == "jump":
                state.pc[thread] = step.args[0]
            elif step.op == "unless":
                register, value, target = step.args
                state.pc[thread] = target if state.registers[thread][register] != value else state.pc[thread] + 1
            elif step.op == "nothing":
                state.pc[thread] += 1
            elif step.op == "null":
                self._set(state, thread, step.args[0], 0)
                state.pc[thread] += 1
            elif step.op in ("block", "free") and not state.registers[thread][step.args[0]]:
                state.pc[thread] += 1
            elif self._is_alone(step) and self.choices(state, thread):
                self.step(state, thread, self.choices(state, thread)[0])
            else:
                break
        return (state.pc[thread], state.status[thread]) != begin

    def choices(self, state, thread):
        """The ways in which the next step of a thread can go: none when it has to wait."""
        step = self.code[thread][state.pc[thread]]
        op, args = step.op, step.args
        if op == "lock":
            return [True] if self._is_free(state, thread, args[0], args[1]) else []
        if op in ("try", "timed"):
            free = self._is_free(state, thread, args[0], args[1])
            return [True] if free else [False]  # a timed one that waits until the lock is free is the same as one that comes later
        if op == "woken":
            mine = next(item for item in state.sleepers if item[1] == thread)
            return [True] if mine[2] else [False] if args[1] else []
        if op == "notify":
            waiting = [item[1] for item in state.sleepers if item[0] == args[0] and not item[2]]
            if args[1] or not waiting:
                return [tuple(waiting)]
            return [(one,) for one in waiting]
        if op == "take":
            return [True] if state.tokens[args[0].index] else []
        if op == "leave":
            return [True] if (args[0].index, thread) in state.rounds else []
        if op == "join":
            return [True] if state.status[args[0]] == ENDED else []
        return [True]

    def _is_free(self, state, thread, lock, shared):
        owner, _, readers = state.locks.get(lock, FREE)
        if lock.kind == "r" and owner == thread:
            return True
        if shared:
            return owner is None
        return owner is None and not readers

    def _look_for_deadlocks(self, state, can_go_on):
        waiting = {}
        for thread in self.threads:
            if state.status[thread] == RUNNING and thread not in can_go_on:
                step = self.code[thread][state.pc[thread]]
                holders = ()
                if step.op == "lock":
                    owner, _, readers = state.locks.get(step.args[0], FREE)
                    holders = ((owner,) if owner is not None else ()) + (() if step.args[1] else readers)
                waiting[thread] = (step.line, holders)
        if not waiting:
            return
        if len(waiting) > 1:
            for thread in waiting:
                self._follow(waiting, thread, [thread])
        if not can_go_on and state.status[0] == RUNNING:
            self.stuck.add(frozenset(line for line, _ in waiting.values()))

    def _follow(self, waiting, first, path):
        for holder in waiting[path[-1]][1]:
            if holder == first and len(path) > 1:
                self.cycles.add(frozenset(waiting[thread][0] for thread in path))
            elif holder in waiting and holder not in path:
                self._follow(waiting, first, [*path, holder])

    # What a step does.

    def step(self, state, thread, choice):
        step = self.code[thread][state.pc[thread]]
        state.pc[thread] += 1
        getattr(self, "_do_" + step.op.replace(" ", "_"))(state, thread, step, choice)

    @staticmethod
    def _set(state, thread, register, value):
        registers = list(state.registers[thread])
        registers[register] = value
        state.registers[thread] = tuple(registers)

    @staticmethod
    def _acquire(state, thread, clock):
        state.clocks[thread] = _join(state.clocks[thread], clock)

    @staticmethod
    def _release(state, thread):
        """The clock to leave behind; what comes later has a later time."""
        clock = state.clocks[thread]
        state.clocks[thread] = clock[:thread] + (clock[thread] + 1,) + clock[thread + 1:]
        return clock

    def _access(self, state, thread, step, place, writes, atomic=False):
        clock = state.clocks[thread]
        for (other_place, other, line, other_writes, other_atomic), when in state.records.items():
            if other_place == place and other != thread and (writes or other_writes) and not (atomic and other_atomic) and when > clock[other]:
                self.races.add(tuple(sorted((line, step.line), key=str)))
        state.records[place, thread, step.line, writes, atomic] = clock[thread]

    def _do_read(self, state, thread, step, _):
        variable, register = step.args
        self._access(state, thread, step, variable, False)
        self._set(state, thread, register, state.memory.get(variable, 0))

    def _do_write(self, state, thread, step, _):
        variable, register, plus = step.args
        self._access(state, thread, step, variable, True)
        state.memory[variable] = ((state.registers[thread][register] if register is not None else 0) + plus) % model.VALUES

    def _do_touch(self, state, thread, step, _):
        places, writes = step.args
        for place in places:
            self._access(state, thread, step, place, writes)

    def _do_new(self, state, thread, step, _):
        block = ("block", thread, state.pc[thread], state.memory.get(("blocks", thread), 0))
        state.memory["blocks", thread] = block[3] + 1
        self._set(state, thread, step.args[0], block)
        self._access(state, thread, step, block, True)

    def _do_block(self, state, thread, step, _):
        register, writes = step.args
        self._access(state, thread, step, state.registers[thread][register], writes)

    def _do_free(self, state, thread, step, _):
        self._access(state, thread, step, state.registers[thread][step.args[0]], True)
        self._set(state, thread, step.args[0], 0)

    # Atomics, by the rules of C++20: a store ends the release sequence of its predecessor, a read-modify-write continues it.

    def _loads(self, state, thread, variable, order):
        clock = state.marks.get(variable)
        if clock is None:
            return
        if order in model.ACQUIRES:
            self._acquire(state, thread, clock)
        else:
            state.fences["acquire", thread] = _join(clock, state.fences.get(("acquire", thread)))

    def _stores(self, state, thread, variable, order, continues):
        if order in model.RELEASES:
            clock = self._release(state, thread)
        else:
            clock = state.fences.get(("release", thread))
        if continues and state.marks.get(variable) is not None:
            clock = _join(state.marks[variable], clock)
        state.marks[variable] = clock

    def _do_load(self, state, thread, step, _):
        variable, register, order = step.args
        self._access(state, thread, step, variable, False, True)
        self._set(state, thread, register, state.memory.get(variable, 0))
        self._loads(state, thread, variable, order)

    def _do_store(self, state, thread, step, _):
        variable, value, order = step.args
        self._access(state, thread, step, variable, True, True)
        state.memory[variable] = value
        self._stores(state, thread, variable, order, False)

    def _do_add(self, state, thread, step, _):
        variable, register, order = step.args
        self._access(state, thread, step, variable, True, True)
        self._set(state, thread, register, state.memory.get(variable, 0))
        state.memory[variable] = state.memory.get(variable, 0) + 1
        self._loads(state, thread, variable, order)
        self._stores(state, thread, variable, order, True)

    def _do_cas(self, state, thread, step, _):
        variable, expected, desired, order = step.args
        hit = state.memory.get(variable, 0) == expected
        self._access(state, thread, step, variable, hit, True)
        self._loads(state, thread, variable, order)
        if hit:
            state.memory[variable] = desired
            self._stores(state, thread, variable, order, True)

    def _do_swap(self, state, thread, step, _):
        box, register, order = step.args
        old = state.memory.get(box, 0)
        state.memory[box] = state.registers[thread][register]
        self._set(state, thread, register, old)
        self._loads(state, thread, box, order)
        self._stores(state, thread, box, order, True)

    def _do_fence(self, state, thread, step, _):
        order = step.args[0]
        if order in model.ACQUIRES:
            self._acquire(state, thread, state.fences.get(("acquire", thread)))
        if order in model.RELEASES:
            state.fences["release", thread] = self._release(state, thread)

    # Locks. Exclusive sections leave their clock for all, shared ones for exclusive ones.

    def _take_lock(self, state, thread, lock, shared):
        owner, depth, readers = state.locks.get(lock, FREE)
        if owner == thread:
            state.locks[lock] = (owner, depth + 1, readers)
            return
        state.locks[lock] = (owner, 0, tuple(sorted((*readers, thread)))) if shared else (thread, 1, ())
        self._acquire(state, thread, state.marks.get(lock))
        if not shared:
            self._acquire(state, thread, state.marks.get((lock, "readers")))

    def _do_lock(self, state, thread, step, _):
        self._take_lock(state, thread, step.args[0], step.args[1])

    def _do_try(self, state, thread, step, free):
        lock, shared, register = step.args
        if free:
            self._take_lock(state, thread, lock, shared)
        self._set(state, thread, register, int(free))

    _do_timed = _do_try

    def _do_unlock(self, state, thread, step, _):
        self._give_lock(state, thread, step.args[0])

    def _give_lock(self, state, thread, lock):
        owner, depth, readers = state.locks[lock]
        if owner == thread and depth > 1:
            state.locks[lock] = (owner, depth - 1, readers)
            return
        clock = self._release(state, thread)
        if owner == thread:
            state.locks[lock] = FREE
            state.marks[lock] = clock
        else:
            state.locks[lock] = (owner, 0, tuple(reader for reader in readers if reader != thread))
            state.marks[lock, "readers"] = _join(clock, state.marks.get((lock, "readers")))

    # Condition variables order nothing: the lock does.

    def _do_sleep_on(self, state, thread, step, _):
        condition, lock = step.args
        self._give_lock(state, thread, lock)
        state.sleepers = tuple(sorted((*state.sleepers, (condition, thread, False))))

    def _do_notify(self, state, thread, step, chosen):
        state.sleepers = tuple((condition, sleeper, woken or (condition == step.args[0] and sleeper in chosen)) for condition, sleeper, woken in state.sleepers)

    def _do_woken(self, state, thread, step, _):
        state.sleepers = tuple(item for item in state.sleepers if item[1] != thread)

    # Semaphores: a wait takes the oldest post; those of the beginning are the oldest.

    def _do_post(self, state, thread, step, _):
        state.tokens[step.args[0].index] += (self._release(state, thread),)

    def _do_take(self, state, thread, step, _):
        first, *rest = state.tokens[step.args[0].index]
        state.tokens[step.args[0].index] = tuple(rest)
        self._acquire(state, thread, first)

    def _do_try_take(self, state, thread, step, _):
        semaphore, register = step.args
        there = bool(state.tokens[semaphore.index])
        if there:
            self._do_take(state, thread, step, None)
        self._set(state, thread, register, int(there))

    def _do_arrive(self, state, thread, step, _):
        barrier = step.args[0].index
        arrived, clock = state.rounds.get(barrier, ((), None))
        arrived, clock = tuple(sorted((*arrived, thread))), _join(self._release(state, thread), clock)
        if len(arrived) == self.program.barriers[barrier]:
            for member in arrived:
                state.rounds[barrier, member] = clock
            state.rounds.pop(barrier, None)
        else:
            state.rounds[barrier] = (arrived, clock)

    def _do_leave(self, state, thread, step, _):
        self._acquire(state, thread, state.rounds.pop((step.args[0].index, thread)))

    def _do_fork(self, state, thread, step, _):
        child = step.args[0]
        state.status[child] = RUNNING
        state.clocks[child] = _join(state.clocks[child], self._release(state, thread))

    def _do_join(self, state, thread, step, _):
        self._acquire(state, thread, state.marks["end", step.args[0]])

    # When two states are the same.

    def _key(self, state):
        """Forgets accesses that nobody can race with any more, and replaces times by their rank among those of the accesses that are left."""
        live = [thread for thread in self.threads if state.status[thread] == RUNNING]
        times = [set() for _ in self.threads]
        kept = {}
        for record, when in state.records.items():
            if any(other != record[1] and when > state.clocks[other][record[1]] for other in live):
                kept[record] = when
                times[record[1]].add(when)
        state.records = kept
        ranks = [sorted(of_thread) for of_thread in times]
        rank = lambda clock: tuple(map(bisect.bisect_right, ranks, clock)) if clock is not None else None  # noqa: E731
        clocks = []
        for thread in live:
            ranked = rank(state.clocks[thread])
            clocks.append((ranked, bool(ranks[thread]) and ranks[thread][-1] == state.clocks[thread][thread]))
        return (tuple(state.pc), tuple(state.status), tuple(state.registers), frozenset(state.memory.items()),
                frozenset(item for item in state.locks.items() if item[1] != FREE), state.sleepers,
                tuple(tuple(map(rank, tokens)) for tokens in state.tokens.values()),
                frozenset((key, rank(value) if isinstance(key, tuple) else (value[0], rank(value[1]))) for key, value in state.rounds.items()),
                tuple(clocks), frozenset((key, rank(clock)) for key, clock in state.marks.items()),
                frozenset((record, bisect.bisect_right(ranks[record[1]], when)) for record, when in kept.items()),
                frozenset((key, rank(clock)) for key, clock in state.fences.items()))
