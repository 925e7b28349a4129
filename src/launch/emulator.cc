#include "launch/emulator.h"

#include <cstdlib>
#include <filesystem>

#include "launch/program_path.h"

namespace sooth {
namespace {

std::optional<Emulator> chosen_emulator;

}  // namespace

Result<std::optional<Emulator>> find_emulator(Machine machine) {
  if (machine == kThisMachine) {
    return std::optional<Emulator>();
  }
  const std::string name(machine_name(machine));
  Emulator found;
  for (const char* suffix : {"", "-static"}) {
    const Result<std::string> path = find_program("qemu-" + name + suffix);
    if (path.ok() && found.path.empty()) {
      found.path = *path;
    }
  }
  if (found.path.empty()) {
    return Status::usage("it is for " + name + ", which needs an emulator here: install qemu-user");
  }
  // Where the distribution's cross compilers keep the libraries that they link with.
  const char* root = std::getenv("QEMU_LD_PREFIX");
  const std::string usual = "/usr/" + name + "-linux-gnu";
  std::error_code error;
  found.root = root != nullptr ? root : std::filesystem::is_directory(usual + "/lib", error) ? usual : "";
  return std::optional<Emulator>(std::move(found));
}

void choose_emulator(std::optional<Emulator> emulator) { chosen_emulator = std::move(emulator); }
const std::optional<Emulator>& emulator() { return chosen_emulator; }

std::vector<std::pair<std::string, std::string>> emulator_environment(const std::string& libraries) {
  std::vector<std::pair<std::string, std::string>> settings = {{"QEMU_SET_ENV", "LD_PRELOAD=" + libraries}};
  if (chosen_emulator.has_value() && !chosen_emulator->root.empty()) {
    settings.emplace_back("QEMU_LD_PREFIX", chosen_emulator->root);
  }
  return settings;
}

}  // namespace sooth
