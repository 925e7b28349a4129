#!/usr/bin/env python3
"""What is the same bug and what is another one: pairs of small programs, and whether the ids of their findings are equal.

    tests/identity/run.py SOOTH [--only NAME] [--keep]

A program is a text with a build; each is compiled, recorded and analysed once, several at a time. `same`: both programs have the same ids.
`other`: they have none in common. A number: one program has so many findings, all with different ids.
"""
import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile

THREADS = """
int main() {
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, two, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
"""


def program(body, one="work", two="work"):
    return "#include <pthread.h>\n" + body + THREADS.replace("one", one).replace("two", two)


COUNTERS = """
int hits, misses, errors;
static void bump(int* counter) {
  ++*counter;
}
void* work(void*) {
  bump(&hits);
  return 0;
}
"""
BASE = program(COUNTERS)
MISSES = program(COUNTERS.replace("bump(&hits)", "bump(&misses)"))
THREE = program(COUNTERS.replace("bump(&hits);", "bump(&hits); bump(&misses); bump(&errors);"))
DIRECT = program("int x;\nvoid* work(void*) {\n  x++;\n  return 0;\n}\n")
LAMBDA = program("int x;\nvoid* work(void*) {\n  auto f = [] { x++; };\n  f();\n  return 0;\n}\n")
LAMBDAS = program("int x;\nvoid* work(void*) {\n  auto f = [] { x++; };\n  auto g = [] { x += 1; };\n  g();\n  return f == nullptr ? &x : 0;\n}\n")
TEMPLATE = program("int a;\nlong b;\ntemplate <class T> void bump(T& c) {\n  c++;\n}\n"
                   "void* work(void*) {\n  bump(a);\n  return 0;\n}\n")
TEMPLATE_LONG = TEMPLATE.replace("bump(a)", "bump(b)")
TEMPLATE_BOTH = TEMPLATE.replace("bump(a);", "bump(a); bump(b);")
MACRO = program("#define INC(v) (v)++\nint a, b;\nvoid* work(void*) {\n  INC(a);\n  return 0;\n}\n")
RECURSION = program("int x;\nvoid down(int n) {\n  if (n > 0) down(n - 1);\n  else x++;\n}\nvoid* work(void*) {\n  down(3);\n  return 0;\n}\n")
INLINE = program("int x;\nstatic inline int next() {\n  return ++x;\n}\nvoid* work(void*) {\n  next();\n  return 0;\n}\n")
METHOD = program("struct Counter {\n  int n;\n  void add() {\n    n++;\n  }\n};\nCounter first, second;\n"
                 "void* work(void*) {\n  first.add();\n  return 0;\n}\n")
METHODS = METHOD.replace("first.add();", "first.add();\n  second.add();")
ARRAY = program("int cells[16];\nvoid put(int i) {\n  cells[i]++;\n}\nvoid* work(void*) {\n  put(3);\n  return 0;\n}\n")
ARRAY_ALL = ARRAY.replace("put(3);", "for (int i = 0; i < 16; ++i) put(i);")
TWICE = program("int x, turn;\nvoid touch(bool late) {\n  if (!late) {\n    x++;\n  } else {\n    x++;\n  }\n}\n"
                "void* work(void*) {\n  touch(false);\n  return 0;\n}\n")
TWICE_LATE = TWICE.replace("touch(false)", "touch(true)")
FUNCTIONS = program("int x;\nvoid f() {\n  x++;\n}\nvoid g() {\n  x++;\n}\nvoid* work(void*) {\n  f();\n  return 0;\n}\n")
HEAP = program("int *p, *q;\nvoid bump(int* c) {\n  ++*c;\n}\nint* make_p() {\n  return new int(1);\n}\nint* make_q() {\n  return new int(2);\n}\n"
               "void* work(void*) {\n  bump(p);\n  return 0;\n}\n").replace("int main() {\n", "int main() {\n  p = make_p();\n  q = make_q();\n")
HEAP_Q = HEAP.replace("bump(p)", "bump(q)")
HEAP_BOTH = HEAP.replace("bump(p);", "bump(p);\n  bump(q);")
TWO_SIDES = program("int x;\nvoid* writer(void*) {\n  x = 1;\n  return 0;\n}\nvoid* reader(void*) {\n  return x > 5 ? &x : 0;\n}\n",
                    "writer", "reader")
