#!/usr/bin/env python3
"""Races inside of the standard library: every format names the user's file first, and threads were created in main.

    tests/report/places.py SOOTH
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

PROGRAM = """
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

std::vector<int> numbers;
std::string text;
std::map<int, int> tree;
std::unordered_map<int, int> table;
std::shared_ptr<int> shared;
std::function<int()> call;
std::ostringstream stream;

void work() {
  numbers.push_back(1);
  text.push_back('x');
  tree[1] = 2;
  table[1] = 2;
  shared = std::make_shared<int>(3);
  call = [] { return 4; };
  stream.width(5);
}

int main() {
  numbers.reserve(9);
  std::thread one(work);
  std::thread two(work);
  one.join();
  two.join();
}
"""
VPTR = """
#include <sched.h>
#include <new>
#include <thread>
int made;
struct Base {
  virtual int call() { return 1; }
  virtual ~Base() {
    while (__atomic_load_n(&made, __ATOMIC_RELAXED) == 0) sched_yield();
  }
};
struct Derived : Base {
  int call() override { return 2; }
};
alignas(Derived) char storage[sizeof(Derived)];
int main() {
  Base* object = new (storage) Derived;
  std::thread caller([object] {
    int result = object->call();
    __atomic_store_n(&made, result, __ATOMIC_RELAXED);
  });
  object->~Base();
  caller.join();
}
"""
# libc would wait for the waiter for ever; in a serial recording conditions are ours.
CONDITION = """
#include <pthread.h>
#include <sched.h>
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed;
int waits;
static void* waiter(void*) {
  pthread_mutex_lock(&mutex);
  __atomic_store_n(&waits, 1, __ATOMIC_RELAXED);
  pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  return nullptr;
}
int main() {
  pthread_cond_init(&changed, nullptr);
  pthread_t thread;
  pthread_create(&thread, nullptr, waiter, nullptr);
  while (__atomic_load_n(&waits, __ATOMIC_RELAXED) == 0) sched_yield();
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  pthread_cond_destroy(&changed);
  pthread_cond_signal(&changed);
  pthread_join(thread, nullptr);
}
"""
LINES = {"numbers.push_back": "vector", "text.push_back": "string", "tree[1]": "map", "table[1]": "unordered_map", "shared = ": "shared_ptr",
         "call = ": "function", "stream.width": "iostream"}
FILE = "stl.cc"


def check(condition, what):
    if not condition:
        raise SystemExit(what)


def only_finding(sooth, name, source, analysis):
    """Of a program: as JSON, and the first line of the text."""
    with tempfile.TemporaryDirectory(prefix="sooth-places-") as folder:
        with open(os.path.join(folder, name + ".cc"), "w", encoding="utf-8") as file:
            file.write(source)
        for words in (["c++", "-O1", name + ".cc", "-o", name], ["record", "-o", "t", "--schedule", "serial", "--", "./" + name],
                      ["analyze", "t", "--with", analysis, "--format", "json", "-o", "r.json", "--fail-on", "never"]):
            subprocess.run([sooth, *words], cwd=folder, capture_output=True, check=True, stdin=subprocess.DEVNULL, timeout=60)
        text = subprocess.run([sooth, "report", "r.json", "--fail-on", "never"], cwd=folder, capture_output=True, text=True, check=True)
        with open(os.path.join(folder, "r.json"), encoding="utf-8") as file:
            findings = json.load(file)["findings"]
    check(len(findings) == 1, findings)
    return findings[0], text.stdout.splitlines()[0]


def inputs_first(sooth, folder):
    """A file that is bad is noticed before the program runs: nothing is lost."""
    with open(os.path.join(folder, "bad"), "w", encoding="utf-8") as file:
        file.write("no such thing\n")
    for words in (["--suppressions", "missing"], ["--suppressions", "bad"], ["--baseline", "bad"], ["--store", "no/such/folder/r.json"],
                  ["--format", "json", "-o", "no/such/folder/r.json"]):
        done = subprocess.run([sooth, "run", *words, "--", "/bin/sh", "-c", "echo > ran"], cwd=folder, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)
        check(done.returncode in (64, 65, 70) and done.stderr.startswith("sooth: "), f"{words}: {done.returncode}\n{done.stderr}")
        check(not os.path.exists(os.path.join(folder, "ran")), f"{words}: the program ran before anybody looked at the file")


def main():
    sooth = os.path.abspath(sys.argv[1])
    finding, headline = only_finding(sooth, "vptr", VPTR, "hb")
    check(finding["kind"] == "race" and finding.get("vptr") is True, finding)
    check("data race on the vptr of 'storage' [" in headline, headline)
    finding, headline = only_finding(sooth, "condition", CONDITION, "misuse")
    check(finding.get("misuse") == "destroy_locked" and "'changed' [" in headline, (finding, headline))
    with tempfile.TemporaryDirectory(prefix="sooth-places-") as folder:
        with open(os.path.join(folder, FILE), "w", encoding="utf-8") as file:
            file.write(PROGRAM)

        def run(*words):
            done = subprocess.run([sooth, *words], cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
            check(done.returncode == 0, f"sooth {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
            return done.stdout
        run("c++", "-O2", FILE, "-o", "stl")
        run("record", "-o", "t", "--schedule", "serial", "--", "./stl")
        run("analyze", "t", "--with", "hb", "--format", "json", "-o", "r.json", "--fail-on", "never")
        with open(os.path.join(folder, "r.json"), encoding="utf-8") as file:
            report = json.load(file)
        findings = report["findings"]
        inputs_first(sooth, folder)
        printed = {form: run("report", "r.json", "--fail-on", "never", "--format", form)
                   for form in ("text", "gcc", "sarif", "junit", "markdown", "tsan")}
    # Who does not count does not say 0.
    check(report["stats"].get("locks", 1) > 0 and report["stats"].get("variables", 6) > 5, report["stats"])
    check(report["tool"]["version"] and re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]+Z", report["date"]), report)
    lines = PROGRAM.splitlines()
    kinds = set()
    for finding in findings:
        for access in finding["accesses"]:
            place = access["stack"][access["frame"] - 1] if access.get("frame") else access["site"]
            check(place["file"].endswith("/" + FILE), f"{place} is not the user's")
            check(access["code"] == lines[place["line"] - 1], access)
            kinds |= {kind for mark, kind in LINES.items() if mark in access["code"]}
        for thread in finding["context"]["threads"]:
            check(any(frame.get("function") == "main" for frame in thread["created"]["stack"]), f"{thread} was not created in main")
    check(kinds == set(LINES.values()), f"races of {sorted(kinds)} only")
    count = len(findings)
    heads = re.findall(r"^(\S+): (?:predicted|confirmed) data race", printed["text"], re.MULTILINE)
    following = [finding for finding in findings if "follows" in finding]
    leads = re.findall(r"^  leads to: predicted data race on .*$", printed["text"], re.MULTILINE)
    check(len(heads) == count - len(following) and all(f"/{FILE}:" in head for head in heads), heads)
    check(len(leads) == len(following) > 0 and all(lead.count(f" {FILE}:") >= 2 for lead in leads), leads)
    heads = re.findall(r"^(\S+): warning: ", printed["gcc"], re.MULTILINE)
    check(len(heads) == count and all(f"/{FILE}:" in head for head in heads), heads)
    results = json.loads(printed["sarif"])["runs"][0]["results"]
    check({result["ruleId"] for result in results} == {"race"}, "the rung is in the rule")
    uris = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results]
    check(len(uris) == count and all(uri.endswith("/" + FILE) for uri in uris), uris)
    cases = xml.etree.ElementTree.fromstring(printed["junit"]).iter("testcase")
    check([case.get("file", "").endswith("/" + FILE) for case in cases] == [True] * count, printed["junit"])
    rows = [line for line in printed["markdown"].splitlines() if line.startswith("|") and "data race" in line]
    check(len(rows) == count and all(FILE in row and "stl_" not in row and "/c++/" not in row for row in rows), rows)
    firsts = re.findall(r"^    #0 .*$|^SUMMARY: .*$", printed["tsan"], re.MULTILINE)
    check(len(firsts) >= 3 * count and all(FILE + ":" in first for first in firsts), [first for first in firsts if FILE + ":" not in first])
    print(f"{count} races in {len(kinds)} parts of the library: every format names {FILE} first")


if __name__ == "__main__":
    main()
