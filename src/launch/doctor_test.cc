#include "launch/doctor.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace sooth {
namespace {

// A machine on which everything works.
MachineFacts healthy() {
  MachineFacts facts;
  facts.has_deep_pass = true;
  facts.scratch = "/tmp";
  facts.here = "/home/me";
  facts.scratch_free = facts.here_free = facts.memory = std::uint64_t{8} << 30;
  facts.cores = 2;
  for (FoundTool* tool :
       {&facts.compiler, &facts.clang, &facts.deep_clang, &facts.gdb, &facts.valgrind, &facts.browser}) {
    tool->name = "tool";
    tool->path = "/usr/bin/tool";
  }
  return facts;
}

TEST(DoctorTest, AHealthyMachineHasNothing) {
  for (const Diagnosis& each : diagnose(healthy())) {
    EXPECT_EQ(each.health, Health::kGood) << each.subject << ": " << each.finding;
    EXPECT_EQ(each.remedy, "") << each.subject;
  }
}

TEST(DoctorTest, WhatIsWrongIsNamedWithItsRemedy) {
  const struct {
    std::function<void(MachineFacts&)> harm;
    Health health;
    const char* subject;
    const char* finding;  // a part of it
    const char* remedy;   // likewise
  } cases[] = {
      {[](MachineFacts& f) { f.runtime_error = "no library"; }, Health::kBroken, "run time library", "no library",
       "cmake --install"},
      {[](MachineFacts& f) { f.proc_error = "no /proc"; }, Health::kBroken, "/proc", "no /proc", "mount -t proc"},
      {[](MachineFacts& f) { f.compiler.path.clear(); }, Health::kNote, "compiler", "no `tool` in PATH", "g++"},
      {[](MachineFacts& f) { f.clang.path.clear(); }, Health::kNote, "clang", "no `tool` in PATH", "clang"},
      {[](MachineFacts& f) { f.compiler.path = f.clang.path = ""; }, Health::kBroken, "compiler", "in PATH",
       "SOOTH_CC"},
      {[](MachineFacts& f) {
         f.clang.path.clear();
         f.compiler.error = "ld: cannot find -ltsan";
       },
       Health::kBroken, "compiler", "-ltsan", "libtsan"},
      {[](MachineFacts& f) { f.trial_error = "killed"; }, Health::kBroken, "recording", "killed", "LD_PRELOAD"},
      {[](MachineFacts& f) { f.fixes_addresses = false; }, Health::kNote, "addresses", "ASLR", "seccomp=unconfined"},
      {[](MachineFacts& f) { f.ptrace_scope = 2; }, Health::kNote, "ptrace", "ptrace_scope is 2", "ptrace_scope=1"},
      {[](MachineFacts& f) { f.ptrace_scope = 3; }, Health::kNote, "ptrace", "ptrace_scope is 3", "start the machine"},
      {[](MachineFacts& f) { f.scratch_free = 100 << 20; }, Health::kNote, "disk", "100 MB are free in /tmp", "TMPDIR"},
      {[](MachineFacts& f) { f.scratch_free = 1 << 20; }, Health::kBroken, "disk", "1 MB", "TMPDIR"},
      {[](MachineFacts& f) { f.scratch_error = "Read-only"; }, Health::kBroken, "disk", "Read-only", "TMPDIR"},
      {[](MachineFacts& f) { f.here_free = 0; }, Health::kNote, "disk", "/home/me", "-o DIR"},
      {[](MachineFacts& f) { f.file_limit = 5 << 20; }, Health::kNote, "files", "5 MB (ulimit -f)", "ulimit -f"},
      {[](MachineFacts& f) { f.memory = 1 << 30; }, Health::kNote, "memory", "1 GB are available", "--max-trace"},
      {[](MachineFacts& f) { f.memory_limit = 1 << 30; }, Health::kNote, "memory", "are allowed", "ulimit -v"},
      {[](MachineFacts& f) { f.memory_limit = 1 << 20; }, Health::kBroken, "memory", "1 MB", "--memory"},
      {[](MachineFacts& f) { f.cores = 1; }, Health::kNote, "cores", "there is one", "two"},
      {[](MachineFacts& f) { f.has_deep_pass = false; }, Health::kNote, "deep", "was not built", "SOOTH_WITH_DEEP"},
      {[](MachineFacts& f) { f.deep_clang.path.clear(); }, Health::kNote, "deep", "not in PATH", "apt-get"},
      {[](MachineFacts& f) { f.deep_clang.error = "no pass"; }, Health::kNote, "deep", "no pass", "apt-get"},
      {[](MachineFacts& f) { f.gdb.path.clear(); }, Health::kNote, "gdb", "--gdb", "apt-get install gdb"},
      {[](MachineFacts& f) { f.browser.path.clear(); }, Health::kNote, "browser", "sooth view", "xdg-utils"},
      {[](MachineFacts& f) { f.valgrind.path.clear(); }, Health::kNote, "valgrind", "compare.sh", "valgrind"},
      {[](MachineFacts& f) { f.has_seccomp = false; }, Health::kNote, "seccomp", "has none", "strangers"},
      {[](MachineFacts& f) { f.makes_namespaces = false; }, Health::kNote, "namespaces", "may not", "sysctl"},
      {[](MachineFacts& f) { f.program.emplace().refusal = "linked statically"; }, Health::kBroken, "program",
       "statically", "docs/"},
      {[](MachineFacts& f) { f.program.emplace(); }, Health::kBroken, "program", "not instrumented", "sooth c++"},
      {[](MachineFacts& f) { f.program.emplace().instrumented = true; }, Health::kNote, "lines", "no debug", "-g"},
      {[](MachineFacts& f) {
         f.program.emplace().instrumented = true;
         f.program->has_lines = true;
         f.program->unseen = {"liba.so", "libb.so"};
       },
       Health::kNote, "libraries", "liba.so, libb.so", "docs/rdit.md"},
  };
  for (const auto& each : cases) {
    MachineFacts facts = healthy();
    each.harm(facts);
    const std::vector<Diagnosis> all = diagnose(facts);
    int found = 0;
    for (const Diagnosis& diagnosis : all) {
      if (diagnosis.subject == each.subject && diagnosis.health == each.health) {
        EXPECT_NE(diagnosis.finding.find(each.finding), std::string::npos) << diagnosis.finding;
        EXPECT_NE(diagnosis.remedy.find(each.remedy), std::string::npos) << diagnosis.remedy;
        ++found;
      }
    }
    EXPECT_EQ(found, 1) << each.subject << ", " << each.finding;
    EXPECT_EQ(is_broken(all), each.health == Health::kBroken) << each.subject << ", " << each.finding;
  }
}

}  // namespace
}  // namespace sooth
