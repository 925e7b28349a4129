#!/usr/bin/env python3
"""What is made from the declarations of the command line: docs/commands.md, manual pages, completions in real shells.

    tests/integration/reference.py SOOTH

After a change of options: build/bin/sooth reference --format markdown -o docs/commands.md
"""
import difflib
import os
import pty
import re
import select
import shlex
import signal
import sys
import time

from common import SOURCE, Failure, check, main, run, skip_without, with_tool

SOOTH = os.path.abspath(sys.argv[1])
ENVIRONMENT = with_tool(os.path.dirname(SOOTH))
DEAD_LINE = 60  # seconds for a shell to answer

ANALYSES = {"hb", "lockset", "hybrid", "wcp", "syncp", "ipa", "mcm", "rdit"}
# Line up to the cursor -> what must be offered, and what must not. In the directory are a file `report.json` and a folder `traces`.
OFFERED = [
    ("sooth ", {"run", "record", "analyze", "cc", "c++", "trace", "witness"}, {"reference", "gen", "report.json"}),
    ("sooth re", {"record", "replay", "report"}, {"run", "reference"}),
    ("sooth trace ", {"info", "check", "cat", "convert", "gen", "drop"}, {"run"}),
    ("sooth run --f", {"--format", "--fail-on"}, {"--budget", "--filter"}),
    ("sooth run --format ", {"text", "tsan", "gcc", "json", "sarif"}, {"report.json"}),
    ("sooth run --fail-on=", {"suspected", "predicted", "confirmed", "harmful", "never"}, {"text"}),
    ("sooth run --budget 5s --format ", {"text", "sarif"}, {"confirmed"}),
    ("sooth test --strategy ", {"auto", "random", "directed", "pct:", "pos", "surw"}, {"serial"}),
    ("sooth analyze --filter tree:", {"tree:hb", "tree:strict", "tree:data"}, {"repeat"}),
    ("sooth analyze --with ", ANALYSES, {"report.json"}),
    ("sooth analyze --with hb,wc", {"hb,wcp"}, {"hb,hb", "hb,mcm"}),
    ("sooth trace gen --format ", {"std", "sooth"}, {"json"}),
    ("sooth report rep", {"report.json"}, {"report"}),
    ("sooth confirm --baseline rep", {"report.json"}, set()),
    ("sooth record -o tra", {"traces/"}, {"report.json"}),
    ("sooth cc --", {"--compiler", "--launch", "--print-command"}, {"--format"}),
    ("sooth run -- ./exam", {"./example"}, {"--format"}),
    ("sooth run -- ./example rep", {"report.json"}, {"report"}),
]


def make_directory(folder):
    os.mkdir(os.path.join(folder, "traces"))
    open(os.path.join(folder, "report.json"), "w").close()
    with open(os.path.join(folder, "example"), "w") as file:
        file.write("#!/bin/sh\n")
    os.chmod(os.path.join(folder, "example"), 0o755)


def commands_page(_):
    made = run([SOOTH, "reference", "--format", "markdown"]).stdout
    path = os.path.join(SOURCE, "docs/commands.md")
    with open(path) as file:
        stored = file.read()
    difference = "\n".join(list(difflib.unified_diff(stored.splitlines(), made.splitlines(), "docs/commands.md", "the tool", lineterm=""))[:40])
    check(stored == made, f"docs/commands.md is not what the tool says; build/bin/sooth reference --format markdown -o docs/commands.md\n{difference}")


def commands_page_knows_every_command(_):
    """What `--help` lists."""
    made = run([SOOTH, "reference", "--format", "markdown"]).stdout
    for group in ([], ["trace"], ["witness"]):
        listed = run([SOOTH, *group, "--help"]).stdout.split("Commands:\n")[1].split("\n\n")[0]
        for name in re.findall(r"^  (\S+)", listed, flags=re.M):
            check(f"\n## {' '.join(['sooth', *group, name])}\n" in made, f"there is no section on {name}")
            options = re.findall(r"^  (?:-\w, )?(--[\w-]+)", run([SOOTH, *group, name, "--help"]).stdout, flags=re.M)
            section = made.split(f"\n## {' '.join(['sooth', *group, name])}\n")[1].split("\n## ")[0]
            for option in options:
                check(f"`{option}" in section, f"{option} is missing in the section on {name}")


