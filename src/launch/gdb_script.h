// What gdb is taught for `sooth replay --gdb`.
#pragma once

#include <string_view>

namespace sooth {

// A script in Python. When the program stops at its race, threads have our names (main, T1, ...) and the user's own code
// is selected, not the run time library's; `sooth other` goes to the other access, `sooth here` back, `sooth both`
// shows the calls of the two, and `sooth` alone says so. It does nothing at other stops.
std::string_view gdb_script();

}  // namespace sooth
