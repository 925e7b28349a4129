#!/usr/bin/env python3
"""Fails when an #include goes against the table of folders.

    tools/check_layers.py [ROOT]      checks the tree at ROOT (default: the tree this file is in)
    tools/check_layers.py --print     prints the table as it must stand in CONTRIBUTING.md
    tools/check_layers.py --draw      prints the drawing as it must stand in docs/architecture.md
    tools/check_layers.py --selftest  checks that every rule rejects a tree that breaks it

The table below is the only place where the rules are stated; CONTRIBUTING.md shows it to people, and a difference between the
two is an error as well. The drawing of docs/architecture.md is made from it, too.
"""
import os
import re
import sys

import tree_check

# Folder of src/ -> (what is in it, the folders it may include). The relation is transitive.
LAYERS = {
    "base": ("Status, Result, strong ids, containers", []),
    "trace": ("events, the trace format, readers, writers, validator", ["base"]),
    "race": ("site pairs, findings, witnesses", ["trace"]),
    "order": ("vector clocks, epochs, lock sets", ["trace"]),
    "filter": ("one file per filter", ["trace", "order"]),
    "detect": ("one file per detector", ["race", "order"]),
    "smt": ("the solver behind one class", ["base"]),
    "predict": ("closure, encodings, lock histories", ["race", "order", "smt"]),
    "schedule": ("strategies: pure functions of seed and enabled set", ["race"]),
    "symbol": ("addresses to functions, files, lines", ["trace"]),
    "deep": ("the code of programs built with --deep", ["symbol"]),
    "recipe": ("executes that code again with symbols for values, and predicts from it", ["deep", "predict"]),
    "launch": ("starts a program under the run time library", ["schedule", "symbol"]),
    "confirm": ("runs the program again, to make findings happen", ["launch"]),
    "report": ("suppressions, fingerprints, one file per format", ["race", "symbol"]),
    "pipeline": ("the tables of analyses, chains of them", ["filter", "detect", "predict", "recipe"]),
    "run": ("the stages that commands share, and all of them in a row", ["pipeline", "confirm", "report"]),
    "cli": ("main.cc and one file per subcommand", ["run"]),
    "instrument": ("the LLVM pass, a target of its own", ["trace"]),
    "oracle": ("slow, obviously right versions; only tests link it", ["race", "order"]),
}

# Folder of src/ -> its rooms: room -> (what is in it, the rooms of the same folder it may include). "" is the folder itself, whose
# files say what all rooms share or, where they have a row with rooms, put them together. The relation is transitive; other
# folders include any room of those that they may include.
ROOMS = {
    "trace": {
        "": ("events, batches of them, tables of names, the interfaces of readers and writers", []),
        "format": ("our trace directory, byte by byte", [""]),
        "text": ("STD text", [""]),
        "check": ("what makes a trace well-formed", ["text"]),
        "recording": ("what recorded programs leave behind", ["format", "check"]),
        "tools": ("what can be done with any trace: open, copy, count, drop, generate", ["recording"]),
    },
    "recipe": {
        "witness": ("witnesses with values, and the memory they start from", []),
        "execute": ("executes threads again along their recorded path, with symbols for values", []),
        "detour": ("... and along branches that they did not take", ["execute", "witness"]),
        "formula": ("orders and values as a formula, and its solutions", ["execute", "witness"]),
        "judge": ("executes witnesses with concrete values; shares no code with the rooms above", ["witness"]),
        "opaque": ("calls of code that is not recorded, and the memory they reach", ["judge"]),
        "": ("the predictor: candidates, questions, answers", ["detour", "formula"]),
    },
}

# What a file named *_test.cc may include besides: these folders with all they may include, and these headers.
TEST_FOLDERS = ["oracle"]
TEST_HEADERS = ["trace/memory_trace.h"]

