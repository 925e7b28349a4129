#!/usr/bin/env python3
"""--shard and sooth merge: shards are disjoint, together they are the whole, and the recipe of docs/scale-out.md works as it stands there.

    tests/cli/scale_out.py SOOTH [NAME...]
"""
import os
import re
import shutil
import subprocess
import sys

from run import main_with
from test_loop import SOURCE, check

MANY = """
#include <mutex>
#include <thread>
int a, b, c, d, e;
std::mutex mutex;
void first() { a = 1; b = 1; c = 1; { std::lock_guard<std::mutex> guard(mutex); d = 1; } e = 1; }
void second() { a = 2; b = 2; c = 2; { std::lock_guard<std::mutex> guard(mutex); } d = 2; e = 2; }
int main() {
  std::thread x(first), y(second);
  x.join();
  y.join();
  return (a + b + c + d + e) % 2 == 0 ? 0 : 3;
}
"""


def prepare(lab):
    program = lab.write("many", MANY)
    lab.tool("run", "--trials", "0", "--keep", "t.trace", "--no-times", "--fail-on", "never", "--format", "json", "-o", "found.json", "--", program)
    found = lab.load("found.json")["findings"]
    check(len(found) >= 4, [f["id"] for f in found])
    return program, {finding["id"] for finding in found}


def confirm_shards(lab):
    """Disjoint, complete, and merged byte for byte the campaign without shards."""
    program, ids = prepare(lab)
    campaign = ("--trials", "8", "--no-times", "--fail-on", "never", "--format", "json")
    lab.tool("confirm", "found.json", *campaign, "-o", "all.json", "--", program, expect=0)
    for count in (2, 3):
        tried = []
        for i in range(1, count + 1):
            lab.tool("confirm", "found.json", *campaign, "--shard", f"{i}/{count}", "-o", f"part{i}.json", "--", program, expect=0)
            shard = lab.load(f"part{i}.json")["shard"]
            check((shard["index"], shard["count"]) == (i, count), shard)
            tried += shard["tried"]
        check(sorted(tried) == sorted(ids), (tried, ids))
        parts = [f"part{i}.json" for i in range(1, count + 1)]
        expected = open(lab.path("all.json")).read()
        os.rename(lab.path("all.json"), lab.path("kept.json"))
        lab.tool("merge", *reversed(parts), "--no-times", "-o", "all.json", expect=0)
        check(open(lab.path("all.json")).read() == expected, "the merged shards are not the whole")
        check("sooth replay all.json#" in expected, "replays name the file that they are in")
        lab.tool("merge", *parts[:-1], "--no-times", "-o", "less.json", expect=0)
        gaps = [gap["text"] for gap in lab.load("less.json")["not_covered"] if gap["kind"] == "trials"]
        check(any(f"Shard {count} of {count} is missing" in text for text in gaps), gaps)
    finding = next(f for f in lab.load("all.json")["findings"] if f["rung"] == "confirmed")
    lab.tool("replay", "all.json#" + finding["id"], "--", program, expect=(0, 3))


def test_shards(lab):
    """Of a test campaign likewise; directed shards have no seed in common."""
    program = lab.write("many", MANY)
    for strategy in ("random", "pct:2"):
        campaign = ("--strategy", strategy, "--runs", "25", "--seed", "3", "--format", "json")
        expected = lab.tool("test", *campaign, "--", program, expect=(0, 66)).stdout
        for count in (2, 4):
            for i in range(1, count + 1):
                lab.tool("test", *campaign, "--shard", f"{i}/{count}", "-o", f"part{i}.json", "--", program, expect=(0, 66))
            merged = lab.tool("merge", *(f"part{i}.json" for i in range(count, 0, -1)), expect=0).stdout
            check(merged == expected, f"{strategy}: {merged}\ninstead of\n{expected}")
    lab.tool("merge", "part1.json", "--format", "text", expect=64)
    lab.tool("merge", "part1.json", "missing.json", expect=65)
    seen = []
    for i in (1, 2, 3):
        lab.tool("test", "--strategy", "directed", "--runs", "10", "--shard", f"{i}/3", "--format", "json", "-o", f"d{i}.json", "--", program, expect=(0, 66))
        result = lab.load(f"d{i}.json")
        seen.append(result["runs"])
    check(seen == [4, 3, 3], seen)
    merged = lab.tool("merge", "d1.json", "d2.json", "d3.json", "-o", "d.json", expect=0)
    check(merged.stdout == "" and lab.load("d.json")["runs"] == 10, merged)


def recipe(lab):
    """The commands of docs/scale-out.md, with GNU parallel."""
    if shutil.which("parallel") is None:
        print("  parallel is not installed: the recipe is not run")
        return
    with open(os.path.join(SOURCE, "docs/scale-out.md")) as file:
        block = re.search(r"<!-- tested by tests/cli/scale_out.py -->\n(.*?)<!-- /tested -->", file.read(), re.DOTALL)[1]
    shutil.copy(lab.write("many", MANY), lab.path("program"))
    os.mkdir(lab.path("home"))
    environment = dict(lab.environment, HOME=lab.path("home"), PATH=os.path.dirname(lab.sooth) + ":" + os.environ["PATH"])
    for line in filter(None, map(str.strip, block.splitlines())):
        done = subprocess.run(["sh", "-c", line], cwd=lab.scratch, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=300, check=False)
        # `sooth test` ends with 66 in a shard with a failure, and parallel with the number of such shards.
        check(done.returncode == 0 or "sooth test" in line and 1 <= done.returncode <= 4, (line, done.returncode, done.stderr))
    lab.tool("confirm", "found.json", "--jobs", "1", "--fail-on", "never", "--format", "json", "-o", "whole.json", "--", "./program", expect=0)
    rungs = lambda name: {f["id"]: f["rung"] for f in lab.load(name)["findings"]}
    check(rungs("report.json") == rungs("whole.json"), (rungs("report.json"), rungs("whole.json")))
    check(lab.load("test.json")["runs"] == 400, lab.load("test.json")["runs"])


if __name__ == "__main__":
    sys.exit(main_with([confirm_shards, test_shards, recipe], __doc__))