LOCKS = program("pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;\n"
                "void* mn(void*) {\n  pthread_mutex_lock(&m);\n  pthread_mutex_lock(&n);\n  pthread_mutex_unlock(&n);\n  pthread_mutex_unlock(&m);\n  return 0;\n}\n"
                "void* nm(void*) {\n  pthread_mutex_lock(&n);\n  pthread_mutex_lock(&m);\n  pthread_mutex_unlock(&m);\n  pthread_mutex_unlock(&n);\n  return 0;\n}\n",
                "mn", "nm")
HELPED = program("pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER, o = PTHREAD_MUTEX_INITIALIZER;\n"
                 "void both(pthread_mutex_t* p, pthread_mutex_t* q) {\n  pthread_mutex_lock(p);\n  pthread_mutex_lock(q);\n  pthread_mutex_unlock(q);\n"
                 "  pthread_mutex_unlock(p);\n}\n"
                 "void* mn(void*) {\n  both(&m, &n);\n  return 0;\n}\nvoid* nm(void*) {\n  both(&n, &m);\n  return 0;\n}\n", "mn", "nm")
MEMBERS = program("struct Stats {\n  int hits, misses;\n  Stats() : hits(0), misses(0) {}\n};\nStats* stats = new Stats;\n"
                  "void bump(int* p) {\n  ++*p;\n}\nvoid* work(void*) {\n  bump(&stats->hits);\n  return 0;\n}\n")
LOCALS = """
#include <pthread.h>
struct Both { int* first; int* second; };
void bump(int* p) {
  ++*p;
}
void* work(void* p) {
  bump(static_cast<Both*>(p)->first);
  return 0;
}
int main() {
  int one = 0, two = 0;
  Both both{&one, &two};
  pthread_t a, b;
  pthread_create(&a, 0, work, &both);
  pthread_create(&b, 0, work, &both);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
"""
VECTOR = """
#include <pthread.h>
#include <vector>
std::vector<int> orders, prices;
void add(std::vector<int>& v, int i) {
  v.push_back(i);
}
void* work(void*) {
  add(orders, 1);
  return 0;
}
""" + THREADS.replace("one", "work").replace("two", "work").replace("int main() {\n", "int main() {\n  orders.reserve(9);\n  prices.reserve(9);\n")
VECTOR_BOTH = VECTOR.replace("add(orders, 1);", "add(orders, 1); add(prices, 2);")
UNIT = "static int count;\nstatic void step() {\n  count++;\n}\nvoid %s() {\n  step();\n}\n"
UNITS = {"main.cc": program("void left();\nvoid right();\nvoid* work(void*) {\n  left();\n  right();\n  return 0;\n}\n"),
         "left/unit.cc": UNIT % "left", "right/unit.cc": UNIT % "right"}

COMMENT = "// Somebody wrote a comment.\n// It has two lines.\n\n"
ABOVE = "#include <string.h>\nstatic int unused(int n) {\n  return n + 1;\n}\nint used = unused(3);\n"


def p(text, build="g++ -O0", folder="here", seed=1):
    """A program: its text or files, compiler and flags, folder (with .git in it for `repository/...`), seed of the schedule."""
    return (json.dumps(text if isinstance(text, dict) else {"a.cc": text}, sort_keys=True), build, folder, seed)