# All that the run time library shares with src/: it lives inside the user's program, without libstdc++. These headers
# may include one another and nothing else of src/.
RUNTIME_HEADERS = ["trace/op.h", "trace/openmp_messages.h", "trace/unsafe_calls.h", "trace/versions.h", "trace/recording/stream_format.h", "trace/recording/deep_format.h", "filter/context_rules.h", "filter/location_set.h",
                   "schedule/random.h", "schedule/reads_from.h", "schedule/strategy.h", "schedule/directed.h", "schedule/follow.h", "schedule/early_ends.h", "schedule/spin.h", "schedule/weak_memory.h", "schedule/protocol.h",
                   "launch/tsan_flags.inc"]

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
SOURCE_SUFFIXES = (".h", ".cc", ".c", ".cpp", ".inc", ".h.in")
TABLE_BEGIN, TABLE_END = "<!-- layers -->", "<!-- /layers -->"

# Documents that show the table, and how.
DOCUMENTS = {"CONTRIBUTING.md": ("the table of folders", "--print"), "docs/architecture.md": ("the drawing of the layers", "--draw")}


def reachable(folder):
    """The folders that `folder` may include, with itself. Raises ValueError when the table has a cycle or a gap."""
    seen, path = set(), []

    def visit(name):
        if name in path:
            raise ValueError("the table has a cycle: " + " -> ".join(path + [name]))
        if name not in LAYERS:
            raise ValueError(f"the table names {name}/ but has no row for it")
        path.append(name)
        for other in LAYERS[name][1]:
            visit(other)
        path.pop()
        seen.add(name)

    visit(folder)
    return seen