def examples(_):
    """Every command has examples, and every option in them is one that the command takes, with a value that it takes."""
    made = run([SOOTH, "reference", "--format", "markdown"]).stdout
    for section in made.split("\n## ")[1:]:
        name = section.split("\n")[0].removeprefix("sooth ")
        lines = [line.strip() for line in section.partition("\nExamples:\n")[2].partition("\n\n- `")[0].splitlines()]
        lines = [line for line in lines if line and not line.startswith("#")]
        check(lines, f"sooth {name} has no example")
        for line in lines:
            words = shlex.split(line.partition(" | ")[0])
            if name in ("cc", "c++") or words[0] != "sooth":
                continue  # the rest is for a compiler, or a build system
            words = words[1:words.index("--")] if "--" in words else words[1:]
            check(words[:len(name.split())] == name.split(), f"{line!r} is no example of sooth {name}")
            run([SOOTH, *words, "--help"])  # what is wrong is said before the help


def manual_pages(scratch):
    skip_without("groff", "mandoc", "man")
    run([SOOTH, "reference", "--format", "man", "-o", scratch])
    pages = sorted(os.listdir(scratch))
    check({"sooth.1", "sooth-run.1", "sooth-c++.1", "sooth-trace-gen.1"} <= set(pages), pages)
    for page in pages:
        path = os.path.join(scratch, page)
        groff = run(["groff", "-ww", "-man", "-Tutf8", "-z", path]).stdout
        check(groff == "", f"groff of {page}: {groff}")
        lint = run(["mandoc", "-Tlint", "-Wwarning", path], expect=None).stdout
        # Our pages refer to each other, and are not installed here.
        lint = "\n".join(line for line in lint.splitlines() if "referenced manual not found" not in line)
        check(lint == "", f"mandoc of {page}: {lint}")
        text = run(["man", "--warnings", "-l", path], env=dict(ENVIRONMENT, MANPAGER="cat", MAN_KEEP_FORMATTING="", MANWIDTH="100")).stdout
        for title in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "SEE ALSO"):
            check(f"\n{title}\n" in text, f"{page} has no section {title}:\n{text}")
    shown = run(["man", "-l", os.path.join(scratch, "sooth-run.1")], env=dict(ENVIRONMENT, MANPAGER="cat", MANWIDTH="100")).stdout
    check("--fail-on suspected|predicted|confirmed|harmful|never" in re.sub(r".\x08", "", shown), shown)
    one = run([SOOTH, "reference", "--format", "man", "trace", "gen"]).stdout
    with open(os.path.join(scratch, "sooth-trace-gen.1")) as file:
        check(one == file.read(), "a single page differs from its file")
    run([SOOTH, "reference", "--format", "man", "no-such-command"], expect=64)


class Shell:
    """A shell on a terminal, as a user has it."""

    def __init__(self, words, environment, folder):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, environment)

    def send(self, text):
        os.write(self.terminal, text.encode())

    def read_until(self, pattern):
        text, end = "", time.monotonic() + DEAD_LINE
        while not re.search(pattern, text, flags=re.S):
            if not select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]:
                raise Failure(f"no {pattern!r} from the shell, but {text!r}")
            text += os.read(self.terminal, 65536).decode(errors="replace")
        return text

    def answer(self, line):
        """What the shell prints for a line that prints its result between marks."""
        self.send(line + "\n")
        return re.search(r"<<<(.*?)>>>", self.read_until(r"<<<.*?>>>"), flags=re.S).group(1)

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


