// Libraries of a recorded program that are not instrumented: what they order with atomics of their own is not seen.
#pragma once

#include <string>
#include <vector>

namespace sooth {

struct UnseenLibraries {
  // That the program needs, or was seen to have loaded: file names, sorted. Those of the C and C++ run time, whose
  // synchronisation is seen, are not among them; nor are files that are gone.
  std::vector<std::string> loaded;
  // Of these, the ones that may put accesses of instrumented code in order without being seen: instrumented code calls
  // them by name or loaded them by itself; or others of these call them, and they wait or synchronise by means that are
  // not seen. Calls of POSIX, C11 and C++ synchronisation are seen wherever they are made. A library that is only there
  // because another needs it, and does neither, orders nothing.
  // Of a program that is not instrumented itself: its own name, and nothing else.
  std::vector<std::string> may_order;
  bool is_plain_program = false;
};

// Nothing of what is no recording.
UnseenLibraries unseen_libraries(const std::string& directory);

}  // namespace sooth
