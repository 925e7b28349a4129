#!/usr/bin/env python3
"""`sooth help` and `--help`: the same text, with usage line and examples, and in lines that fit the terminal.

    tests/cli/help.py SOOTH
"""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios


def in_pipe(sooth, *words):
    return subprocess.run([sooth, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout


def on_terminal(sooth, width, *words):
    """What a terminal of that width shows."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    text = b""
    # Our end of the terminal's other side stays open: a kernel may drop what was written just before the last one closes.
    with subprocess.Popen([sooth, *words], stdin=subprocess.DEVNULL, stdout=slave) as process:
        over = False
        while True:
            if select.select([master], [], [], 0.02)[0]:
                text += os.read(master, 65536)
            elif over:
                break
            else:
                over = process.poll() is not None  # and what it wrote last can be read by now
    os.close(slave)
    os.close(master)
    return text.decode().replace("\r\n", "\n")


def commands(sooth):
    """The paths of all commands, [] for the tool itself."""
    page = in_pipe(sooth, "reference")
    return [[]] + [line.split()[2:] for line in page.splitlines() if line.startswith("## sooth ")]


def too_long(text, width):
    """Lines that do not fit, but for those that are there to be copied and words that are longer than a line."""
    return [line for line in text.splitlines() if len(line) > width and line.strip().count(" ") > 0 and not re.match(r"  (sooth|cmake|make|CC=)", line)]


def main(sooth):
    failed = 0
    paths = commands(sooth)
    for path in paths:
        name = " ".join(["sooth", *path])
        text = in_pipe(sooth, *path, "--help")
        faults = []
        if text != in_pipe(sooth, "help", *path):
            faults.append("`sooth help` says something else than --help")
        if f"\nUsage: {name} " not in text:
            faults.append("no usage line")
        if "\nExamples:\n" not in text:
            faults.append("no examples")
        if path and path[0] in ("run", "record", "confirm", "test", "explore", "replay", "analyze") and "-- PROGRAM" not in re.search(r"Usage: .*?\n\n", text, flags=re.S)[0]:
            faults.append("no `-- PROGRAM` in the usage line")
        faults += [f"longer than 80: {line}" for line in too_long(text, 80)]
        for width in (60, 100):
            shown = on_terminal(sooth, width, *path, "--help")
            if shown.split() != text.split():
                faults.append(f"other words at width {width}")
            faults += [f"longer than {width}: {line}" for line in too_long(shown, width)]
        if len(on_terminal(sooth, 120, *path, "--help").splitlines()) > len(text.splitlines()):
            faults.append("more lines on a wide terminal than on a narrow one")
        for fault in faults:
            failed += 1
            print(f"{name} --help: {fault}")
    print(f"{len(paths)} pages of help, {failed} faults")
    return 1 if failed or len(paths) < 20 else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
