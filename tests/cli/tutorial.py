#!/usr/bin/env python3
"""README.md, docs/tutorial.md and other pages that show commands, as they stand: writes their files, types their commands, and compares what they
print with what the pages show.

    tests/cli/tutorial.py SOOTH [--print]      --print shows what the commands print, for whoever changes the page

A block in a fence is a file, named by the line in front of it (`orders.cc`:). In a block that is indented, `$ ` begins a command; the lines behind it must be in its output, in this order; `...` stands for any lines, at the end of a line for its rest. What differs from
machine to machine counts as equal: fingerprints, addresses, times, folders. `status N` behind a command, in a comment (# status 66), is its exit status; without it 0.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from test_loop import SOURCE

# Page -> how many commands it has at least, and what is typed before without standing there. The examples that they name are there.
PAGES = {
    "docs/tutorial.md": (6, []),
    "README.md": (2, []),
    "docs/command-line.md": (2, []),
    "docs/editors.md": (1, ["cp $EXAMPLES/bank_account_hidden.cc account.cc", "sooth c++ -O1 account.cc -o account"]),
    "docs/explore.md": (1, []),
    "docs/weak-memory.md": (1, []),
    "docs/atomicity.md": (2, ["cp $EXAMPLES/../tests/atomicity/bank_transfer.cc ."]),
    "docs/examples.md": (3, ["mkdir examples && cp $EXAMPLES/textbook.cc examples"]),
    "docs/confirm.md": (3, ["sooth c++ -O1 $EXAMPLES/textbook.cc -o server"]),
    "docs/witnesses.md": (2, ["cp $EXAMPLES/../tests/witness/trace.std ."]),
    "docs/trace-tools.md": (3, []),
    "docs/tree.md": (3, ["cp $EXAMPLES/traces/bank_account_race.std run.std", "sooth c++ -O1 $EXAMPLES/textbook.cc -o server"]),
}
NAMED = re.compile(r"\[([0-9a-f]{16})\]")  # the fingerprint of a finding


def blocks(text):
    """('file', name, content) and ('command', line, status, expected lines), in the order of the page."""
    lines = text.splitlines()
    i = 0
    while i < len(lines):
        name = re.fullmatch(r"`([\w.]+)`:", lines[i])
        if name:
            begin = next(k for k in range(i, len(lines)) if lines[k].startswith("```")) + 1
            end = next(k for k in range(begin, len(lines)) if lines[k] == "```")
            yield "file", name[1], "\n".join(lines[begin:end]) + "\n"
            i = end
        elif lines[i].startswith("    $ "):
            command, _, status = lines[i][6:].partition("# status ")
            expected = []
            while i + 1 < len(lines) and lines[i + 1].startswith("    ") and not lines[i + 1].startswith("    $ "):
                i += 1
                expected.append(lines[i][4:])
            yield "command", command.strip(), int(status or 0), expected
        i += 1


def same(line):
    """Without what is another thing on another machine."""
    line = re.sub(r"\b[0-9a-f]{16}\b", "ID", line)
    line = re.sub(r"0x[0-9a-f]+", "ADDRESS", line)
    line = re.sub(r"(?:/[\w.+-]+)+/(?=[\w.+-]+)", "", line)
    line = re.sub(r"\b\d+(\.\d+)? m?s\b", "TIME", line)
    return line.rstrip()


def compare(expected, output, controlled):
    """The first expected line that does not come; None when all do. What a program with a race prints is up to the operating system,
    unless sooth started it: then only the words are compared."""
    def plain(line):
        return same(line) if controlled else re.sub(r"\d+", "N", same(line))
    lines = [plain(line) for line in output.splitlines()]
    at = 0
    skips = True  # the first line may come behind others
    for line in expected:
        if line.strip() == "...":
            skips = True
            continue
        wanted = plain(line)
        cut = wanted.endswith(" ...")

        def fits(text, wanted=wanted, cut=cut):
            return text.startswith(wanted[:-4]) if cut else text == wanted
        place = next((k for k in range(at, len(lines)) if fits(lines[k])), None) if skips else at
        if place is None or place >= len(lines) or not fits(lines[place]):
            return line
        at, skips = place + 1, False
    return None


def check(sooth, name, shows):
    """Whether the page is as it stands; says what is not."""
    ids = {}  # of the page -> of this machine
    count = 0
    with open(os.path.join(SOURCE, name)) as file:
        page = file.read()
    with tempfile.TemporaryDirectory(prefix="sooth-tutorial-") as folder:
        environment = dict(os.environ, PATH=os.path.dirname(sooth) + ":" + os.environ["PATH"], TMPDIR=folder)
        for example in set(re.findall(r"\b\w+\.cc\b", page)):
            if os.path.exists(os.path.join(SOURCE, "examples", example)):
                shutil.copy(os.path.join(SOURCE, "examples", example), folder)
        for line in PAGES[name][1]:
            subprocess.run(["bash", "-c", line], cwd=folder, env=dict(environment, EXAMPLES=os.path.join(SOURCE, "examples")), check=True)
        for block in blocks(page):
            if block[0] == "file":
                with open(os.path.join(folder, block[1]), "w") as file:
                    file.write(block[2])
                continue
            _, command, status, expected = block
            typed = re.sub(r"\b[0-9a-f]{16}\b", lambda match: ids.get(match[0], match[0]), command)
            done = subprocess.run(["bash", "-c", typed], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
            count += 1
            if shows:
                print(f"$ {typed}  # {done.returncode}\n{done.stdout}")
            else:
                if done.returncode != status:
                    print(f"`{typed}` ended with {done.returncode}, not {status}:\n{done.stdout}")
                    return False
                missing = compare(expected, done.stdout, typed.startswith("sooth "))
                if missing is not None:
                    print(f"`{typed}` does not print\n    {missing}\nbut\n{done.stdout}")
                    return False
            for theirs in filter(NAMED.search, expected):
                ours = next((line for line in done.stdout.splitlines() if same(line) == same(theirs)), None)
                if ours is not None:
                    ids[NAMED.search(theirs)[1]] = NAMED.search(ours)[1]
    print(f"{count} commands of {name} are as they stand")
    return count >= PAGES[name][0]


def main():
    return 0 if all([check(os.path.abspath(sys.argv[1]), name, "--print" in sys.argv) for name in PAGES]) else 1


if __name__ == "__main__":
    sys.exit(main())
