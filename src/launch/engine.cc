#include "launch/engine.h"

namespace sooth {
namespace {

Engine chosen = Engine::kHooks;

constexpr Engine kAll[] = {Engine::kHooks, Engine::kLocks, Engine::kValgrind};

}  // namespace

Engine engine() { return chosen; }
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

}  // namespace sooth
