// How the run time library learns what a program does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sooth {

enum class Engine : unsigned char {
  kHooks,     // the program was compiled with -fsanitize=thread and calls the library
  kLocks,     // any program: functions that the library wraps, and nothing else; no accesses
  kValgrind,  // any program: under Valgrind, whose code for our tool calls the library for each access
};

// What the user asked for, or what a report was made with. One command works with one program, so this is a setting of
// the process: kHooks until somebody chooses. Not while other threads run.
Engine engine();
void choose_engine(Engine engine);

// "hooks", "locks", "valgrind".
std::string_view engine_name(Engine engine);
// False: it is none of these.
bool engine_from_name(std::string_view name, Engine& engine);

}  // namespace sooth