PAIRS = [
    # Edits elsewhere.
    ("comment on top", p(BASE), p(COMMENT + BASE), "same"),
    ("function above", p(BASE), p(ABOVE + BASE), "same"),
    ("function below", p(BASE), p(BASE + ABOVE), "same"),
    ("line between the two", p(TWO_SIDES), p(TWO_SIDES.replace("void* reader", "int other;\n\nvoid* reader")), "same"),
    ("line above in the function", p(DIRECT), p(DIRECT.replace("  x++;", "  int y = 3;\n  (void)y;\n  x++;")), "same"),
    ("other blanks", p(BASE), p(BASE.replace("  ++*counter;", "      ++*counter;")), "same"),
    ("comment behind the line", p(BASE), p(BASE.replace("++*counter;", "++*counter;  // not atomic")), "same"),
    ("equal line above, elsewhere", p(FUNCTIONS.replace("  f();", "  g();")),
     p(FUNCTIONS.replace("  f();", "  g();").replace("void f() {", "void before() {\n  x++;\n}\nvoid f() {")), "same"),
    ("edit above a lambda", p(LAMBDA), p(COMMENT + LAMBDA), "same"),
    ("edit above an allocation", p(HEAP), p(ABOVE + HEAP), "same"),
    ("edit above a deadlock", p(LOCKS), p(COMMENT + LOCKS), "same"),
    # Checkouts and runs.
    ("other folder", p(BASE), p(BASE, folder="there"), "same"),
    ("other folder, two files of a name", p(UNITS), p(UNITS, folder="there"), "same"),
    ("other checkout", p(BASE, folder="repository/src"), p(BASE, folder="there/repository/src"), "same"),
    ("another schedule", p(BASE), p(BASE, seed=7), "same"),
    ("moved within the checkout", p(BASE, folder="repository/src"), p(BASE, folder="repository/lib"), "other"),
    # Compilers and optimisation.
    ("gcc and clang", p(BASE), p(BASE, "clang++ -O0"), "same"),
    ("-O0 and -O2", p(BASE), p(BASE, "g++ -O2"), "same"),
    ("clang -O0 and -O2", p(BASE, "clang++ -O0"), p(BASE, "clang++ -O2"), "same"),
    ("gcc -O2 and clang -O1", p(TWO_SIDES, "g++ -O2"), p(TWO_SIDES, "clang++ -O1"), "same"),
    ("lambda, gcc and clang", p(LAMBDA), p(LAMBDA, "clang++ -O0"), "same"),
    ("lambda, -O0 and -O1", p(LAMBDA), p(LAMBDA, "g++ -O1"), "same"),
    ("template, gcc and clang", p(TEMPLATE), p(TEMPLATE, "clang++ -O0"), "same"),
    ("template, inlined", p(TEMPLATE), p(TEMPLATE, "g++ -O2"), "same"),
    ("inlined or not", p(INLINE), p(INLINE, "g++ -O2"), "same"),
    ("method, inlined or not", p(METHOD), p(METHOD, "g++ -O1"), "same"),
    ("macro, gcc and clang", p(MACRO), p(MACRO, "clang++ -O1"), "same"),
    ("allocation, gcc and clang", p(HEAP), p(HEAP, "clang++ -O0"), "same"),
    ("deadlock, gcc and clang", p(LOCKS), p(LOCKS, "clang++ -O0"), "same"),
    ("vector, -O0 and -O1", p(VECTOR), p(VECTOR, "g++ -O1"), "same"),
    # One bug.
    ("read and write of x++", p(DIRECT), None, 1),
    ("recursion", p(RECURSION), p(RECURSION.replace("down(3)", "down(5)")), "same"),
    ("elements of an array", p(ARRAY), p(ARRAY.replace("put(3)", "put(9)")), "same"),
    ("all elements of an array", p(ARRAY_ALL), None, 1),
    # Several.
    ("two variables behind one function", p(BASE), p(MISSES), "other"),
    ("three variables behind one function", p(THREE), None, 3),
    ("three variables, inlined", p(THREE, "g++ -O2"), None, 3),
    ("instantiations of a template", p(TEMPLATE), p(TEMPLATE_LONG), "other"),
    ("both instantiations", p(TEMPLATE_BOTH), None, 2),
    ("two objects of a class", p(METHODS), None, 2),
    ("macro with another variable", p(MACRO), p(MACRO.replace("INC(a)", "INC(b)")), "other"),
    ("equal lines of a function", p(TWICE), p(TWICE_LATE), "other"),
    ("equal lines of two functions", p(FUNCTIONS), p(FUNCTIONS.replace("  f();", "  g();")), "other"),
    ("another line", p(DIRECT), p(DIRECT.replace("x++", "x += 2")), "other"),
    ("another lambda", p(LAMBDA), p(LAMBDAS), "other"),
    ("another allocation", p(HEAP), p(HEAP_Q), "other"),
    ("two allocations behind one function", p(HEAP_BOTH), None, 2),
    ("two vectors behind one function", p(VECTOR), p(VECTOR.replace("add(orders, 1)", "add(prices, 1)")), "differ"),
    ("two files of a name", p(UNITS), None, 2),
    ("another deadlock", p(LOCKS), p(LOCKS.replace("void* mn(void*) {", "void* mn(void*) {\n  pthread_mutex_trylock(&n);\n  pthread_mutex_unlock(&n);")
                                     .replace("  pthread_mutex_lock(&m);\n  pthread_mutex_lock(&n);", "  pthread_mutex_lock(&m); pthread_mutex_lock(&n);")), "other"),
    ("other locks behind one function", p(HELPED), p(HELPED.replace("&n", "&o")), "other"),
    ("other member of a heap object", p(MEMBERS), p(MEMBERS.replace("->hits", "->misses")), "other"),
    ("two members of a heap object", p(MEMBERS.replace("bump(&stats->hits);", "bump(&stats->hits); bump(&stats->misses);")), None, 2),
    ("member of a heap object, optimised", p(MEMBERS), p(MEMBERS, "g++ -O2"), "same"),
    ("two locals behind one function", p(LOCALS.replace("->first);", "->first); bump(static_cast<Both*>(p)->second);")), None, 2),
]


