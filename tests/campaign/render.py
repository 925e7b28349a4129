"""Model programs as C or C++: each statement on lines of its own, and which line is whose."""
import model

C_TYPES = {"m": "pthread_mutex_t", "t": "pthread_mutex_t", "r": "pthread_mutex_t", "w": "pthread_rwlock_t"}
CXX_TYPES = {"m": "std::mutex", "t": "std::timed_mutex", "r": "std::recursive_mutex", "w": "std::shared_mutex"}

C_HEAD = """\
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static struct timespec soon(void) { struct timespec t; clock_gettime(CLOCK_REALTIME, &t); t.tv_nsec += 200000; if (t.tv_nsec >= 1000000000) { t.tv_nsec -= 1000000000; t.tv_sec++; } return t; }
static int *made(int value) { int *block = malloc(sizeof(int)); *block = value; return block; }"""

# What has a destructor is never destroyed: threads may use it when main has ended.
CXX_HEAD = """\
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <sched.h>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <unistd.h>
using namespace std::chrono_literals;"""


class Renderer:
    def __init__(self, program, volatile):
        self.program = program
        self.cxx = program.dialect == "c++"
        self.plain = "volatile int" if volatile else "int"
        self.text = (CXX_HEAD if self.cxx else C_HEAD).split("\n")
        self.lines = {}  # number -> line of the model
        self.loops = {}  # number of a loop's head -> of its last line
        self.depth = 0
        self.names = 0

    def put(self, text, line=None):
        self.text.append("  " * self.depth + text)
        if line is not None:
            self.lines[len(self.text)] = line

    def order(self, order):
        return f"std::memory_order_{order}" if self.cxx else f"memory_order_{order}"

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    # Declarations.

    def declare(self):
        for kind, indices in sorted(self.program.objects().items()):
            for index in indices:
                self.put(self.declaration(kind, index))

    def declaration(self, kind, index):
        name = f"{kind}{index}"
        if kind == "g":
            return f"{self.plain} {name};"
        if kind == "b":
            return f"char {name}[8];"
        if self.cxx:
            if kind in CXX_TYPES:
                return f"{CXX_TYPES[kind]} {name};"
            return {"a": f"std::atomic<int> {name}{{0}};", "box": f"std::atomic<int*> {name}{{nullptr}};",
                    "c": f"std::condition_variable& {name} = *new std::condition_variable;",
                    "s": f"std::counting_semaphore<8> {name}{{{self.initial('semaphores', index)}}};",
                    "p": f"std::barrier<>& {name} = *new std::barrier<>({self.initial('barriers', index)});"}[kind]
        if kind in C_TYPES:
            value = {"m": "PTHREAD_MUTEX_INITIALIZER", "t": "PTHREAD_MUTEX_INITIALIZER", "r": "PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP", "w": "PTHREAD_RWLOCK_INITIALIZER"}[kind]
            return f"{C_TYPES[kind]} {name} = {value};"
        return {"a": f"atomic_int {name};", "box": f"int *_Atomic {name};", "c": f"pthread_cond_t {name} = PTHREAD_COND_INITIALIZER;", "s": f"sem_t {name};",
                "p": f"pthread_barrier_t {name};"}[kind]

    def initial(self, of, index):
        values = getattr(self.program, of)
        return values[index] if index < len(values) else 0

    def render(self):
        self.declare()
        count = len(self.program.threads)
        for thread in range(1, count):
            self.put(f"static void {'' if self.cxx else '*'}thread{thread}({'' if self.cxx else 'void *argument'}) {{")
            self.body(thread)
            if not self.cxx:
                self.put("  return argument;")
            self.put("}")
        self.put("int main(void) {")
        if not self.cxx:
            for index in self.program.objects().get("s", []):
                self.put(f"  sem_init(&s{index}, 0, {self.initial('semaphores', index)});")
            for index in self.program.objects().get("p", []):
                self.put(f"  pthread_barrier_init(&p{index}, NULL, {self.initial('barriers', index)});")
            if count > 1:
                self.put(f"  pthread_t id[{count}];")
        self.body(0)
        self.put("  return 0;")
        self.put("}")
        return "\n".join(self.text) + "\n", self.lines, self.loops

    def body(self, thread):
        self.depth = 1
        self.put("int " + ", ".join(f"v{i} = 0" for i in range(model.REGISTERS)) + ";")
        self.put("".join(f"(void)v{i}; " for i in range(model.REGISTERS)).strip())
        self.block(self.program.threads[thread], (thread,))
        self.depth = 0

    def block(self, statements, path):
        for i, statement in enumerate(statements):
            self.statement(statement, (*path, i))

    def inside(self, statements, path):
        self.depth += 1
        self.block(statements, path)
        self.depth -= 1

    # Statements.

    def statement(self, s, path):
        if s.kind in SIMPLE:
            self.put(SIMPLE[s.kind](self, *s.args), (path, 0))
        else:
            getattr(self, "_" + s.kind.replace(" ", "_"))(s, path)

    def _if(self, s, path):
        self.put(f"if ({self.condition(s.args[0])}) {{", (path, 0))
        self.inside(s.body, (*path, "body"))
        if s.other:
            self.put("} else {")
            self.inside(s.other, (*path, "other"))
        self.put("}")

    def condition(self, condition):
        what, *rest = condition
        if what == "register":
            return f"v{rest[0]} == {rest[1]}"
        if what == "plain":
            return f"{rest[0]} == {rest[1]}"
        return f"{self.load(rest[0], rest[2])} == {rest[1]}"

    def load(self, variable, order):
        return f"{variable}.load({self.order(order)})" if self.cxx else f"atomic_load_explicit(&{variable}, {self.order(order)})"

    def _loop(self, s, path):
        name = self.name("i")
        self.put(f"for (int {name} = 0; {name} < {s.args[0]}; {name}++) {{")
        head = len(self.text)
        self.inside(s.body, (*path, "body"))
        self.put("}")
        self.loops[head] = len(self.text)

    def lock(self, lock, shared):
        if self.cxx:
            return f"{lock}.lock{'_shared' if shared else ''}();"
        return f"pthread_rwlock_{'rd' if shared else 'wr'}lock(&{lock});" if lock.kind == "w" else f"pthread_mutex_lock(&{lock});"

    def unlock(self, lock, shared=False):
        if self.cxx:
            return f"{lock}.unlock{'_shared' if shared else ''}();"
        return f"pthread_rwlock_unlock(&{lock});" if lock.kind == "w" else f"pthread_mutex_unlock(&{lock});"

    def _lock(self, s, path):
        lock, shared, guard = s.args
        if self.cxx and guard:
            holder = f"std::{'shared_lock' if shared else 'unique_lock'}<{CXX_TYPES[lock.kind]}>"
            self.put("{")
            self.depth += 1
            self.put(f"{holder} {self.name('l')}({lock});", (path, 0))
            self.block(s.body, (*path, "body"))
            self.depth -= 1
            self.put("}", (path, -1))
            return
        self.put(self.lock(lock, shared), (path, 0))
        self.inside(s.body, (*path, "body"))
        self.put(self.unlock(lock, shared), (path, -1))

    def attempt(self, lock, shared, timed):
        if self.cxx:
            if timed:
                return f"{lock}.try_lock_for(200us)"
            return f"{lock}.try_lock{'_shared' if shared else ''}()"
        if lock.kind == "w":
            return f"pthread_rwlock_try{'rd' if shared else 'wr'}lock(&{lock}) == 0"
        return f"pthread_mutex_timedlock(&{lock}, &until) == 0" if timed else f"pthread_mutex_trylock(&{lock}) == 0"

    def _try(self, s, path):
        lock, shared, timed = s.args
        if timed and not self.cxx:
            self.put("{")
            self.put("struct timespec until = soon();")
        self.put(f"if ({self.attempt(lock, shared, timed)}) {{", (path, 0))
        self.inside(s.body, (*path, "body"))
        self.put("  " + self.unlock(lock, shared), (path, -1))
        self.put("}")
        if timed and not self.cxx:
            self.put("}")

    def _both(self, s, path):
        first, second = s.args
        self.put("{")
        self.depth += 1
        self.put(f"std::scoped_lock {self.name('l')}({first}, {second});", (path, 0))
        self.block(s.body, (*path, "body"))
        self.depth -= 1
        self.put("}", (path, -1))

    def _chain(self, s, path):
        first, second = s.args
        self.put(self.lock(first, False), (path, 0))
        self.inside(s.body, (*path, "body"))
        self.put(self.lock(second, False), (path, 1))
        self.put(self.unlock(first), (path, 2))
        self.inside(s.other, (*path, "other"))
        self.put(self.unlock(second), (path, -1))

    def _waiting(self, s, path, lock, lines):
        """The section around a wait; `lines` takes the name of the guard."""
        if self.cxx:
            name = self.name("l")
            self.put("{")
            self.depth += 1
            self.put(f"std::unique_lock<std::mutex> {name}({lock});", (path, 0))
            lines(name)
            self.block(s.body, (*path, "body"))
            self.depth -= 1
            self.put("}", (path, -1))
        else:
            self.put(self.lock(lock, False), (path, 0))
            lines(f"&{lock}")
            self.inside(s.body, (*path, "body"))
            self.put(self.unlock(lock), (path, -1))

    def sleep_on(self, condition, lock, timed):
        if self.cxx:
            return f"{condition}.wait_for({lock}, 200us);" if timed else f"{condition}.wait({lock});"
        return f"pthread_cond_timedwait(&{condition}, {lock}, &until);" if timed else f"pthread_cond_wait(&{condition}, {lock});"

    def _wait(self, s, path):
        condition, lock, variable, value = s.args

        def lines(name):
            self.put(f"while ({variable} != {value}) {{", (path, 1))
            self.put(f"  {self.sleep_on(condition, name, False)}", (path, 2))
            self.put("}")
        self._waiting(s, path, lock, lines)

    def _wait_once(self, s, path):
        condition, lock, timed = s.args

        def lines(name):
            if timed and not self.cxx:
                self.put("struct timespec until = soon();")
            self.put(self.sleep_on(condition, name, timed), (path, 1))
        if timed and not self.cxx:
            self.put("{")
        self._waiting(s, path, lock, lines)
        if timed and not self.cxx:
            self.put("}")

    def _try_semaphore(self, s, path):
        semaphore, = s.args
        self.put(f"if ({f'{semaphore}.try_acquire()' if self.cxx else f'sem_trywait(&{semaphore}) == 0'}) {{", (path, 0))
        self.inside(s.body, (*path, "body"))
        self.put("}")

    # One line each.

    def _store(self, variable, value, order):
        return f"{variable}.store({value}, {self.order(order)});" if self.cxx else f"atomic_store_explicit(&{variable}, {value}, {self.order(order)});"

    def _add(self, register, variable, order):
        call = f"{variable}.fetch_add(1, {self.order(order)})" if self.cxx else f"atomic_fetch_add_explicit(&{variable}, 1, {self.order(order)})"
        return f"v{register} = {call};"

    def _cas(self, variable, expected, desired, order):
        failure = self.order({"release": "relaxed", "acq_rel": "acquire"}.get(order, order))
        call = (f"{variable}.compare_exchange_strong(expected, {desired}, {self.order(order)}, {failure})" if self.cxx else
                f"atomic_compare_exchange_strong_explicit(&{variable}, &expected, {desired}, {self.order(order)}, {failure})")
        return f"{{ int expected = {expected}; {call}; }}"

    def _swap(self, box, value, order):
        return f"{box}.exchange({value}, {self.order(order)})" if self.cxx else f"atomic_exchange_explicit(&{box}, {value}, {self.order(order)})"

    def _give(self, box, order):
        return f"delete {self._swap(box, 'new int(1)', order)};" if self.cxx else f"free({self._swap(box, 'made(1)', order)});"

    def _take(self, box, order):
        if self.cxx:
            return f"if (int* block = {self._swap(box, 'nullptr', order)}) {{ *block += 1; delete block; }}"
        return f"{{ int *block = {self._swap(box, 'NULL', order)}; if (block) {{ *block += 1; free(block); }} }}"

    def _notify(self, condition, everybody):
        if self.cxx:
            return f"{condition}.notify_{'all' if everybody else 'one'}();"
        return f"pthread_cond_{'broadcast' if everybody else 'signal'}(&{condition});"

    def _spin(self, variable, value, order, tries):
        name = self.name("i")
        return f"for (int {name} = 0; {name} < {tries} && {self.load(variable, order)} != {value}; {name}++) sched_yield();"


