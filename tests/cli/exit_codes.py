#!/usr/bin/env python3
"""The conventions of docs/command-line.md that hold for every command: exit codes, and errors as one sentence.

    tests/cli/exit_codes.py SOOTH
"""
import os
import re
import subprocess
import sys

# Arguments, exit status, and what standard output and standard error must match from start to end ("" = nothing).
CASES = [
    (["--version"], 0, r"sooth \d+\.\d+\.\d+\n", r""),
    (["--help"], 0, r"(?s).*Exit status.*analyze.*report.*trace.*", r""),
    (["analyze", "--help"], 0, r"(?s).+", r""),
    (["help"], 0, r"(?s).*analyze.*report.*trace.*", r""),
    (["trace", "--help"], 0, r"(?s).+", r""),
    (["report", "--help"], 0, r"(?s).+", r""),
    (["witness", "--help"], 0, r"(?s).+", r""),
    (["record", "--help"], 0, r"(?s).+-- PROGRAM ARGUMENTS.+", r""),
    (["cc", "--help"], 0, r"(?s).+SOOTH_CC.+", r""),
    (["c++", "--help"], 0, r"(?s).+SOOTH_CXX.+", r""),
    (["record"], 64, r"", r"sooth: record needs a program: .+\n"),
    (["witness", "check", "--help"], 0, r"(?s).+", r""),
    (["cc", "--compiler=clang", "--help"], 0, r"(?s).+SOOTH_CC.+", r""),
    (["cc", "--launch"], 64, r"", r"sooth: --compiler and --launch need the name of a compiler\n"),
    (["c++", "--print-command", "--launch", "ccache", "g++", "-c", "x.cc"], 0, r"ccache g\+\+ -g -fsanitize=thread .*-c x.cc\n", r""),
    (["reference"], 0, r"(?s)# Commands.+", r""),
    (["reference", "--format", "man", "no-such-command"], 64, r"", r"sooth: there is no command `sooth no-such-command`\n"),
    (["witness", "check"], 64, r"", r"sooth: .+\n"),
    ([], 64, r"", r"sooth: `sooth` needs a command\. Try `sooth --help`\.\n"),
    (["trace"], 64, r"", r"sooth: `sooth trace` needs a command\. Try `sooth trace --help`\.\n"),
    (["no-such-command"], 64, r"", r"sooth: there is no command `sooth no-such-command`\. Try `sooth --help`\.\n"),
    (["trace", "nonsense"], 64, r"", r"sooth: there is no command `sooth trace nonsense`\. Try `sooth trace --help`\.\n"),
    (["--no-such-option"], 64, r"", r"sooth: `sooth` has no option `--no-such-option`\. Try `sooth --help`\.\n"),
    (["analyze", "--no-such-option"], 64, r"", r"sooth: .*--no-such-option.* Try `sooth analyze --help`\.\n"),
    (["rnu"], 64, r"", r"sooth: there is no command `sooth rnu`\. Did you mean `run`\? Try `sooth --help`\.\n"),
    (["trace", "ifno"], 64, r"", r"sooth: there is no command `sooth trace ifno`\. Did you mean `info`\? Try `sooth trace --help`\.\n"),
    (["help", "rnu"], 64, r"", r"sooth: there is no command `sooth rnu`\. Did you mean `run`\? Try `sooth --help`\.\n"),
    (["help", "trace", "ifno"], 64, r"", r"sooth: there is no command `sooth trace ifno`\. Did you mean `info`\? Try `sooth trace --help`\.\n"),
    (["run", "--fromat=json", "--", "x"], 64, r"", r"sooth: `sooth run` has no option `--fromat`\. Did you mean `--format`\? Try `sooth run --help`\.\n"),
    (["analyze", "--jbos", "2"], 64, r"", r"sooth: `sooth analyze` has no option `--jbos`\. Did you mean `--jobs`\? Try `sooth analyze --help`\.\n"),
    (["analyze", "x", "--format", "jsn"], 64, r"", r"sooth: --format: there is no value `jsn`; there are: text, .+ Did you mean `json`\? Try .+\n"),
    (["analyze", "x", "--with", "hb,wpc"], 64, r"", r"sooth: there is no analysis `wpc`; there are: hb, .+\. Did you mean `wcp`\?\n"),
    (["analyze", "x", "--schedule", "serail"], 64, r"", r"sooth: .+ Did you mean `serial`\? Try `sooth analyze --help`\.\n"),
    (["test", "--strategy", "randmo", "--", "x"], 64, r"", r"sooth: .+ Did you mean `random`\? Try `sooth test --help`\.\n"),
    (["report", "a", "b"], 64, r"", r"sooth: `sooth report` does not know what to do with `b`\. Try `sooth report --help`\.\n"),
    (["analyze", "trace.std", "-o", ""], 64, r"", r"sooth: --output: needs the name of a file\..+\n"),
    (["analyze", "trace.std", "--filter", "tree", "--with", "hb,wcp"], 64, r"",
     r"sooth: --filter tree would change the pairs that hb reports; use --filter tree:strict\n"),
    (["analyze", "trace.std", "--filter", "no-such-filter"], 64, r"", r"sooth: there is no filter `no-such-filter`; there are: tree, .+\n"),
    (["analyze", "trace.std", "--filter", "tree", "--tree-locations", "1", "--with", "hybrid"], 64, r"",
     r"sooth: --tree-locations needs at least 2\n"),
    (["analyze", "trace.std", "--tree-always", "--with", "hybrid"], 64, r"", r"sooth: --tree-always is for a filter \(--filter tree\)\n"),
    (["analyze", "trace.std", "--window", "0"], 64, r"", r"sooth: --window needs at least one event\n"),
    (["analyze", "trace.std", "--window", "many"], 64, r"", r"sooth: .*--window.+\n"),
]

# Commands that print something: into a full disk they cannot, and say so.
PRINTING = [["--version"], ["--help"], ["reference"], ["analyze", "--list"], ["analyze", "-"], ["trace", "info", os.devnull],
            ["trace", "check", os.devnull]]


def check_full_disk(sooth):
    failed = 0
    for arguments in PRINTING:
        with open("/dev/full", "w", encoding="utf-8") as full:
            run = subprocess.run([sooth, *arguments], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                                 text=True, check=False)
        if run.returncode != 70 or not re.fullmatch(r"sooth: .*standard output.*\n", run.stderr):
            failed += 1
            print(f"`sooth {' '.join(arguments)} >/dev/full`: status {run.returncode}, errors {run.stderr!r}")
    return failed


def main(sooth):
    failed = check_full_disk(sooth)
    for arguments, status, output, errors in CASES:
        run = subprocess.run([sooth, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if (run.returncode == status and re.fullmatch(output, run.stdout) and re.fullmatch(errors, run.stderr)):
            continue
        failed += 1
        print(f"`sooth {' '.join(arguments)}`: expected status {status}, output /{output}/, errors /{errors}/\n"
              f"  got status {run.returncode}, output {run.stdout!r}, errors {run.stderr!r}")
    print(f"{len(CASES) + len(PRINTING) - failed} of {len(CASES) + len(PRINTING)} cases as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
