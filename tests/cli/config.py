#!/usr/bin/env python3
"""sooth.toml (docs/configuration.md): found upwards, the command line wins, the report says what was used, errors name the line.

    tests/cli/config.py SOOTH
"""
import json
import os
import subprocess
import sys
import tempfile

from test_loop import SOURCE

TRACE = os.path.join(SOURCE, "examples/traces/bank_account_race.std")


class Project:
    """A folder with a file sooth.toml, and one below it to work in."""

    def __init__(self, sooth, folder):
        self.sooth, self.folder, self.failed, self.count = sooth, folder, 0, 0
        self.inside = os.path.join(folder, "src", "deep")
        os.makedirs(self.inside)

    def write(self, text, name="sooth.toml"):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, *words):
        return subprocess.run([self.sooth, *words], cwd=self.inside, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def expect(self, what, holds, done):
        self.count += 1
        if not holds:
            self.failed += 1
            print(f"{what}: status {done.returncode}\n{done.stdout}{done.stderr}")


def check_use(project):
    plain = project.run("analyze", TRACE)
    project.expect("without a file the race counts", plain.returncode == 66 and "options from" not in plain.stdout, plain)
    project.write('fail-on = "confirmed"\nwith = ["hb"]\n\n[run]\nbudget = "5m"\n')
    done = project.run("analyze", TRACE)
    project.expect("the file is found upwards and used", done.returncode == 0, done)
    project.expect("the report says so", "options from ../../sooth.toml: fail-on, with" in done.stdout, done)
    done = project.run("analyze", TRACE, "--format", "json", "--no-times")
    report = json.loads(done.stdout)
    project.expect("... in JSON, too", "options from ../../sooth.toml: fail-on, with" in report["notes"], done)
    project.expect("the analyses are those of the file", list(report["stats"]["analyses"]) == ["hb"], done)
    done = project.run("analyze", TRACE, "--fail-on", "predicted")
    project.expect("the command line wins", done.returncode == 66 and "sooth.toml: with\n" in done.stdout, done)
    done = project.run("analyze", TRACE, "--no-config")
    project.expect("--no-config", done.returncode == 66 and "options from" not in done.stdout, done)
    project.write('fail-on = "never"\n', "other.toml")
    done = project.run("analyze", TRACE, "--config", "../../other.toml")
    project.expect("--config", done.returncode == 0 and "options from ../../other.toml: fail-on" in done.stdout, done)


def check_paths(project):
    os.makedirs(os.path.join(project.folder, "tools"))
    project.write("race:bank_account_race.cc\nrace:*\n", "tools/sooth.supp")
    project.write('suppressions = ["tools/sooth.supp"]\n')
    done = project.run("analyze", TRACE)
    project.expect("names of files are relative to the file", done.returncode == 0, done)
    done = project.run("report", "--help")
    project.write("this is no TOML\n")
    done = project.run("report", "--help")
    project.expect("help needs no file", done.returncode == 0, done)
    done = project.run("trace", "info", TRACE)
    project.expect("commands that have nothing to take do not read it", done.returncode == 0, done)


def check_errors(project):
    for text, sentence in (('\nfial-on = "confirmed"\n', "sooth: ../../sooth.toml:2: no command has an option `fial-on` that this file could set. Did you mean `fail-on`?\n"),
                           ('fail-on = "confirmd"\n', "sooth: ../../sooth.toml:1: --fail-on: there is no value `confirmd`; "),
                           ('[analyse]\nwith = "hb"\n', "sooth: ../../sooth.toml:2: there is no table `analyse`; "),
                           ('[analyze]\n\nbudget = "5m"\n', "sooth: ../../sooth.toml:3: `sooth analyze` does not have an option `budget`"),
                           ("window = [1, 2]\n", "sooth: ../../sooth.toml:1: window: takes one value\n"),
                           ('window = "many"\n', "sooth: ../../sooth.toml:1: --window: "),
                           ("with = hb\n", "sooth: ../../sooth.toml:1: ")):
        project.write(text)
        done = project.run("analyze", TRACE)
        project.expect(f"{text!r} is refused with file and line", done.returncode == 65 and done.stderr.startswith(sentence) and done.stdout == "", done)
    os.remove(os.path.join(project.folder, "sooth.toml"))
    done = project.run("analyze", TRACE, "--config", "missing.toml")
    project.expect("a file that is not there", done.returncode == 65 and "missing.toml" in done.stderr, done)


def main(sooth):
    with tempfile.TemporaryDirectory(prefix="sooth-config-") as folder:
        project = Project(os.path.abspath(sooth), folder)
        check_use(project)
        check_paths(project)
        check_errors(project)
    print(f"{project.count - project.failed} of {project.count} as expected")
    return 1 if project.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
