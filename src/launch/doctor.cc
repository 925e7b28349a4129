#include "launch/doctor.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "launch/compiler_command.h"
#include "launch/preflight.h"

namespace sooth {
namespace {

constexpr std::uint64_t kMega = std::uint64_t{1} << 20, kGiga = std::uint64_t{1} << 30;
// `sooth run` records up to 128 MB by default, and more than once; one that keeps them wants more.
constexpr std::uint64_t kLittleDisk = 2 * kGiga, kNoDisk = 64 * kMega;
constexpr std::uint64_t kLittleMemory = 2 * kGiga, kNoMemory = 256 * kMega;

std::string size_text(std::uint64_t bytes) {
  return bytes >= kGiga ? std::to_string(bytes / kGiga) + " GB" : std::to_string(bytes / kMega) + " MB";
}

Diagnosis good(std::string subject, std::string finding) {
  return {Health::kGood, std::move(subject), std::move(finding), ""};
}
Diagnosis note(std::string subject, std::string finding, std::string remedy) {
  return {Health::kNote, std::move(subject), std::move(finding), std::move(remedy)};
}
Diagnosis broken(std::string subject, std::string finding, std::string remedy) {
  return {Health::kBroken, std::move(subject), std::move(finding), std::move(remedy)};
}

Diagnosis judge_library(const MachineFacts& facts) {
  return facts.runtime_error.empty()
             ? good("run time library", "is there")
             : broken("run time library", facts.runtime_error, "install Sooth again: `cmake --install build`");
}

// `other_works`: one compiler that works is enough.
Diagnosis judge_compiler(const char* subject, const FoundTool& tool, const char* package, bool other_works) {
  const std::string use = ", or name another one: SOOTH_CC=... SOOTH_CXX=...";
  const auto tell = [&](const std::string& finding, const std::string& remedy) {
    return other_works ? note(subject, finding, remedy) : broken(subject, finding, remedy);
  };
  if (tool.path.empty()) {
    return tell("there is no `" + tool.name + "` in PATH", "apt-get install " + std::string(package) + use);
  }
  if (tool.error.empty()) {
    return good(subject, tool.path + " compiles programs for Sooth");
  }
  return tell(tool.error, tool.error.find("tsan") != std::string::npos
                              ? "the compiler came without ThreadSanitizer; install the package with libtsan (Debian: "
                                "libgcc-12-dev, libclang-rt-19-dev; Fedora: libtsan)"
                              : "see what it says: `sooth cc -v FILE.c`" + use);
}

Diagnosis judge_trial(const MachineFacts& facts) {
  if (!facts.trial_error.empty()) {
    return broken("recording", facts.trial_error,
                  "see whether a sandbox forbids LD_PRELOAD or the mapping of files, and what SOOTH_OPTIONS, "
                  "TSAN_OPTIONS and LD_PRELOAD are set to");
  }
  return good("recording", "a small program was recorded");
}

Diagnosis judge_addresses(const MachineFacts& facts) {
  return facts.fixes_addresses
             ? good("addresses", "can be the same in every run (ASLR can be turned off for a program)")
             : note("addresses",
                    "differ from run to run: this system does not let a program turn ASLR off (personality), so a "
                    "replay may leave its schedule where a program sorts or hashes addresses",
                    "in a container: `docker run --security-opt seccomp=unconfined`; elsewhere, as root: `sysctl "
                    "kernel.randomize_va_space=0`");
}

Diagnosis judge_ptrace(const MachineFacts& facts) {
  const int scope = facts.ptrace_scope.value_or(0);
  if (scope < 2) {
    return good("ptrace", scope == 0 ? "is allowed" : "is allowed for programs that a debugger starts itself");
  }
  return note("ptrace",
              "is not allowed (kernel.yama.ptrace_scope is " + std::to_string(scope) +
                  "): `sooth replay --gdb` cannot stop at a race",
              scope == 2 ? "as root: `sysctl kernel.yama.ptrace_scope=1`"
                         : "set kernel.yama.ptrace_scope=1 in /etc/sysctl.d and start the machine again");
}

void judge_places(const MachineFacts& facts, std::vector<Diagnosis>& out) {
  const std::string set = "set TMPDIR to a directory on a disk with more room";
  if (!facts.scratch_error.empty()) {
    out.push_back(broken("disk", "no file can be made in " + facts.scratch + ": " + facts.scratch_error, set));
  } else if (facts.scratch_free < kLittleDisk) {
    const std::string finding = size_text(facts.scratch_free) + " are free in " + facts.scratch +
                                ", where recordings are while they are analysed";
    out.push_back(facts.scratch_free < kNoDisk ? broken("disk", finding, set) : note("disk", finding, set));
  } else {
    out.push_back(good("disk", size_text(facts.scratch_free) + " are free in " + facts.scratch));
  }
  if (facts.here_free < kLittleDisk) {
    out.push_back(note(
        "disk", size_text(facts.here_free) + " are free in " + facts.here + ", where `sooth record` puts recordings",
        "name another place: `sooth record -o DIR`, or bound it: `--max-trace 500M`"));
  }
  if (facts.file_limit != 0 && facts.file_limit < kGiga) {
    out.push_back(
        note("files",
             "no file may be larger than " + size_text(facts.file_limit) + " (ulimit -f): longer recordings end there",
             "`ulimit -f unlimited`"));
  }
}

Diagnosis judge_memory(const MachineFacts& facts) {
  const bool limited = facts.memory_limit != 0 && facts.memory_limit < facts.memory;
  const std::uint64_t memory = limited ? facts.memory_limit : facts.memory;
  const std::string finding =
      size_text(memory) + (limited ? " are allowed (ulimit -v, or the control group)" : " are available");
  if (memory >= kLittleMemory) {
    return good("memory", finding);
  }
  const std::string remedy = limited ? "`ulimit -v unlimited`, or more for the container (`docker run --memory 8g`)"
                                     : "end other programs, or record less: `--max-trace 20M`, `--jobs 1`";
  return memory < kNoMemory ? broken("memory", finding, remedy)
                            : note("memory", finding + ": large recordings may need more", remedy);
}

Diagnosis judge_deep(const MachineFacts& facts) {
  const std::string needs = "`sooth c++ --deep`, for the analysis recipe, ";
  if (!facts.has_deep_pass) {
    return note("deep", needs + "was not built", "build Sooth with -DSOOTH_WITH_DEEP=ON and llvm-19-dev");
  }
  const std::string clang = deep_compiler(false);
  if (facts.deep_clang.path.empty()) {
    return note("deep", needs + "needs " + clang + ", which is not in PATH", "apt-get install " + clang);
  }
  return facts.deep_clang.error.empty() ? good("deep", facts.deep_clang.path + " loads the pass of --deep")
                                        : note("deep", facts.deep_clang.error, "apt-get install " + clang);
}

void judge_tools(const MachineFacts& facts, std::vector<Diagnosis>& out) {
  out.push_back(facts.gdb.path.empty()
                    ? note("gdb", "is not in PATH: `sooth replay --gdb` needs it", "apt-get install gdb")
                    : good("gdb", facts.gdb.path));
  out.push_back(facts.browser.path.empty()
                    ? note("browser", "none was found for `sooth view`",
                           "open the page that it prints on another machine, or apt-get install xdg-utils")
                    : good("browser", facts.browser.path));
  out.push_back(facts.valgrind.path.empty()
                    ? note("valgrind",
                           "is not in PATH; only scripts/compare.sh, which compares Sooth with Helgrind "
                           "and DRD, needs it",
                           "apt-get install valgrind")
                    : good("valgrind", facts.valgrind.path));
  if (!facts.has_seccomp) {
    out.push_back(note("seccomp", "the kernel has none: damaged code in a --deep recording is read with your rights",
                       "analyse no deep recordings of strangers here"));
  }
  out.push_back(
      facts.makes_namespaces
          ? good("namespaces", "this user may make them")
          : note("namespaces",
                 "this user may not make them; only scripts/try-bare.sh and try-release.sh need them, or root",
                 "as root: `sysctl kernel.unprivileged_userns_clone=1`"));
}

void judge_program(const ProgramFacts& program, std::vector<Diagnosis>& out) {
  if (!program.refusal.empty()) {
    out.push_back(broken("program", program.refusal, "see docs/recording.md"));
    return;
  }
  if (!program.instrumented) {
    out.push_back(
        broken("program", program.path + " is not instrumented: nothing in it can be recorded", kHowToInstrument));
    return;
  }
  out.push_back(good("program", program.path + " can be recorded"));
  out.push_back(program.has_lines ? good("lines", "it has debug information")
                                  : note("lines", "it has no debug information: reports have no files and lines",
                                         "compile with -g, and do not strip it"));
  if (!program.unseen.empty()) {
    std::string names;
    for (const std::string& name : program.unseen) {
      names += (names.empty() ? "" : ", ") + name;
    }
    out.push_back(note("libraries", "not instrumented: " + names + "; what they do is not recorded",
                       "build them with `sooth c++` as well, or see docs/rdit.md"));
  }
}

}  // namespace

std::vector<Diagnosis> diagnose(const MachineFacts& facts) {
  std::vector<Diagnosis> out;
  out.push_back(judge_library(facts));
  if (!facts.proc_error.empty()) {
    out.push_back(broken("/proc", facts.proc_error, "mount it: `mount -t proc proc /proc`"));
  }
  const auto works = [](const FoundTool& tool) { return !tool.path.empty() && tool.error.empty(); };
  out.push_back(judge_compiler("compiler", facts.compiler, "g++", works(facts.clang)));
  out.push_back(judge_compiler("clang", facts.clang, "clang", works(facts.compiler)));
  out.push_back(judge_trial(facts));
  judge_places(facts, out);
  out.push_back(judge_memory(facts));
  if (facts.cores < 2) {
    out.push_back(note("cores", "there is one: runs are confirmed one after the other", "allow two or more"));
  }
  out.push_back(judge_addresses(facts));
  out.push_back(judge_ptrace(facts));
  out.push_back(judge_deep(facts));
  judge_tools(facts, out);
  if (facts.program) {
    judge_program(*facts.program, out);
  }
  return out;
}

bool is_broken(const std::vector<Diagnosis>& diagnoses) {
  return std::any_of(diagnoses.begin(), diagnoses.end(),
                     [](const Diagnosis& each) { return each.health == Health::kBroken; });
}

}  // namespace sooth
