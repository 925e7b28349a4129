// How the run time library learns what a program does.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace sooth {

enum class Engine : unsigned char {
  kHooks,     // the program was compiled with -fsanitize=thread and calls the library
  kLocks,     // any program: functions that the library wraps, and nothing else; no accesses
  kValgrind,  // any program: under Valgrind, whose code for our tool calls the library for each access
};

// What the user asked for, what a report was made with, or what prepare_program() chose for the program. One command works with
// one program, so this is a setting of the process: kHooks until somebody chooses. Not while other threads run.
Engine engine();
void choose_engine(Engine engine);
bool engine_is_chosen();

// "hooks", "locks", "valgrind".
std::string_view engine_name(Engine engine);
// False: it is none of these.
bool engine_from_name(std::string_view name, Engine& engine);

// Whether there is a tool for Engine::kValgrind, and a Valgrind for it; what to do when there is none.
Status find_valgrind_tool();

// What to start for `words`, a program and its arguments: these, or Valgrind or an emulator with them.
std::vector<std::string> started_words(const std::vector<std::string>& words);
// What Valgrind must find in its environment: NAME, VALUE. Nothing for other engines.
std::vector<std::pair<std::string, std::string>> engine_environment();

}  // namespace sooth
