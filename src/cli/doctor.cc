// sooth doctor: what on this machine keeps Sooth from working, and what to do about it.
#include "launch/doctor.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/command.h"
#include "report/describe.h"

namespace sooth {
namespace {

const char* mark_of(Health health) {
  switch (health) {
    case Health::kGood: return "ok";
    case Health::kNote: return "note";
    case Health::kBroken: return "BROKEN";
  }
  return "";
}

CommandResult examine(const std::string& program) {
  std::error_code error;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", error).string();
  const std::vector<Diagnosis> all = diagnose(gather_facts(program, error ? "sooth" : self));
  for (const Diagnosis& each : all) {
    std::printf("%-7s %s: %s\n", mark_of(each.health), each.subject.c_str(), printable(each.finding).c_str());
    if (!each.remedy.empty()) {
      std::printf("        -> %s\n", each.remedy.c_str());
    }
  }
  const bool broken = is_broken(all);
  std::printf("\n%s\n", broken ? "Sooth does not work here as it is. What is BROKEN has to be mended first."
                               : "Sooth works here. Notes are about parts that you may not need.");
  return broken ? ExitCode::kInternal : ExitCode::kOk;
}

}  // namespace

void add_doctor_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("doctor", "Say what on this machine keeps Sooth from working");
  auto program = std::make_shared<std::string>();
  command->add_option("PROGRAM", *program, "Also say whether this program can be recorded")->type_name("");
  command->footer(
      "Looks at the machine and tries: compiles a small program with each compiler, and records it. Prints a line for\n"
      "each thing that it looked at, with what to do where something is wrong. Exit status: 0 when Sooth works here, "
      "70\n"
      "when something that it needs is broken. Notes are about parts that not everybody uses; they change nothing.");
  command->callback([program, &result] { result = examine(*program); });
}

}  // namespace sooth
