#!/usr/bin/env python3
"""The functions that ThreadSanitizer's libraries wrap: whether the run time library sees them, how, and which test shows it.

    tsan_functions.py [ROOT]            checks that the table of docs/from-tsan.md is up to date and has no empty cell
    tsan_functions.py --update [ROOT]   writes it
    tsan_functions.py --missing [ROOT]  names functions that are neither wrapped nor explained
    tsan_functions.py --selftest

Which functions there are is read from the symbols of GCC 12's libtsan.so.2 and clang 19's libclang_rt.tsan; on machines
without these the names stay those of the table. The rest comes from runtime/*.cc and tests/programs: the accesses that a
row of SOOTH_ON_BEHALF names, else the comment of its family or the word for its file below.
"""
import glob
import pathlib
import re
import subprocess
import sys

BEGIN, END = "<!-- functions -->", "<!-- /functions -->"
FLAGS = "<!-- flags -->", "<!-- /flags -->"
# Of options.inc: ThreadSanitizer has no such flag.
OWN_OPTIONS = {"quantum", "virtual_time", "early_ends", "exclude", "reach_once"}
LIBRARIES = {
    "gcc": ["/usr/lib/x86_64-linux-gnu/libtsan.so.2"],
    "clang": ["/usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.tsan-x86_64.so",
              "/usr/lib/llvm-19/lib/clang/19*/lib/x86_64-pc-linux-gnu/libclang_rt.tsan.so"],
}
# What the functions of a file are to a recording, and a program that shows it.
FILES = {
    "annotate.cc": ("an annotation", "annotate_happens"),
    "init.cc": ("the run time library starts and ends with it", "exit_live_threads"),
    "run_end.cc": ("how the run ended is recorded", "crash_handler"),
    "signals.cc": ("signals: whoever sends one comes before its handler", "signal_handler"),
    "wrap_barrier.cc": ("a barrier, a once, or a guard of a static object", "barrier"),
    "wrap_c11.cc": ("a thread or lock of C11", "c11_threads"),
    "wrap_cond.cc": ("a condition variable", "cond_signal"),
    "wrap_exec.cc": ("the program that it starts gets our library, unless another sanitizer is in it", "spawn"),
    "wrap_futex.cc": ("system calls by number: futexes", "futex"),
    "wrap_io.cc": ("what goes through a descriptor orders, and what it copies is read or written", "libc_io"),
    "wrap_ipc.cc": ("messages and semaphores of the kernel order", "sysv_semaphore"),
    "wrap_memory.cc": ("new memory is a new variable, giving it back a write to all of it", "heap_new"),
    "wrap_mutex.cc": ("a lock", "mutex_normal"),
    "wrap_paths.cc": ("whoever sees a name comes after those that gave it", "polled_file"),
    "wrap_poll.cc": ("whoever hears of input comes after those that sent it", "poll"),
    "wrap_process.cc": ("processes, exits, modules and jumps", "atexit"),
    "wrap_rwlock.cc": ("a lock that readers share", "rwlock"),
    "wrap_semaphore.cc": ("a semaphore", "semaphore"),
    "wrap_stdio.cc": ("what goes through a stream orders, and what it copies is read or written", "stdio_pipe"),
    "wrap_stream_locks.cc": ("a lock, also around the functions of the program that libc calls with it", "stream_lock"),
    "wrap_string.cc": ("reads and writes the memory that the call says", "libc_strings"),
    "wrap_thread.cc": ("threads start, end and are waited for", "thread_create"),
    "wrap_time.cc": ("time: virtual in controlled runs; the result is written", "cond_timed"),
}
# Functions that need no wrapper here, and those that have none: why, and a test of it where there is one.
OTHERWISE = {
    "atexit": ("through __cxa_atexit, which it calls", "atexit"),
    "bsearch": ("not needed: the caller's function does all the reading", "libc_search"),
    "clone": ("no: threads and processes that a program makes without libc are not recorded", "docs/limits.md"),
    "dl_iterate_phdr": ("not needed: modules are noticed by their first event", "dlopen"),
    "dlopen": ("not needed: modules are noticed by their first event", "dlopen"),
    "pthread_exit": ("the end of a thread is noticed by a destructor of its own", "thread_exit"),
    "ptrace": ("no: what it copies belongs to another process that stands still", "docs/limits.md"),
    "posix_spawn": ("not needed: the child is another program", "spawn"),
    "posix_spawnp": ("not needed: the child is another program", "spawn"),
    "sem_unlink": ("not needed: it takes a name away that only strangers look up", "semaphore_named"),
    "strerror": ("not needed: its memory belongs to the thread", "libc_words"),
    "malloc_usable_size": ("not needed: the allocator is that of libc", "heap_new"),
    "__libc_memalign": ("not needed: the allocator is that of libc, and the loader calls it", "heap_new"),
    "__tls_get_addr": ("not needed: the memory of a thread is announced when it starts", "thread_local"),
    "fdopen": ("not needed: the descriptor is known, and stays the same", "stdio_pipe"),
    "listen": ("not needed: whoever connects comes before whoever accepts", "tcp"),
}
# ThreadSanitizer wraps these for the sake of other tools that share the code; its wrapper records nothing.
NOTHING = ("not needed: it touches nothing of the caller's that matters; ThreadSanitizer's wrapper records nothing either")
NOTHING_TO_DO = re.compile(
    r"__(w?overflow|w?uflow|w?underflow)|_obstack_.*|(end|set)(gr|pw)ent|set(v?buf|buffer|linebuf)|mcheck.*|mprobe|fmemopen"
    r"|open_w?memstream|__res_iclose|xdr(mem|rec|stdio)_create|xdr_destroy")
