#!/usr/bin/env python3
"""The examples of docs/ci are YAML of the shape that the services expect, and the commands in them do what they promise. Those that install
packages need a network and are not run here; scripts/try-release.sh does that.

    tests/integration/ci_examples.py SOOTH
"""
import json
import os
import shutil
import sys
import xml.etree.ElementTree as ET

from common import SOURCE, Skipped, check, main, run, with_tool

try:
    import yaml
except ImportError:
    yaml = None

SOOTH = os.path.abspath(sys.argv[1])
ENVIRONMENT = with_tool(os.path.dirname(SOOTH))


def load(name):
    if yaml is None:
        raise Skipped("python3-yaml not found")
    with open(os.path.join(SOURCE, "docs/ci", name)) as file:
        return yaml.safe_load(file)


def is_installation(command):
    return "apt-get" in command


def shell(command, scratch, expect):
    """As both services run a step: a shell that stops at the first failure."""
    environment = dict(ENVIRONMENT, GITHUB_STEP_SUMMARY=os.path.join(scratch, "summary"))
    return run(["bash", "-e", "-o", "pipefail", "-c", command], cwd=scratch, env=environment, expect=expect)


def read(scratch, name):
    with open(os.path.join(scratch, name)) as file:
        return file.read()


def account(scratch, kind):
    shutil.copy(os.path.join(SOURCE, f"examples/bank_account_{kind}.cc"), os.path.join(scratch, "account.cc"))


def github_steps():
    workflow = load("github-actions.yml")
    # YAML 1.1 takes the key `on` for true; GitHub does not.
    check(set(workflow) == {"name", True, "jobs"}, f"keys of the workflow: {set(workflow)}")
    steps = workflow["jobs"]["races"]["steps"]
    for step in steps:
        check(("run" in step) != ("uses" in step), f"a step runs something or uses something: {step}")
    return [step for step in steps if "run" in step and not is_installation(step["run"])]


def github(scratch):
    account(scratch, "hidden")
    failed = False
    for step in github_steps():
        if failed and step.get("if") != "always()":
            continue
        looks = "sooth run" in step["run"]
        shell(step["run"], scratch, 66 if looks else 0)
        failed = failed or looks
    check(failed, "no step looks for races")
    results = json.loads(read(scratch, "races.sarif"))["runs"][0]["results"]
    check([result["ruleId"] for result in results] == ["race"], f"the SARIF file has {results}")
    check(os.path.exists(os.path.join(scratch, "races.json")), "the report was not kept")
    check("balance" in read(scratch, "summary"), "the race is not in the summary of the job")


def github_without_a_race(scratch):
    account(scratch, "norace")
    for step in github_steps():
        shell(step["run"], scratch, 0)


def gitlab(scratch):
    job = load("gitlab-ci.yml")["races"]
    check(all(is_installation(command) for command in job["before_script"]), "the preparation only installs")
    account(scratch, "hidden")
    with open(os.path.join(scratch, "races-baseline.json"), "w") as file:
        file.write(run([SOOTH, "analyze", os.devnull, "--format", "json"]).stdout)  # of a program without races
    build, look = job["script"]
    shell(build, scratch, 0)
    shell(look, scratch, 66)
    for command in job["after_script"]:
        shell(command, scratch, 0)
    for name in job["artifacts"]["paths"]:
        check("balance" in read(scratch, name), f"the race is not in {name}")
    suite = ET.fromstring(read(scratch, job["artifacts"]["reports"]["junit"]))
    failures = [case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None]
    check(len(failures) == 1, f"the JUnit file has these failures: {failures}")
    # Once the race is in the baseline, it does not fail the job.
    shutil.move(os.path.join(scratch, "races.json"), os.path.join(scratch, "races-baseline.json"))
    shell(look, scratch, 0)


def action(scratch):
    """The steps of action.yml as GitHub runs them: expressions replaced by what was given, outputs handed on."""
    if yaml is None:
        raise Skipped("python3-yaml not found")
    with open(os.path.join(SOURCE, "action.yml")) as file:
        declared = yaml.safe_load(file)
    account(scratch, "hidden")
    for baseline, expect in (("", 66), ("races.json", 0)):
        given = {"inputs." + name: each.get("default", "") for name, each in declared["inputs"].items()}
        given.update({"inputs.build": "sooth c++ -O1 account.cc -o account", "inputs.run": "./account", "inputs.budget": "30s",
                      "inputs.baseline": baseline, "inputs.options": "--seed 1"})
        for step in declared["runs"]["steps"]:
            check(("run" in step) != ("uses" in step), f"a step runs something or uses something: {step}")
            if "run" in step and not is_installation(step["run"]) and "gh pr" not in step["run"]:
                fails = step["name"].startswith("Fail")
                run_step(step, given, scratch, expect if fails else 0)
        check(given["steps.look.outputs.status"] == str(expect), given)
        check("balance" in read(scratch, "races.html"), "the race is not in the page")
    check("balance" in read(scratch, "summary"), "the race is not in the summary of the job")


def run_step(step, given, scratch, expect):
    def fill(text):
        for name, value in given.items():
            text = text.replace("${{ " + name + " }}", value)
        check("${{" not in text, f"nobody says what this is: {text}")
        return text

    check(step["shell"] == "bash", step)
    output = os.path.join(scratch, "output")
    open(output, "w").close()
    settings = {name: fill(value) for name, value in step.get("env", {}).items()}
    settings.update({"GITHUB_OUTPUT": output, "GITHUB_STEP_SUMMARY": os.path.join(scratch, "summary")})
    run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", fill(step["run"])], cwd=scratch, env=dict(ENVIRONMENT, **settings), expect=expect)
    for line in read(scratch, "output").splitlines():
        name, value = line.split("=", 1)
        given[f"steps.{step['id']}.outputs.{name}"] = value


def pre_commit(scratch):
    (hook,) = load("pre-commit-hooks.yml")["repos"][0]["hooks"]
    check(hook["language"] == "system" and not hook["pass_filenames"], hook)
    for kind, expect in (("hidden", 66), ("norace", 0)):
        account(scratch, kind)
        shell(hook["entry"], scratch, expect)


def kubernetes(scratch):
    """An indexed job does each unit of the plan once, whatever the index begins with."""
    job = load("kubernetes-job.yml")
    check((job["apiVersion"], job["kind"]) == ("batch/v1", "Job"), job)
    check(job["spec"]["completionMode"] == "Indexed" and job["spec"]["parallelism"] <= job["spec"]["completions"], job["spec"])
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    mounted = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    check(pod["restartPolicy"] == "Never" and {each["name"] for each in pod["volumes"]} == set(mounted), pod)
    account(scratch, "hidden")
    shell("sooth c++ -O1 account.cc -o account && sooth campaign plan races --command ./account --schedules 2 --trials 3", scratch, 0)
    program, flag, text = container["command"]
    for index in "01":
        local = text.replace(mounted["campaign"], scratch)
        run([program, flag, local], cwd=scratch, env=dict(ENVIRONMENT, JOB_COMPLETION_INDEX=index), expect=0)
    done = run([SOOTH, "campaign", "status", "races"], cwd=scratch, expect=0).stdout
    check(done == "2 of 2 units done\n", done)


main([github, github_without_a_race, gitlab, action, pre_commit, kubernetes])