def room_of(path):
    """The room of a path relative to src/: `trace/text/std_lines.h` is in `text`, `trace/event.h` in the folder itself."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else ""


def reachable_rooms(folder, room):
    """As reachable(), for the rooms of a folder."""
    rooms, seen, path = ROOMS[folder], set(), []

    def visit(name):
        if name in path:
            raise ValueError(f"the rooms of {folder}/ have a cycle: " + " -> ".join(path + [name]))
        if name not in rooms:
            raise ValueError(f"the rooms of {folder}/ name {name}/ but have no row for it")
        path.append(name)
        for other in rooms[name][1]:
            visit(other)
        path.pop()
        seen.add(name)

    visit(room)
    return seen


def check_rooms(root, path, errors):
    """A file of a folder with rooms, and what it includes of its own folder. Tests and what only they use may look anywhere."""
    folder, room = path.split("/")[1], room_of(path.removeprefix("src/"))
    if folder not in ROOMS:
        return
    if room not in ROOMS[folder]:
        errors.append(f"{path}: {folder}/{room}/ has no row in ROOMS of tools/check_layers.py")
        return
    if path.endswith(("_test.cc", "_testing.cc", "_testing.h")):
        return
    allowed = reachable_rooms(folder, room)
    for number, quoted, target in includes(root, path):
        if quoted and target.startswith(folder + "/") and room_of(target) not in allowed:
            errors.append(f"{path}:{number}: {folder}/{room} may not include {target}; of {folder}/ it may include "
                          f"{', '.join(sorted(r or 'the folder itself' for r in allowed))}")


def sources(root, top):
    """Paths of the C and C++ files under root/top, relative to root, sorted."""
    found = []
    for folder, _, names in os.walk(os.path.join(root, top)):
        found += [os.path.relpath(os.path.join(folder, n), root) for n in names if n.endswith(SOURCE_SUFFIXES)]
    return sorted(found)


def includes(root, path):
    """(line number, is it in quotes, what is included) for each #include of the file."""
    with open(os.path.join(root, path), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if match := INCLUDE.match(line):
                yield number, match[1] == '"', match[2]


def check_source(root, path, errors):
    """A file of src/FOLDER/."""
    folder = path.split("/")[1]
    allowed = reachable(folder)
    is_test = path.endswith("_test.cc")
    if is_test:
        allowed = allowed.union(*(reachable(f) for f in TEST_FOLDERS))
    shared_with_runtime = path.removeprefix("src/") in RUNTIME_HEADERS
    for number, quoted, target in includes(root, path):
        where, other = f"{path}:{number}", target.split("/")[0]
        if other not in LAYERS or "/" not in target:
            if quoted and other != "sooth":
                errors.append(f'{where}: "{target}" does not start with a folder of src/; write "{folder}/..."')
        elif shared_with_runtime and target not in RUNTIME_HEADERS:
            errors.append(f"{where}: the run time library includes this header, so it may include only "
                          f"{', '.join(RUNTIME_HEADERS)}, not {target}")
        elif other not in allowed and not (is_test and target in TEST_HEADERS):
            errors.append(f"{where}: {folder}/ may not include {other}/ ({target}); it may include "
                          f"{', '.join(sorted(allowed - {folder})) or 'nothing'}")


def check_runtime(root, path, errors):
    """A file of runtime/."""
    for number, _, target in includes(root, path):
        if target.split("/")[0] in LAYERS and "/" in target and target not in RUNTIME_HEADERS:
            errors.append(f"{path}:{number}: runtime/ may include only {', '.join(RUNTIME_HEADERS)} of src/, not {target}")


def table_lines():
    rows = ["| folder | what is in it | may include |", "|---|---|---|"]
    for name, (what, others) in LAYERS.items():
        rows.append(f"| `src/{name}/` | {what} | {' '.join(others) or 'nothing'} |")
        for room, (inside, neighbours) in ROOMS.get(name, {}).items():
            if room:
                rows.append(f"| `src/{name}/{room}/` | {inside} | {' '.join(f'{name}/{n}' if n else name for n in neighbours) or 'as the folder'} |")
    return rows


def heights():
    """Folder -> how many steps it stands above `base`, which includes nothing."""
    found = {}

    def height(name):
        if name not in found:
            found[name] = 1 + max((height(other) for other in LAYERS[name][1]), default=-1)
        return found[name]

    for name in LAYERS:
        height(name)
    return found


def drawing_lines():
    """The folders, the lowest at the bottom; an arrow from each to those that its row names."""
    standing, rows = heights(), ["```mermaid", "flowchart TD"]
    for level in sorted(set(standing.values()), reverse=True):
        rows += [f'    {name}["{name}: {LAYERS[name][0]}"]' for name in LAYERS if standing[name] == level]
    rows += [f"    {name} --> {other}" for name, (_, others) in LAYERS.items() for other in others]
    return rows + ["```"]


def check_document(root, path, errors):
    what, option = DOCUMENTS[path]
    try:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        errors.append(f"{path}: {error.strerror}")
        return
    if TABLE_BEGIN not in text or TABLE_END not in text:
        errors.append(f"{path}: nothing between {TABLE_BEGIN} and {TABLE_END}")
        return
    shown = text.split(TABLE_BEGIN)[1].split(TABLE_END)[0].strip().splitlines()
    if shown != (table_lines() if option == "--print" else drawing_lines()):
        errors.append(f"{path}: {what} is not the one of tools/check_layers.py; paste what `tools/check_layers.py {option}` prints")


def check_tree(root):
    """The sentences that say what is wrong with the tree; none when all is well."""
    errors = []
    checked = 0
    for path in sources(root, "src"):
        parts = path.split("/")
        if len(parts) < 3 or parts[1] not in LAYERS:
            errors.append(f"{path}: {'src/' if len(parts) < 3 else '/'.join(parts[:2]) + '/'} has no row in the table of "
                          "tools/check_layers.py")
            continue
        check_source(root, path, errors)
        check_rooms(root, path, errors)
        checked += 1
    for path in sources(root, "runtime"):
        check_runtime(root, path, errors)
        checked += 1
    if checked == 0:
        errors.append(f"{root}: no source files to check")
    for path in DOCUMENTS:
        check_document(root, path, errors)
    return errors, checked


# Each case: files of a tree that is fine but for them, and a piece of the error they must lead to (None: no error).
SELFTEST = [
    ({"src/order/a.cc": '#include "trace/event.h"\n#include "base/ids.h"\n#include <vector>\n'}, None),
    ({"src/detect/a.cc": '#include "base/ids.h"\n'}, None),
    ({"src/trace/a.cc": '#include "race/finding.h"\n'}, "src/trace/a.cc:1: trace/ may not include race/"),
    ({"src/trace/a.cc": "\n#  include <race/finding.h>\n"}, "src/trace/a.cc:2: trace/ may not include race/"),
    ({"src/report/a.h": '#include "detect/detector.h"\n'}, "report/ may not include detect/"),
    ({"src/trace/text/a.h": '#include "trace/event.h"\n'}, None),
    ({"src/trace/recording/a.h": '#include "trace/text/std_syntax.h"\n'}, None),
    ({"src/trace/text/a.h": '#include "trace/recording/recording_reader.h"\n'}, "trace/text may not include trace/recording"),
    ({"src/trace/text/a_test.cc": '#include "trace/recording/recording_reader.h"\n'}, None),
    ({"src/recipe/judge/a.cc": '#include "recipe/formula/model.h"\n'}, "recipe/judge may not include recipe/formula"),
    ({"src/race/a.cc": '#include "trace/text/std_syntax.h"\n'}, None),
    ({"src/trace/cellar/a.cc": "\n"}, "trace/cellar/ has no row in ROOMS"),
    ({"src/detect/deep/a.h": '#include "filter/filter.h"\n'}, "detect/ may not include filter/"),
    ({"src/base/a.cc": '#include "trace/event.h"\n'}, "it may include nothing"),
    ({"src/detect/a.cc": '#include "oracle/hb.h"\n'}, "detect/ may not include oracle/"),
    ({"src/cli/a.cc": '#include "oracle/hb.h"\n'}, "cli/ may not include oracle/"),
    ({"src/detect/a_test.cc": '#include "oracle/hb.h"\n#include "trace/memory_trace.h"\n'}, None),
    ({"src/base/a_test.cc": '#include "trace/memory_trace.h"\n'}, None),
    ({"src/detect/a_test.cc": '#include "pipeline/registry.h"\n'}, "detect/ may not include pipeline/"),
    ({"src/trace/a.cc": '#include "event.h"\n'}, '"event.h" does not start with a folder'),
    ({"src/other/a.cc": "\n"}, "src/other/ has no row"),
    ({"src/a.cc": "\n"}, "src/a.cc: src/ has no row"),
    ({"runtime/a.cc": '#include "trace/op.h"\n#include "runtime/hooks.h"\n'}, None),
    ({"runtime/a.cc": '#include "trace/event.h"\n'}, "runtime/ may include only"),
    ({"src/schedule/strategy.h": '#include "trace/op.h"\n#include <stdint.h>\n'}, None),
    ({"src/schedule/protocol.h": '#include "race/pair_table.h"\n'}, "the run time library includes this header"),
    ({"CONTRIBUTING.md": f"{TABLE_BEGIN}\n| folder |\n{TABLE_END}\n"}, "the table of folders is not the one"),
    ({"CONTRIBUTING.md": "nothing\n"}, "nothing between"),
    ({"docs/architecture.md": f"{TABLE_BEGIN}\nflowchart TD\n{TABLE_END}\n"}, "the drawing of the layers is not the one"),
    ({"docs/architecture.md": None}, "docs/architecture.md: "),
    ({"src/base/ok.cc": None}, "no source files to check"),
]


def rejects_a_cycle():
    LAYERS["base"][1].append("cli")
    try:
        reachable("cli")
    except ValueError:
        return True
    finally:
        LAYERS["base"][1].remove("cli")
    print("selftest: a table with a cycle passed", file=sys.stderr)
    return False


def main(arguments):
    if arguments == ["--selftest"]:
        base = {"CONTRIBUTING.md": "\n".join([TABLE_BEGIN, *table_lines(), TABLE_END, ""]),
                "docs/architecture.md": "\n".join([TABLE_BEGIN, *drawing_lines(), TABLE_END, ""]), "src/base/ok.cc": "\n"}
        return tree_check.selftest(check_tree, base, SELFTEST, [rejects_a_cycle()])
    if arguments in (["--print"], ["--draw"]):
        print("\n".join(table_lines() if arguments == ["--print"] else drawing_lines()))
        return 0
    return tree_check.main(check_tree, arguments, __doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