def last_parts(words):
    """Shells complete a part of a word when `:` or `=` stands in it, so only what is behind these can be compared."""
    return {re.split("[:=]", word.rstrip("/:"))[-1] for word in words}


def inserted(line, text):
    """What a shell put in the place of the last word of `line`."""
    return text.replace("\\", "").split()[len((line + "|").split()) - 1:]


def insert_all(shell, line, words):
    """Has a shell put all completions into the line (Ctrl-X a), then the line into the array words_of_line, which it prints: `words`."""
    shell.send("\x15")
    shell.send(line + "\x18a")
    return inserted(line, shell.answer(f"\x01words_of_line=( \x05 ); echo '<''<<'{words}'>''>>'"))


def check_offers(shell, offers):
    for line, wanted, unwanted in OFFERED:
        offered = last_parts(offers(line))
        missing, spare = last_parts(wanted) - offered, last_parts(unwanted) & offered
        check(not missing, f"{shell}: `{line}` offers {sorted(offered)}, and not {sorted(missing)}")
        check(not spare, f"{shell}: `{line}` offers {sorted(spare)}")


def bash(scratch):
    skip_without("bash")
    make_directory(scratch)
    script = os.path.join(scratch, "completion")
    run([SOOTH, "reference", "--format", "bash", "-o", script])
    run(["bash", "-n", script])
    for library in ("", "/usr/share/bash-completion/bash_completion"):
        if library and not os.path.exists(library):
            continue
        shell = Shell(["bash", "--norc", "--noprofile", "-i"], dict(ENVIRONMENT, TERM="dumb", PS1="", HISTFILE="", INPUTRC="/dev/null"), scratch)
        try:
            shell.answer(f"bind 'set enable-bracketed-paste off' 2>/dev/null; {'source ' + library + ';' if library else ''} "
                         f"source {script}; bind '\"\\C-xa\": insert-completions'; echo '<''<<ready>''>>'")

            def offers(line):
                return insert_all(shell, line, '"${words_of_line[@]}"')
            check_offers("bash" + (" with bash-completion" if library else ""), offers)
        finally:
            shell.close()


def zsh(scratch):
    skip_without("zsh")
    make_directory(scratch)
    functions = os.path.join(scratch, "functions")
    os.mkdir(functions)
    run([SOOTH, "reference", "--format", "zsh", "-o", os.path.join(functions, "_sooth")])
    run(["zsh", "-n", os.path.join(functions, "_sooth")])
    shell = Shell(["zsh", "-f", "-i"], dict(ENVIRONMENT, TERM="dumb", PS1="", ZDOTDIR=scratch), scratch)
    try:
        shell.answer(f"unsetopt zle_bracketed_paste 2>/dev/null; unset zle_bracketed_paste; fpath=({functions} $fpath); autoload -Uz compinit; "
                     "compinit -u -D; zle -C all-matches complete-word _generic; bindkey '^Xa' all-matches; "
                     "zstyle ':completion:all-matches::::' completer _all_matches _complete; "
                     "zstyle ':completion:all-matches:*' insert true; bindkey -e; bindkey '^Xa' all-matches; echo '<''<<ready>''>>'")

        def offers(line):
            return insert_all(shell, line, "$words_of_line")
        check_offers("zsh", offers)
    finally:
        shell.close()


def fish(scratch):
    skip_without("fish")
    make_directory(scratch)
    script = os.path.join(scratch, "sooth.fish")
    run([SOOTH, "reference", "--format", "fish", "-o", script])
    environment = dict(ENVIRONMENT, HOME=scratch, TERM="dumb")

    def offers(line):
        text = run(["fish", "--no-config", "-c", f"source {script}; complete -C $argv[1]", line], cwd=scratch, env=environment).stdout
        return {entry.split("\t")[0] for entry in text.splitlines()}
    check_offers("fish", offers)


main([commands_page, commands_page_knows_every_command, examples, manual_pages, bash, zsh, fish])