SIMPLE = {
    "read": lambda self, register, variable: f"v{register} = {variable};",
    "write": lambda self, variable, value: f"{variable} = {value};",
    "write register": lambda self, variable, register: f"{variable} = v{register} % {model.VALUES};",
    "copy": lambda self, target, source, plus: f"{target} = ({source} + {plus}) % {model.VALUES};",
    "memset": lambda self, buffer, offset, length: f"memset({buffer} + {offset}, 1, {length});",
    "memcpy": lambda self, target, at, source, source_at, length: f"memcpy({target} + {at}, {source} + {source_at}, {length});",
    "byte": lambda self, buffer, offset, writes: f"{buffer}[{offset}] = 1;" if writes else f"(void)*(volatile char *)&{buffer}[{offset}];",
    "private": lambda self: ("{ int* block = new int(1); *block = 2; delete block; }" if self.cxx else "{ int *block = made(1); *block = 2; free(block); }"),
    "sleep": lambda self: "usleep(200);",
    "yield": lambda self: "sched_yield();",
    "load": lambda self, register, variable, order: f"v{register} = {self.load(variable, order)};",
    "store": Renderer._store, "add": Renderer._add, "cas": Renderer._cas, "give": Renderer._give, "take": Renderer._take, "notify": Renderer._notify, "spin": Renderer._spin,
    "fence": lambda self, order: f"{'std::' if self.cxx else ''}atomic_thread_fence({self.order(order)});",
    "post": lambda self, semaphore: f"{semaphore}.release();" if self.cxx else f"sem_post(&{semaphore});",
    "take semaphore": lambda self, semaphore: f"{semaphore}.acquire();" if self.cxx else f"sem_wait(&{semaphore});",
    "barrier": lambda self, barrier: f"{barrier}.arrive_and_wait();" if self.cxx else f"pthread_barrier_wait(&{barrier});",
    "fork": lambda self, thread: f"std::thread id{thread}(thread{thread});" if self.cxx else f"pthread_create(&id[{thread}], NULL, thread{thread}, NULL);",
    "join": lambda self, thread: f"id{thread}.join();" if self.cxx else f"pthread_join(id[{thread}], NULL);",
    "detach": lambda self, thread: f"id{thread}.detach();" if self.cxx else f"pthread_detach(id[{thread}]);",
}


def render(program, volatile=False):
    """The source; for each of its lines the line of the model (statement and which of its lines) that stands there; and for the heads of loops their last lines."""
    return Renderer(program, volatile).render()
