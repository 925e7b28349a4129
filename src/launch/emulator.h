// Programs for another machine than this one run under QEMU's emulator of their processor, with our run time library of
// that machine inside. Recordings and reports have nothing that depends on it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "symbol/elf_file.h"

namespace sooth {

struct Emulator {
  std::string path;  // qemu-MACHINE
  std::string
      root;  // where it looks for the program's dynamic linker and libraries: QEMU_LD_PREFIX; empty: in this system
};

// Nothing for this machine. Fails, with what to install, when there is none for the other one.
Result<std::optional<Emulator>> find_emulator(Machine machine);

// What prepare_program() found out that the program needs. As with the engine, a setting of the process: none until
// somebody chooses. Not while other threads run.
void choose_emulator(std::optional<Emulator> emulator);
const std::optional<Emulator>& emulator();

// What it must find in its environment to load `libraries` (the value of LD_PRELOAD) into the program, not into itself.
std::vector<std::pair<std::string, std::string>> emulator_environment(const std::string& libraries);

}  // namespace sooth