JUMPS = re.compile(r"_?_?(sig)?setjmp")
LOCKED = re.compile(r"munlock|munlockall|mlock")
ABSENT = re.compile(r"__isoc99_v?(f|s|sn)?printf")
GAMMA = re.compile(r"lgamma[fl]?")


def library(kind):
    for pattern in LIBRARIES[kind]:
        for path in sorted(glob.glob(pattern)):
            return path
    return None


def wrapped_by(path):
    """Names without the prefixes that both compilers give to their wrappers."""
    symbols = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^\S+ \w _{2,3}interceptor_(\w+)", symbols, re.MULTILINE)
    return {name for name in names if not name.startswith("trampoline_")}


def split_arguments(text):
    """Of a macro: at commas that stand in no parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += c in "({["
        depth -= c in ")}]"
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


def closing(text, at):
    """The index behind the parenthesis that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += text[i] == "("
        depth -= text[i] == ")"
        if depth == 0:
            return i + 1
    return len(text)


def accesses(text):
    """What `on.in(x)`, `on.text(x)`, `on.out(x)` ... say, in words."""
    words = {"reads": [], "writes": []}
    for method, at in ((m.group(1), m.end() - 1) for m in re.finditer(r"\bon\.(in|text|out|out_text|out_texts)\(", text)):
        what = split_arguments(text[at + 1:closing(text, at) - 1])[0].strip("&*")
        if not re.fullmatch(r"\w+", what):
            continue
        what = "its result" if what == "r" else f"`{what}`"
        row = words["writes" if method.startswith("out") else "reads"]
        if what not in row:
            row.append(what)
    return "; ".join(f"{verb} {', '.join(row)}" for verb, row in words.items() if row)


def wrappers(root):
    """{name: (file, family, words)} of all functions that runtime/ exports."""
    found = {}
    for path in sorted((root / "runtime").glob("*.cc")):
        text = path.read_text()
        families = [(m.start(), m.group(1), " ".join(m.group(2).split()).replace("// ", ""))
                    for m in re.finditer(r"^// Family (\w+): ((?:.*\n)(?:// .*\n)*)", text, re.MULTILINE)]
        macros = {}
        for m in re.finditer(r"^#define (SOOTH_\w+)\(([^)]*)\)((?:.*\\\n)*.*\n)", text, re.MULTILINE):
            macros[m.group(1)] = m.group(3)
        rows = [(m.start(), m.group(1), text[m.end():closing(text, m.end() - 1) - 1])
                for m in re.finditer(r"^(SOOTH_\w+)\(", text, re.MULTILINE)]
        rows += [(m.start(), "asm", m.group(1)) for m in re.finditer(r'\basm\("(\w+)"\)', text)]
        rows += [(m.start(), "asm", m.group(1))
                 for m in re.finditer(r"^SOOTH_(?:EXPORT|API) [\w* ]*?\b(\w+)\(", text, re.MULTILINE)]
        for at, macro, inside in rows:
            family = next((f for f in reversed(families) if f[0] < at), None)
            words = accesses(inside) or accesses(macros.get(macro, ""))
            if macro == "SOOTH_RWLOCK":  # makes three functions for each mode
                for how in ("", "timed", "clock"):
                    found[f"pthread_rwlock_{how}{split_arguments(inside)[0]}"] = (path.name, family, "")
            for argument in split_arguments(inside)[:4] if macro != "asm" else [inside]:
                if re.fullmatch(r"\w+", argument):
                    found.setdefault(argument, (path.name, family, words))
    return found


def programs(root):
    """{stem: names that are called} of the pairs."""
    found = {}
    for path in sorted((root / "tests" / "programs").glob("*.c*")):
        stem = re.sub(r"_(no)?(race|deadlock|misuse)$", "", path.stem)
        if "_plugin" not in path.name:
            found.setdefault(stem, set()).update(re.findall(r"(?<![\w.>])(\w+)\s*\(", path.read_text()))
    return found


