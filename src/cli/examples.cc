#include "cli/examples.h"

namespace sooth {
namespace {

constexpr CommandExample kExamples[] = {
    {.command = "sooth", .line = "sooth c++ -O1 program.cc -o program", .purpose = "Compile for Sooth"},
    {.command = "sooth",
     .line = "sooth run -- ./program",
     .purpose = "Find its races, prove them and make them happen"},
    {.command = "sooth", .line = "sooth view sooth-program.json", .purpose = "Look at them in the browser"},
    {.command = "sooth", .line = "sooth doctor", .purpose = "Ask what on this machine is in the way"},

    {.command = "sooth run", .line = "sooth run -- ./server --port 8080", .purpose = "Find the races of a program"},
    {.command = "sooth run",
     .line = "sooth run --budget 5m --fail-on confirmed -- ./tests",
     .purpose = "In CI: fail only when a race was made to happen"},
    {.command = "sooth run",
     .line = "sooth run --format sarif -o races.sarif --baseline old.json -- ./tests",
     .purpose = "A file for code scanning; what was known before does not fail"},

    {.command = "sooth analyze",
     .line = "sooth analyze sooth-server.trace",
     .purpose = "Find the races of a recording"},
    {.command = "sooth analyze",
     .line = "sooth analyze run.std --with hb,wcp --stats",
     .purpose = "With two analyses, and what they cost"},
    {.command = "sooth analyze",
     .line = "sooth analyze --live --with hb -- ./server",
     .purpose = "While the program runs, without a recording on disk"},

    {.command = "sooth campaign",
     .line = "sooth campaign plan races --ctest build",
     .purpose = "Plan: every test of a CMake project under ten schedules"},
    {.command = "sooth campaign",
     .line = "sooth campaign work races",
     .purpose = "Work: on every machine that is to help"},
    {.command = "sooth campaign",
     .line = "sooth campaign merge races",
     .purpose = "Report: what was found, and what is missing"},
    {.command = "sooth campaign plan",
     .line = "sooth campaign plan races --ctest build --schedules 20",
     .purpose = "Every test of a CMake project, each under 20 schedules"},
    {.command = "sooth campaign work",
     .line = "sooth campaign work races",
     .purpose = "On every machine that is to help"},
    {.command = "sooth campaign work",
     .line = "sooth campaign work races --units $SLURM_ARRAY_TASK_ID",
     .purpose = "In a job of a Slurm array"},
    {.command = "sooth campaign merge",
     .line = "sooth campaign merge races --format sarif -o races.sarif",
     .purpose = "When all is done, or to see what there is so far"},
    {.command = "sooth campaign status",
     .line = "sooth campaign status --missing races",
     .purpose = "The units to do again, as `sbatch --array` takes them"},

    {.command = "sooth cc", .line = "make CC=\"sooth cc\"", .purpose = "Build a project of C for Sooth"},
    {.command = "sooth cc",
     .line = "sooth cc --compiler=clang -O2 program.c -o program",
     .purpose = "With another compiler"},
    {.command = "sooth c++",
     .line = "cmake -B build -DCMAKE_CXX_COMPILER=\"sooth;c++\"",
     .purpose = "Build a project of C++ for Sooth"},
    {.command = "sooth c++",
     .line = "sooth c++ --deep -O1 program.cc -o program",
     .purpose = "For races on branches that a run does not take (recipe)"},

    {.command = "sooth confirm",
     .line = "sooth confirm sooth-server.json -- ./server",
     .purpose = "Try to make every finding of a report happen"},
    {.command = "sooth confirm",
     .line = "sooth confirm sooth-server.json --trials 200 --budget 10m -- ./server",
     .purpose = "Try harder"},

    {.command = "sooth doctor", .line = "sooth doctor", .purpose = "Look at this machine"},
    {.command = "sooth doctor",
     .line = "sooth doctor ./server",
     .purpose = "... and whether this program can be recorded"},

    {.command = "sooth explore",
     .line = "sooth explore -- ./queue_test",
     .purpose = "Run a small program under every schedule that can differ"},
    {.command = "sooth explore",
     .line = "sooth explore --preemptions 2 --budget 10m -- ./queue_test",
     .purpose = "Only those that interrupt a thread twice at most"},

    {.command = "sooth help", .line = "sooth help run", .purpose = "The same as `sooth run --help`"},
    {.command = "sooth help", .line = "sooth help trace gen", .purpose = "The same as `sooth trace gen --help`"},

    {.command = "sooth baseline",
     .line = "sooth baseline upgrade old.json",
     .purpose = "A baseline of an earlier version of Sooth, for this one"},
    {.command = "sooth baseline upgrade",
     .line = "sooth baseline upgrade old.json -o new.json",
     .purpose = "The same, in another file"},

    {.command = "sooth merge",
     .line = "sooth merge first.json second.json -o all.json",
     .purpose = "One report of two runs"},

    {.command = "sooth record", .line = "sooth record -- ./server --port 8080", .purpose = "Record a run"},
    {.command = "sooth record",
     .line = "sooth record --schedule serial -o server.trace -- ./server",
     .purpose = "One thread at a time: with the values that reads saw"},

    {.command = "sooth replay",
     .line = "sooth replay sooth-server.json#4f0c6d9be2a71835 -- ./server",
     .purpose = "Make a confirmed race happen again"},
    {.command = "sooth replay",
     .line = "sooth replay --gdb sooth-server.json#4f0c6d9be2a71835 -- ./server",
     .purpose = "... and stop there in the debugger"},

    {.command = "sooth report", .line = "sooth report sooth-server.json", .purpose = "Print a stored report again"},
    {.command = "sooth report",
     .line = "sooth report sooth-server.json --format html -o races.html",
     .purpose = "As a page"},
    {.command = "sooth report",
     .line = "sooth report --trend nightly-reports --format html -o trend.html",
     .purpose = "What came and went over many reports, one file for each commit"},

    {.command = "sooth test",
     .line = "sooth test --runs 1000 -- ./queue_test",
     .purpose = "Run a program under many schedules and see whether it fails"},
    {.command = "sooth test",
     .line = "sooth test --strategy pct:3 --schedules failing -- ./queue_test",
     .purpose = "Look for bugs of depth 3; keep the schedules that fail"},

    {.command = "sooth trace", .line = "sooth trace info sooth-server.trace", .purpose = "What a recording holds"},
    {.command = "sooth trace info", .line = "sooth trace info sooth-server.trace", .purpose = "What a recording holds"},
    {.command = "sooth trace check", .line = "sooth trace check run.std", .purpose = "Whether a trace is well-formed"},
    {.command = "sooth trace cat",
     .line = "sooth trace cat sooth-server.trace | less",
     .purpose = "Read a recording, one event per line"},
    {.command = "sooth trace convert",
     .line = "sooth trace convert sooth-server.trace run.std",
     .purpose = "As text, for other tools"},
    {.command = "sooth trace gen",
     .line = "sooth trace gen --events 10M --threads 8 --seed 7 -o big.trace",
     .purpose = "A random trace to measure with"},
    {.command = "sooth trace drop",
     .line = "sooth trace drop sooth-server.trace --function 'log_*' -o quiet.trace",
     .purpose = "Without what some functions did"},
    {.command = "sooth trace calls",
     .line = "sooth trace calls deep.trace -o calls.trace",
     .purpose = "Add when code that was not recorded was called"},

    {.command = "sooth view", .line = "sooth view sooth-server.json", .purpose = "Open a report in the browser"},

    {.command = "sooth witness",
     .line = "sooth witness check report.json run.std",
     .purpose = "Check the proofs of a report"},
    {.command = "sooth witness check",
     .line = "sooth witness check report.json run.std",
     .purpose = "Check the proofs of a report, by code that shares nothing with the analyses"},
};

}  // namespace

std::vector<CommandExample> examples_of(std::string_view path) {
  std::vector<CommandExample> examples;
  for (const CommandExample& example : kExamples) {
    if (example.command == path) {
      examples.push_back(example);
    }
  }
  return examples;
}

}  // namespace sooth
