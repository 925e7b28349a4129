#!/usr/bin/env python3
"""Random programs of two or three threads, small enough for `sooth explore` to run all their schedules.

    generate.py SEED > program.c

They are C, without undefined behaviour but for their races, end under every schedule, and depend on nothing but the schedule; a few divide by
what another thread may make zero. Threads share integers of all widths, an array, a structure, a pointer and an atomic, and do what analyses of
values have to understand: arithmetic with every operator, branches on what was read, loops whose number of turns was read, critical sections,
calls, addresses that were read, and calls of what is not in the program: the library, and in some programs OUTSIDE, which reads and writes
shared variables and is to be compiled beside them.

A program is a tree: a statement is a line, or a `Block` of a head, statements and a tail. campaign.py cuts branches off to make a
program smaller.
"""
import collections
import random
import sys

Block = collections.namedtuple("Block", "head body tail")

HEADER = """\
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""

OUTSIDE = """\
static int *kept;
int outside_get(const int *p) { return *p; }
int outside_set(int *p, int value) { return *p = value; }
int outside_add(int *p, int value) { return *p = (*p + value) % 1000; }
int outside_keep(int *p) { return *(kept = p); }
int outside_kept(void) { return kept ? *kept : 0; }
"""
OUTSIDE_FUNCTIONS = ["int outside_get(const int *);", "int outside_set(int *, int);", "int outside_add(int *, int);", "int outside_keep(int *);", "int outside_kept(void);"]

# Of a shared variable: how it is declared, the operand to read or write it, and how an expression of type int takes its value.
Shared = collections.namedtuple("Shared", "declaration lvalue value")
SCALARS = [
    Shared("int x = {};", "x", "x"),
    Shared("int y = {};", "y", "y"),
    Shared("unsigned u = {};", "u", "(int)(u % 97)"),
    Shared("signed char c = {};", "c", "c"),
    Shared("unsigned char b = {};", "b", "b"),
    Shared("short s = {};", "s", "s"),
    Shared("long long l = {};", "l", "(int)(l % 101)"),
    Shared("_Bool o = {};", "o", "o"),
    Shared("struct {{ int f; unsigned char g : 3, h : 4; }} r = {{{}}};", "r.f", "r.f"),
    Shared(None, "r.g", "r.g"),
    Shared(None, "r.h", "r.h"),
    Shared("int a[2] = {{{}}};", "a[1]", "a[1]"),
    Shared("union {{ unsigned w; unsigned char q[4]; }} n = {{{}}};", "n.w", "(int)(n.w % 89)"),
    Shared(None, "n.q[1]", "n.q[1]"),
    Shared("double d = {};", "d", "(int)d"),
]
COMPARISONS = ["<", ">", "<=", ">=", "==", "!="]


class Generator:
    """Draws one program. `cost` is always how many shared accesses one execution makes at most."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.threads = 3 if self.random.random() < 0.2 else 2
        self.budget = self.random.randint(3, 5) if self.threads == 3 else self.random.randint(5, 9)
        self.locks = self.random.choice([0, 1, 1, 1, 2])
        self.odd = self.random.random() < 0.3  # calls of the library and divisions by anything are rare otherwise
        self.names = 0
        self.locals = []
        self.held = []
        self.functions = []  # (name, cost)
        # Other draws do not depend on it.
        self.outside = random.Random(seed + 0.5)
        self.calls_outside = self.outside.random() < 0.3
        self.has_pointer = self.random.random() < 0.3
        self.has_atomic = self.random.random() < 0.25
        plain = [v for v in SCALARS if v.declaration]
        chosen = self.random.sample(plain, self.random.randint(2, 3))
        if self.has_pointer and not any(v.lvalue in ("x", "y") for v in chosen):
            chosen.append(SCALARS[0])
        parts = {"r.f": ["r.g", "r.h"], "n.w": ["n.q[1]"]}
        self.shared = chosen + [v for v in SCALARS for whole in chosen if v.lvalue in parts.get(whole.lvalue, [])]

    def maybe(self, probability):
        return self.random.random() < probability

    def fresh(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def free_locks(self):
        """Those that can be taken now: always in the same order, so that no schedule deadlocks."""
        return list(range(max(self.held, default=-1) + 1, self.locks))

    def targets(self):
        """What the pointer may point to."""
        return [v.lvalue for v in self.shared if v.lvalue in ("x", "y", "a[1]")]

    # Expressions of type int whose value is far from the ends of its range. They return text and cost.
    def leaf(self, budget):
        roll = self.random.random()
        if budget > 0 and roll < 0.55:
            if self.has_pointer and budget > 1 and self.maybe(0.2):
                return "(*p % 50)", 2
            if self.has_atomic and self.maybe(0.2):
                return "__atomic_load_n(&t, __ATOMIC_SEQ_CST)", 1
            shared = self.random.choice(self.shared)
            if shared.lvalue == "a[1]" and self.maybe(0.5):
                index, cost = self.leaf(budget - 1)
                return f"a[({index}) & 1]", cost + 1
            return self.read_outside(shared.lvalue) or shared.value, 1
        if self.locals and roll < 0.75:
            return self.random.choice(self.locals), 0
        return str(self.random.choice([0, 1, 1, 2, 3, 4, 5, 7, 9, -1, -2])), 0

    def read_outside(self, lvalue):
        """The call that reads the variable, if one is to."""
        if not self.calls_outside or lvalue not in ("x", "y", "a[1]") or self.outside.random() < 0.2:
            return None
        return self.outside.choice([f"outside_get(&{lvalue})", f"outside_get(&{lvalue})", f"outside_keep(&{lvalue})", "outside_kept()"])

    def write_outside(self, lvalue, value):
        if not self.calls_outside or lvalue not in ("x", "y", "a[1]") or self.outside.random() < 0.6:
            return None
        return self.outside.choice([f"outside_set(&{lvalue}, ({value}) % 1000);", f"outside_add(&{lvalue}, ({value}) % 1000);"])

    def expression(self, budget, depth=2):
        if depth == 0 or self.maybe(0.3):
            return self.leaf(budget)
        first, cost = self.expression(budget, depth - 1)
        if self.maybe(0.15):
            return self.random.choice(["-({})", "~({})", "!({})", "(signed char)({})", "(unsigned char)({})", "(int)((unsigned)({}) * 5u >> 3)"]).format(first), cost
        if self.maybe(0.12):
            return f"(int)(({first}) * 0.5)", cost
        second, more = self.expression(budget - cost, depth - 1)
        cost += more
        forms = ["({0}) + ({1})", "({0}) - ({1})", "(({0}) & 63) * (({1}) & 15)", "({0}) / ((({1}) & 7) + 1)", "({0}) % ((({1}) & 3) + 2)",
                 "({0}) & ({1})", "({0}) | ({1})", "({0}) ^ ({1})", "(({0}) & 31) << (({1}) & 3)", "({0}) >> (({1}) & 7)",
                 "(int)((unsigned)({0}) * (unsigned)({1}) % 1000u)", "(int)((unsigned)({0}) / ((unsigned)({1}) | 1u) % 1000u)"]
        if self.odd:
            forms.append("({0}) % 1000 / ({1})")
        if self.maybe(0.2):
            return "(" + self.random.choice(forms[:3]).format(first, second) + ")", cost
        if self.maybe(0.15):
            third, more = self.leaf(budget - cost)
            return f"(({first}) {self.random.choice(COMPARISONS)} ({second}) ? ({third}) : {self.random.randint(0, 5)})", cost + more
        return "(" + self.random.choice(forms).format(first, second) + ")", cost

    def condition(self, budget):
        first, cost = self.expression(budget, 1)
        if cost == 0 and budget > 0 and self.maybe(0.9):
            shared = self.random.choice(self.shared)  # one that is always the same teaches nothing
            first, cost = self.read_outside(shared.lvalue) or shared.value, 1
        second, more = self.leaf(budget - cost if self.maybe(0.3) else 0)
        cost += more
        text = f"{first} {self.random.choice(COMPARISONS)} {second}"
        if self.maybe(0.2):
            other, more = self.leaf(budget - cost)
            return f"{text} {self.random.choice(['&&', '||'])} {other}", cost + more
        return text, cost

    # Statements: a list of nodes and the cost.
    def assignment(self, budget):
        value, cost = self.expression(budget - 1)
        if self.has_pointer and budget - cost >= 2 and self.maybe(0.25):
            if self.maybe(0.3):
                return [f"p = &{self.random.choice(self.targets())};"], 1
            return [f"*p = ({value}) % 1000;"], cost + 2
        if self.has_atomic and self.maybe(0.2):
            return [f"__atomic_{self.random.choice(['store_n', 'fetch_add', 'exchange_n'])}(&t, ({value}) % 100, __ATOMIC_SEQ_CST);"], cost + 1
        shared = self.random.choice(self.shared)
        lvalue = shared.lvalue
        if lvalue == "a[1]" and self.maybe(0.5) and budget - cost >= 2:
            index, more = self.leaf(budget - cost - 1)
            lvalue, cost = f"a[({index}) & 1]", cost + more
        is_field = lvalue in ("r.g", "r.h")
        if is_field and budget - cost < 2:
            lvalue, is_field = "r.f", False
        if budget - cost >= 2 and lvalue not in ("d", "o") and not is_field and self.maybe(0.25):
            return [f"{lvalue} {self.random.choice(['+=', '-=', '^=', '|=', '&='])} {value};"], cost + 2
        return [self.write_outside(lvalue, value) or f"{lvalue} = {value};"], cost + (2 if is_field else 1)

    def local(self, budget):
        value, cost = self.expression(budget)
        own = [name for name in self.locals if not name.startswith("i")]  # counters are for their loops to change
        if own and self.maybe(0.3):
            return [f"{self.random.choice(own)} = ({value}) % 1000;"], cost
        name = self.fresh("v")
        self.locals.append(name)
        return [f"int {name} = ({value}) % 1000;"], cost

    def scoped(self, budget, count):
        """A block of statements: its locals end with it."""
        depth = len(self.locals)
        nodes, cost = self.statements(budget, count)
        del self.locals[depth:]
        return nodes, cost

    def branch(self, budget):
        condition, cost = self.condition(max(1, budget - 2))
        left = budget - cost
        body, first = self.scoped(left, self.random.randint(1, 2))
        if not self.maybe(0.5):
            return [Block(f"if ({condition}) {{", body, "}")], cost + first
        other, second = self.scoped(left, self.random.randint(1, 2))
        return [Block(f"if ({condition}) {{", body, "} else {"), Block("", other, "}")], cost + max(first, second)

    def switch(self, budget):
        value, cost = self.expression(max(1, budget - 2), 1)
        nodes, most = [], 0
        for case in ("case 0:", "case 1:", "default:"):
            body, more = self.scoped(budget - cost, 1)
            nodes.append(Block(case + " {", body, "} break;"))
            most = max(most, more)
        return [Block(f"switch (({value}) & 3) {{", nodes, "}")], cost + most

    def loop(self, budget):
        counter = self.fresh("i")
        if self.maybe(0.5):
            turns, head, cost = 2, f"for (int {counter} = 0; {counter} < 2; {counter}++) {{", 0
        else:
            limit, cost = self.leaf(1)
            turns, head = 2, f"for (int {counter} = 0, limit{counter} = ({limit}) & 1; {counter} <= limit{counter}; {counter}++) {{"
        self.locals.append(counter)
        body, more = self.scoped((budget - cost) // turns, 1)
        if self.maybe(0.2):
            body.append(f"if ({self.random.choice(self.locals)} > 2) break;")
        self.locals.remove(counter)
        return [Block(head, body, "}")], cost + turns * more

    def section(self, budget):
        lock = self.random.choice(self.free_locks())
        self.held.append(lock)
        body, cost = self.scoped(budget, self.random.randint(1, 3))
        self.held.remove(lock)
        return [Block(f"pthread_mutex_lock(&m{lock}); {{", body, f"}} pthread_mutex_unlock(&m{lock});")], cost

    def call(self, budget):
        fitting = [function for function in self.functions if function[1] <= budget]
        if not fitting:
            return self.assignment(budget)
        name, cost = self.random.choice(fitting)
        argument, more = self.leaf(budget - cost)
        result = self.fresh("v")
        self.locals.append(result)
        via = "(*f)" if self.maybe(0.2) else "f"
        if via == "(*f)":
            pointer = self.fresh("f")
            return [f"int (*{pointer})(int) = {name}; int {result} = {pointer}({argument}) % 1000;"], cost + more
        return [f"int {result} = {name}({argument}) % 1000;"], cost + more

    def library(self, budget):
        """Calls of code that is not ours."""
        value, cost = self.leaf(budget)
        result = self.fresh("v")
        self.locals.append(result)
        form = self.random.choice(["int {r} = abs({v});", "int {r} = div({v}, 3).rem;", 'char {r}t[16]; int {r} = snprintf({r}t, 16, "%d", {v});',
                                   "int {r} = 0; memcpy(&{r}, &(int){{{v}}}, 4);"])
        return [form.format(r=result, v=value)], cost

    def copy(self, budget):
        """Memory that is moved as a whole."""
        whole = next((v.lvalue for v in self.shared if v.lvalue in ("a[1]", "r.f", "n.w")), None)
        if whole is None or budget < 2:
            return self.assignment(budget)
        name = self.fresh("k")
        kept = {"a[1]": ("int {0}[2]; memcpy({0}, a, sizeof {0});", "memcpy(a, {0}, sizeof {0});", "{0}[0]"),
                "r.f": ("__typeof__(r) {0} = r;", "r = {0};", "{0}.f"), "n.w": ("__typeof__(n) {0} = n;", "n = {0};", "(int)({0}.w % 50)")}[whole]
        if budget >= 4 and self.maybe(0.4):
            return [kept[0].format(name) + " " + kept[1].format(name)], 4
        result = self.fresh("v")
        self.locals.append(result)
        return [f"{kept[0].format(name)} int {result} = {kept[2].format(name)} % 1000;"], 2

    def statement(self, budget):
        if budget < 1:
            return self.local(0)
        kinds = [(self.assignment, 6), (self.local, 2), (self.branch, 5 if budget > 1 else 1), (self.switch, 1), (self.loop, 1 if budget > 2 else 0),
                 (self.section, 2 if self.free_locks() else 0), (self.call, 0 if self.held else 1), (self.library, 1 if self.odd else 0), (self.copy, 0.5)]
        makers, weights = zip(*kinds)
        return self.random.choices(makers, weights)[0](budget)

    def statements(self, budget, count):
        nodes, total = [], 0
        for _ in range(count):
            more, cost = self.statement(budget - total)
            nodes += more
            total += cost
            if total >= budget:
                break
        return nodes, total

    def function(self):
        name = self.fresh("call")
        self.locals, kept = ["argument"], self.locals
        nodes, cost = self.statements(2, 2)
        result, more = self.leaf(1)
        self.locals = kept
        self.functions.append((name, cost + more))
        return Block(f"static int {name}(int argument) {{", nodes + [f"return {result};"], "}")

    def thread(self, number):
        self.locals = []
        nodes, total = [], 0
        while total < self.budget and len(nodes) < 12:
            more, cost = self.statement(self.budget - total)
            nodes += more
            total += cost
        return Block(f"static void *thread{number}(void *unused) {{", nodes + ["return unused;"], "}")

    def program(self):
        nodes = [v.declaration.format(self.random.choice([0, 0, 1, 2, 5])) for v in self.shared if v.declaration]
        nodes += OUTSIDE_FUNCTIONS if self.calls_outside else []
        if self.has_pointer:
            nodes.append(f"int *p = &{self.random.choice(self.targets())};")
        if self.has_atomic:
            nodes.append("int t;")
        nodes += [f"pthread_mutex_t m{lock} = PTHREAD_MUTEX_INITIALIZER;" for lock in range(self.locks)]
        for _ in range(self.random.choice([0, 1, 1])):
            nodes.append(self.function())
        nodes += [self.thread(number) for number in range(self.threads)]
        numbers = range(self.threads)
        nodes.append(Block("int main(void) {", [f"pthread_t id[{self.threads}];"]
                           + [f"pthread_create(&id[{n}], 0, thread{n}, 0);" for n in numbers]
                           + [f"pthread_join(id[{n}], 0);" for n in numbers] + ["return 0;"], "}"))
        return nodes


def lines(nodes, depth=0):
    for node in nodes:
        if isinstance(node, Block):
            if node.head:
                yield "  " * depth + node.head
            yield from lines(node.body, depth + 1)
            yield "  " * depth + node.tail
        else:
            yield "  " * depth + node


def render(nodes):
    return HEADER + "\n".join(lines(nodes)) + "\n"


def generate(seed):
    return Generator(seed).program()


if __name__ == "__main__":
    sys.stdout.write(render(generate(int(sys.argv[1]))))