def explain(name, known, pairs):
    """Whether it is seen, how, and the test."""
    calls = [stem for stem, called in pairs.items() if name in called]
    test = min(calls, key=lambda stem: (not stem.startswith("libc_"), len(stem), stem)) if calls else None
    if name in known:
        file, family, words = known[name]
        if family is not None:
            return "yes", words or family[2].rstrip("."), test or family[1]
        how, default = FILES[file]
        return "yes", words or how, test or default
    if name in OTHERWISE:
        how, default = OTHERWISE[name]
        return ("no" if how.startswith("no:") else "yes"), how.removeprefix("no: "), test or default
    if JUMPS.fullmatch(name):
        return "yes", "not needed: longjmp is wrapped, and frames that are gone are known by the stack pointer", test or "longjmp_stack"
    if LOCKED.fullmatch(name):
        return "yes", "not needed: memory stays as it is", test or "docs/limits.md"
    if ABSENT.fullmatch(name):
        return "yes", "not needed: glibc has no such function", "printf_arguments"
    if GAMMA.fullmatch(name):
        return "no", "signgam, which it writes, is not the caller's; every use of std::lgamma by two threads would be an alarm", "docs/from-tsan.md"
    if NOTHING_TO_DO.fullmatch(name):
        return "yes", NOTHING, test or "docs/from-tsan.md"
    return None


def names_of_table(text):
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \|", text, re.MULTILINE)
    return {kind: {name for name, where in rows if kind in where.split()} for kind in LIBRARIES}


def table(root, old):
    names = names_of_table(old)
    for kind in LIBRARIES:
        path = library(kind)
        if path:
            names[kind] = wrapped_by(path)
    known, pairs = wrappers(root), programs(root)
    missing, lines, seen = [], [], 0
    everything = sorted(set().union(*names.values()), key=lambda name: (name.lstrip("_"), name))
    for name in everything:
        answer = explain(name, known, pairs)
        if answer is None or not all(answer):
            missing.append(name)
            continue
        is_seen, how, test = answer
        seen += is_seen == "yes"
        where = " ".join(kind for kind in LIBRARIES if name in names[kind])
        if "/" not in test and test not in pairs:
            missing.append(f"{name} (no program {test})")
        test = f"[{test}](../{test})" if "/" in test else f"`{test}`"
        lines.append(f"| `{name}` | {where} | {is_seen} | {how} | {test.replace('../docs/', '')} |")
    head = [f"{len(everything)} functions, {len(names['gcc'])} of GCC 12's library and {len(names['clang'])} of clang 19's; "
            f"{seen} are seen, or need not be.", "", "| function | wrapped by | seen | how | shown by |", "|---|---|---|---|---|"]
    return "\n".join([*head, *lines]), missing


def flags(root):
    """The table of flags, from the two lists of the run time library."""
    runtime = root / "runtime"
    works = re.findall(r'^SOOTH_OPTION\((\w+), (\w+), (".*?"|\w+), "(.*)"\)', (runtime / "options.inc").read_text(), re.MULTILINE)
    others = (root / "src" / "launch" / "tsan_flags.inc").read_text()
    nothing = re.findall(r'^SOOTH_TSAN_FLAG\((\w+), "(.*)"\)', others, re.MULTILINE)
    commands = re.findall(r'^SOOTH_COMMAND_FLAG\((\w+), "(.*)"\)', others, re.MULTILINE)
    rows = [(name, f"works, `{default}` by default: {words}") for _, name, default, words in works if name not in OWN_OPTIONS]
    rows += [(name, f"works: {words}") for name, words in commands]
    rows += [(name, f"does nothing; {words}") for name, words in nothing]
    return "\n".join(["| flag | here |", "|---|---|", *(f"| `{name}` | {words} |" for name, words in sorted(rows))])


def with_part(text, begin, end, part):
    a, b = text.index(begin) + len(begin), text.index(end)
    return f"{text[:a]}\n{part}\n{text[b:]}"


def selftest():
    assert split_arguments("int, f, (int a, int b), (a, b), on.in(a)") == ["int", "f", "(int a, int b)", "(a, b)", "on.in(a)"]
    assert accesses("on.text(path), on.out(to, size(r)); on.out_text(r)") == "reads `path`; writes `to`, its result"
    assert names_of_table("| `read` | gcc clang | yes | x | y |") == {"gcc": {"read"}, "clang": {"read"}}
    assert explain("nobody_wraps_this", {}, {}) is None
    assert explain("f", {"f": ("wrap_io.cc", (0, "libc_x", "reads it."), "")}, {}) == ("yes", "reads it", "libc_x")
    assert with_part("a<b>x<e>c", "<b>", "<e>", "y") == "a<b>\ny\n<e>c"
    print("ok")


def main():
    arguments = sys.argv[1:]
    if "--selftest" in arguments:
        return selftest()
    roots = [a for a in arguments if not a.startswith("--")]
    root = pathlib.Path(roots[0] if roots else pathlib.Path(__file__).resolve().parent.parent)
    page = root / "docs" / "from-tsan.md"
    text = page.read_text()
    new, missing = table(root, text)
    if missing:
        sys.exit("neither wrapped nor explained: " + ", ".join(missing))
    if "--missing" in arguments:
        return None
    wanted = with_part(with_part(text, BEGIN, END, new), *FLAGS, flags(root))
    if "--update" in arguments:
        page.write_text(wanted)
    elif text != wanted:
        sys.exit("docs/from-tsan.md is out of date: run tools/tsan_functions.py --update")
    return None


if __name__ == "__main__":
    main()
