// How much memory this process takes, and how much there is.
#pragma once

#include <cstdint>

namespace sooth {

// Resident bytes of this process; 0 when the system does not tell. A few microseconds.
std::uint64_t resident_bytes();

// What the machine has, or what this process may have of it (control groups), whichever is less; 0: unknown.
std::uint64_t machine_memory();

// What is free is given back to the system, as far as that goes.
void give_back_memory();

}  // namespace sooth
