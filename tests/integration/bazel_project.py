#!/usr/bin/env python3
"""Bazel: the recipes of docs/build-systems.md, as they stand there, in Bazel's sandbox and without a network.

    tests/integration/bazel_project.py SOOTH

For the Bazel 4.2 of Debian 12 (the group `bazel` of scripts/packages.txt); skipped where there is another, or none.
"""
import json
import os
import re
import shlex
import shutil
import sys
import zipfile

from common import SOURCE, Skipped, check, main, run, skip_without, with_tool

SOOTH = os.path.abspath(sys.argv[1])
ENVIRONMENT = with_tool(os.path.dirname(SOOTH))
PROJECT = os.path.join(SOURCE, "tests/integration/bazel_project")
DEBIAN_JAVA_RULES = "/usr/share/bazel/rules/java"  # of the package bazel-rules-java; every Bazel looks at them, also for C++

with open(os.path.join(SOURCE, "docs/build-systems.md")) as page:
    SECTION = re.search(r"^## Bazel\n(.*?)^## ", page.read(), flags=re.M | re.S).group(1)


def make_workspace(scratch):
    """The project, and Bazel's settings: it takes what is here in place of what it would fetch, and leaves no server behind."""
    skip_without("bazel", "g++", "zip", "dpkg-query")
    # Asked of the package, because this Bazel calls its version "no_version".
    version = run(["dpkg-query", "-W", "-f", "${Version}", "bazel-bootstrap"], expect=None).stdout
    if not version.startswith("4.") or not os.path.isdir(DEBIAN_JAVA_RULES):
        raise Skipped("this is not the Bazel 4.2 of Debian 12 (bazel-bootstrap) with its rules for Java (bazel-rules-java)")
    workspace = os.path.join(scratch, "workspace")
    shutil.copytree(os.path.join(PROJECT, "workspace"), workspace)
    for program in ("bank_account_hidden", "bank_account_norace"):
        shutil.copy(os.path.join(SOURCE, f"examples/{program}.cc"), workspace)
    replaced = {"rules_cc": f"{PROJECT}/rules_cc", "remote_coverage_tools": f"{PROJECT}/remote_coverage_tools", "rules_java": DEBIAN_JAVA_RULES}
    with open(os.path.join(workspace, ".bazelrc"), "w") as settings:
        settings.write(f"startup --batch --output_user_root={scratch}/output\n")
        for name, folder in replaced.items():
            settings.write(f"build --override_repository={name}={folder}\n")
    return workspace


def command_of_the_page():
    command = re.search(r"^    (bazel test .*)$", SECTION, flags=re.M).group(1)
    check("/usr/bin/sooth run" in command, f"the page names the tool by another path: {command}")
    return shlex.split(command.replace("/usr/bin/sooth", SOOTH))


def test_with(words, workspace, **environment):
    """Bazel's status is 3 when all is built and a test failed."""
    return run(words, cwd=workspace, env={**ENVIRONMENT, **environment}, expect=3).stdout


def tests_under_sooth_run(scratch):
    workspace = make_workspace(scratch)
    output = test_with(command_of_the_page(), workspace)
    check(re.search(r"^//:account +FAILED", output, flags=re.M) and re.search(r"^//:good_account +PASSED", output, flags=re.M), output)
    check("harmful data race on 'balance'" in output, output)
    with open(os.path.join(workspace, "bazel-testlogs/account/test.log")) as log:
        check("1 race (1 harmful)" in log.read(), "the report is not in test.log")


def clang(scratch):
    """Its library is not linked into the program, so that ours takes its place."""
    skip_without("clang-14")
    workspace = make_workspace(scratch)
    option = re.search(r"for Clang, add `([^`]+)`", SECTION).group(1)
    output = test_with([*command_of_the_page(), option], workspace, CC="clang-14")
    check("harmful data race on 'balance'" in output and re.search(r"^//:good_account +PASSED", output, flags=re.M), output)


def script_keeps_the_report(scratch):
    workspace = make_workspace(scratch)
    lines = re.search(r"^    #!/bin/sh\n    exec sooth run .*\n", SECTION, flags=re.M).group(0)
    script = os.path.join(scratch, "keep-report")
    with open(script, "w") as file:
        file.write(re.sub(r"^    ", "", lines, flags=re.M).replace("exec sooth", f"exec {SOOTH}"))
    os.chmod(script, 0o755)
    words = [word for word in command_of_the_page() if not word.startswith("--run_under") and word != "//..."]
    test_with([*words, f"--run_under={script}", "//:account"], workspace)
    with zipfile.ZipFile(os.path.join(workspace, "bazel-testlogs/account/test.outputs/outputs.zip")) as kept:
        report = json.loads(kept.read("races.json"))
    check([finding["rung"] for finding in report["findings"]] == ["harmful"], json.dumps(report)[:2000])


main([tests_under_sooth_run, clang, script_keeps_the_report])
