#include "launch/engine.h"

#include <filesystem>
#include <optional>

#include "launch/emulator.h"
#include "launch/program_path.h"
#include "launch/runtime_library.h"

namespace sooth {
namespace {

std::optional<Engine> chosen;

constexpr Engine kAll[] = {Engine::kHooks, Engine::kLocks, Engine::kValgrind};

constexpr char kToolName[] = "sooth-amd64-linux";
// Of the distribution's package, by a link beside the tool.
constexpr char kCoreName[] = "vgpreload_core-amd64-linux.so";

// With the tool, and links to what Valgrind needs; empty: unknown.
std::string tool_directory() {
  const Result<RuntimeLibrary> library = find_runtime_library();
  return library.ok() ? library->directory + "/valgrind" : "";
}

}  // namespace

Engine engine() { return chosen.value_or(Engine::kHooks); }
bool engine_is_chosen() { return chosen.has_value(); }
void choose_engine(Engine engine) { chosen = engine; }

std::string_view engine_name(Engine engine) {
  switch (engine) {
    case Engine::kHooks: return "hooks";
    case Engine::kLocks: return "locks";
    case Engine::kValgrind: return "valgrind";
  }
  return "";
}

bool engine_from_name(std::string_view name, Engine& engine) {
  for (const Engine each : kAll) {
    if (engine_name(each) == name) {
      engine = each;
      return true;
    }
  }
  return false;
}

Status find_valgrind_tool() {
  const std::string directory = tool_directory();
  std::error_code error;
  if (!std::filesystem::exists(directory + "/" + kToolName, error)) {
    return Status::usage(
        "this sooth was built without the engine for programs as they are: it needs the package valgrind "
        "when it is built");
  }
  if (!std::filesystem::exists(directory + "/" + kCoreName, error)) {
    return Status::usage("Valgrind is not installed; install the package valgrind");
  }
  return {};
}

std::vector<std::string> started_words(const std::vector<std::string>& words) {
  if ((engine() != Engine::kValgrind && !emulator().has_value()) || words.empty()) {
    return words;
  }
  const Result<std::string> path = find_program(words.front());
  std::vector<std::string> all;
  if (emulator().has_value()) {
    all = {emulator()->path, "-0", words.front()};  // it tells the program how it was called
  } else {
    all = {tool_directory() + "/" + kToolName, "--tool=sooth", "--command-line-only=yes", "--quiet", "--vgdb=no", "--"};
  }
  all.push_back(path.ok() ? *path : words.front());
  all.insert(all.end(), words.begin() + 1, words.end());
  return all;
}

std::vector<std::pair<std::string, std::string>> engine_environment() {
  if (engine() != Engine::kValgrind) {
    return {};
  }
  const std::string directory = tool_directory();
  return {{"VALGRIND_LIB", directory}, {"VALGRIND_LAUNCHER", directory + "/" + kToolName}};
}

}  // namespace sooth
