// What threads of recorded programs are called that give themselves no name.
#pragma once

#include <cstdint>
#include <string>

namespace sooth {

// "main", "T1", "T2", ... in the order in which they were created: recordings, controlled runs and reports agree.
inline std::string thread_label(std::uint64_t thread) { return thread == 0 ? "main" : "T" + std::to_string(thread); }

}  // namespace sooth
