#!/usr/bin/env python3
"""`--format gcc` in editors: every line with a source file is read by vim's error format and by the pattern of GCC problem matchers, and
no other one is. Neovim shows what its recipe promises, and Emacs knows the places by itself.

    tests/integration/editors.py SOOTH
"""
import functools
import json
import os
import pathlib
import re
import sys
import tempfile

from common import SOURCE, check, main, run, skip_without, with_tool

SOOTH = os.path.abspath(sys.argv[1])
ENVIRONMENT = with_tool(os.path.dirname(SOOTH))

# docs/editors.md holds both; what users copy from there is what is tested.
with open(os.path.join(SOURCE, "docs/editors.md")) as page:
    TEXT = page.read()
MATCHER = re.compile(json.loads("{" + re.search(r'^ *("regexp": ".*"),$', TEXT, flags=re.M).group(1) + "}")["regexp"])
ERROR_FORMAT = re.search(r"^ *(set errorformat=.*)$", TEXT, flags=re.M).group(1)
NEOVIM = re.search(r"^    vim\.api.*?^    end, .*?$", TEXT, flags=re.M | re.S).group(0)


@functools.cache
def report():
    """Of a program with several races: what `--format gcc` makes of it, and the JSON report."""
    with tempfile.TemporaryDirectory() as scratch:
        run(["sooth", "c++", "-O1", f"{SOURCE}/examples/producer_consumer.cc", "-o", "program"], cwd=scratch, env=ENVIRONMENT)
        run(["sooth", "run", "--trials", "3", "--store", "report.json", "--format", "gcc", "-o", "problems", "--", "./program"], cwd=scratch,
            env=ENVIRONMENT, expect=66)
        return tuple((name, pathlib.Path(scratch, name).read_text()) for name in ("problems", "report.json"))


def make_report(scratch):
    """The lines of the report, whose files are in `scratch` then, and what JSON says of the same."""
    for name, text in report():
        pathlib.Path(scratch, name).write_text(text)
    (_, problems), (_, stored) = report()
    lines, findings = problems.splitlines(), json.loads(stored)["findings"]
    check(len(findings) >= 1 and len(lines) >= 3 * len(findings), f"too few lines: {lines}")
    # The place of a finding is that of the access that came last.
    places = [(site["file"], site["line"], site["column"]) for site in (finding["accesses"][-1]["site"] for finding in findings)]
    return lines, places


def has_file(line):
    """Where something in a library without debug information has made a thread or a lock, there is no line to jump to."""
    return not line.startswith("sooth: note: ")


def problem_matcher(scratch):
    lines, places = make_report(scratch)
    found = []
    for line in lines:
        match = MATCHER.match(line)
        check((match is not None) == has_file(line), f"the pattern makes {match} of {line!r}")
        if match is None:
            continue
        path, row, column, severity, message = match.groups()
        check(os.path.isfile(os.path.join(scratch, path)) and message, f"{line!r} becomes {match.groups()}")
        if severity != "note":
            check(message.endswith("[sooth-race]"), f"{line!r} becomes {match.groups()}")
            found.append((path, int(row), int(column)))
    check(sorted(found) == sorted(places), f"{found} is not {places}")


def vim(scratch):
    skip_without("vim")
    lines, places = make_report(scratch)
    script = os.path.join(scratch, "read.vim")
    with open(script, "w") as file:
        file.write(ERROR_FORMAT + "\ncgetfile problems\n"
                   "call writefile([json_encode(map(getqflist(), {_, e -> [e.valid, bufname(e.bufnr), e.lnum, e.col, e.type]}))], 'read')\nqall!\n")
    run(["vim", "-u", "NONE", "-es", "-N", "-S", script], cwd=scratch, env=dict(ENVIRONMENT, TERM="dumb"), expect=None)
    with open(os.path.join(scratch, "read")) as file:
        entries = json.load(file)
    check([entry[0] == 1 for entry in entries] == [has_file(line) for line in lines], f"vim makes {entries} of {lines}")
    found = [(path, row, column) for _, path, row, column, kind in entries if kind in ("w", "e")]
    check(in_folder(scratch, found) == in_folder(scratch, places), f"{found} is not {places}")


def in_folder(folder, places):
    return sorted((os.path.abspath(os.path.join(folder, path)), row, column) for path, row, column in places)


def neovim(scratch):
    skip_without("nvim")
    lines, places = make_report(scratch)
    with open(os.path.join(scratch, "init.lua"), "w") as file:
        file.write(NEOVIM + """
vim.cmd('Sooth report.json')
local shown = vim.tbl_map(function(d) return { vim.api.nvim_buf_get_name(d.bufnr), d.lnum + 1, d.col + 1, d.severity } end, vim.diagnostic.get())
vim.fn.writefile({ vim.fn.json_encode({ shown, #vim.fn.getqflist() }) }, 'read')
vim.cmd('qall!')
""")
    run(["nvim", "--headless", "-u", "init.lua"], cwd=scratch, env=dict(ENVIRONMENT, HOME=scratch), expect=None)
    with open(os.path.join(scratch, "read")) as file:
        shown, listed = json.load(file)
    check(listed == len(lines), f"{listed} lines of {len(lines)} are listed")
    check(len(shown) == sum(map(has_file, lines)), f"{shown} is not all of {lines}")
    found = [tuple(place) for *place, severity in shown if severity <= 2]  # errors and warnings
    check(in_folder(scratch, found) == in_folder(scratch, places), f"{found} is not {places}")


def emacs(scratch):
    skip_without("emacs")
    _, places = make_report(scratch)
    with open(os.path.join(scratch, "read.el"), "w") as file:
        file.write("""
(require 'compile)
(find-file "problems")
(compilation-mode)
(compilation--ensure-parse (point-max))
(let ((found nil))
  (goto-char (point-min))
  (while (not (eobp))
    (let ((message (get-text-property (point) 'compilation-message)))
      (when message
        (let ((place (compilation--message->loc message)))
          (push (vector (caar (compilation--loc->file-struct place)) (compilation--loc->line place) (or (compilation--loc->col place) 0)
                        (compilation--message->type message)) found))))
    (forward-line 1))
  (with-temp-file "read" (insert (json-encode (vconcat found)))))
""")
    run(["emacs", "-Q", "--batch", "-l", "json", "-l", "read.el"], cwd=scratch, env=dict(ENVIRONMENT, HOME=scratch))
    with open(os.path.join(scratch, "read")) as file:
        found = [(path, row, column) for path, row, column, severity in json.load(file) if severity > 0]  # 0: notes
    check(set(places) <= set(found), f"{places} is not in {found}")


main([problem_matcher, vim, neovim, emacs])