def ids_of(sooth, lab, number, made):
    """Compiles, records and analyses the program; the ids of its findings, or what went wrong."""
    text, build, folder, seed = made
    compiler, *flags = build.split()
    root = os.path.join(lab, str(number))
    place = os.path.join(root, folder)
    os.makedirs(place)
    if "repository" in folder:
        os.makedirs(os.path.join(root, folder.rsplit("/", 1)[0], ".git"))
    sources = []
    for name, content in json.loads(text).items():
        path = os.path.join(place, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        sources.append(path)
    binary = os.path.join(root, "prog")

    def run(*words, statuses=(0,)):
        done = subprocess.run([sooth, *words], cwd=root, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if done.returncode not in statuses:
            raise RuntimeError(f"sooth {' '.join(words)}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout
    try:
        run("c++", f"--compiler={compiler}", *flags, "-w", *sources, "-o", binary)
        schedule = ["serial"] if seed == 1 else ["random", "--seed", str(seed)]
        run("record", "-o", "trace", "--schedule", *schedule, "--", binary)
        report = json.loads(run("analyze", "trace", "--with", "hb,deadlock,misuse", "--format", "json", "--fail-on", "never"))
    except RuntimeError as error:
        return str(error)
    ids = [finding["id"] for finding in report["findings"]]
    return set(ids) if len(ids) == len(set(ids)) else f"an id twice: {ids}"


def verdict(wanted, first, second):
    """What is wrong with the pair; empty when nothing is."""
    for ids in (first, second):
        if isinstance(ids, str) or (ids is not None and not ids):
            return ids or "nothing was found"
    if isinstance(wanted, int):
        return "" if len(first) == wanted else f"{len(first)} findings, not {wanted}"
    if wanted == "same":
        return "" if first == second else f"{sorted(first)} and {sorted(second)} should be the same"
    if wanted == "differ":  # some may be the same: both have the blocks of vectors that are allocated at one line
        return "" if first - second and second - first else f"{sorted(first)} and {sorted(second)} should differ"
    return "" if not first & second else f"{sorted(first & second)} are in both"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sooth")
    parser.add_argument("--only", default="", help="pairs with this in their name")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the programs")
    options = parser.parse_args()
    pairs = [pair for pair in PAIRS if options.only in pair[0] and (shutil.which("clang++") or "clang" not in str(pair))]
    programs = list(dict.fromkeys(made for _, first, second, _ in pairs for made in (first, second) if made))
    lab = tempfile.mkdtemp(prefix="sooth-identity-")
    sooth = os.path.abspath(options.sooth)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = dict(zip(programs, pool.map(lambda each: ids_of(sooth, lab, programs.index(each), each), programs)))
    failures = 0
    for name, first, second, wanted in pairs:
        wrong = verdict(wanted, found[first], found[second] if second else None)
        if wrong:
            failures += 1
            print(f"{name}: {wrong}")
    print(f"{len(pairs)} pairs of {len(programs)} programs: {failures} wrong")
    if options.keep:
        print(lab)
    else:
        shutil.rmtree(lab)
    return 1 if failures or not pairs else 0


if __name__ == "__main__":
    sys.exit(main())
