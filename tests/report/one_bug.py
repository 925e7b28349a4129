#!/usr/bin/env python3
"""One bug in the use of the standard library is one race in the report of `sooth run`: what else it leads to follows from it.

    tests/report/one_bug.py SOOTH
"""
import json
import os
import subprocess
import sys
import tempfile

# Name -> the variable that the race is on, and the program.
PROGRAMS = {
    "vector": ("orders", """
#include <thread>
#include <vector>
struct Order { int id; double price; };
static std::vector<Order> orders;
static void add(int n) {
  for (int i = 0; i < n; ++i) {
    orders.push_back({i, i * 1.5});
  }
}
int main() {
  orders.reserve(1000);
  std::thread a(add, 3), b(add, 3);
  a.join();
  b.join();
}
"""),
    "string": ("log_line", """
#include <string>
#include <thread>
std::string log_line = "start";
int main() {
  std::thread t([] {
    log_line += " worker";
  });
  log_line.append(" main");
  t.join();
}
"""),
    "shared_ptr": ("current", """
#include <cstdio>
#include <memory>
#include <thread>
struct Config { int level = 0; int size = 4; };
std::shared_ptr<Config> current = std::make_shared<Config>();
static void reload() {
  auto next = std::make_shared<Config>();
  next->level = 2;
  current = next;
}
static void work() {
  std::shared_ptr<Config> config = current;
  std::printf("%d\\n", config->level);
}
int main() {
  std::thread a(reload), b(work);
  a.join();
  b.join();
}
"""),
    "map": ("Registry::values", """
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
struct Registry {
  static std::mutex mutex;
  static std::map<std::string, int> values;
};
std::mutex Registry::mutex;
std::map<std::string, int> Registry::values;
static void set(const std::string& key, int value) {
  std::lock_guard<std::mutex> guard(Registry::mutex);
  Registry::values[key] = value;
}
static int get(const std::string& key) {
  auto found = Registry::values.find(key); return found == Registry::values.end() ? -1 : found->second;
}
int main() {
  std::thread a([] { set("width", 80); });
  std::thread b([] { std::printf("%d\\n", get("width")); });
  a.join();
  b.join();
}
"""),
    "unordered_map": ("words", """
#include <string>
#include <thread>
#include <unordered_map>
std::unordered_map<std::string, int> words;
static void count(const char* word) {
  words[word] += 1;
}
int main() {
  std::thread a([] { count("one"); count("two"); });
  std::thread b([] { count("one"); count("three"); });
  a.join();
  b.join();
}
"""),
    "function": ("button.on_click", """
#include <functional>
#include <thread>
struct Button { std::function<void(int)> on_click; };
int main() {
  Button button;
  int clicks = 0;
  button.on_click = [&](int) { ++clicks; };
  std::thread ui([&] {
    button.on_click(1);
  });
  std::thread setup([&] {
    button.on_click = [&](int n) { clicks += n; };
  });
  ui.join();
  setup.join();
}
"""),
}


def check(condition, what):
    if not condition:
        raise SystemExit(f"one_bug.py: {what}")


def place(access):
    frame = access.get("frame", 0)
    return access["stack"][frame - 1] if frame else access["site"]


def told(finding):
    return finding["id"], finding["kind"], finding["rung"], finding.get("follows"), [(each.get("variable"), place(each).get("label")) for each in finding["accesses"]]


def main():
    sooth = os.path.abspath(sys.argv[1])
    followers = 0
    with tempfile.TemporaryDirectory(prefix="sooth-one-bug-") as folder:
        for name, (variable, source) in PROGRAMS.items():
            with open(os.path.join(folder, name + ".cc"), "w", encoding="utf-8") as file:
                file.write(source)
            for words, statuses in ((["c++", "-O1", name + ".cc", "-o", name], (0,)),
                                    (["run", "--budget", "20s", "--format", "json", "-o", name + ".json", "--", "./" + name], (66,))):
                done = subprocess.run([sooth, *words], cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=120)
                check(done.returncode in statuses, f"sooth {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
            with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
                report = json.load(file)
            findings = [finding for finding in report["findings"] if finding["rung"] != "suspected"]
            check(report["stats"]["variables"] > 0 and report["stats"]["locks"] >= source.count("std::mutex mutex;"), f"{name}: {report['stats']}")
            check(report["outcome"] and report["seeds"] and report["tool"]["version"] and report["date"], f"{name}: where it comes from is missing")
            races = [finding for finding in findings if finding["kind"] == "race"]
            causes = [finding for finding in races if "follows" not in finding]
            check(len(causes) == 1, f"{name}: {len(causes)} races stand alone:\n" + "\n".join(str(told(finding)) for finding in findings))
            cause = causes[0]
            check(all(access.get("variable") == variable for access in cause["accesses"]), f"{name}: {told(cause)}")
            check(all(finding.get("follows", cause["id"]) == cause["id"] for finding in races), f"{name}: {[told(finding) for finding in races]}")
            for access in cause["accesses"]:
                check(place(access)["file"].endswith(name + ".cc"), f"{name}: {told(cause)}")
            check(all(access["thread"] != "T0" for finding in races for access in finding["accesses"]), f"{name}: the first thread is not called main")
            names = [access.get("variable", "") for finding in races for access in finding["accesses"]]
            check(not any("words[" in each or each.endswith(" int") for each in names), f"{name}: {names}")
            followers += len(races) - 1
    check(followers > 0, "nothing follows from anything, so that nothing was tested")
    print(f"{len(PROGRAMS)} bugs, {followers} races that follow from them")


if __name__ == "__main__":
    main()
