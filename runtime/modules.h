// Program counters and the modules they lie in: the files `sites` and `process` of a recording.
#pragma once

#include "runtime/recorder.h"

namespace sooth::rt {

// Opens the table of sites and writes the command and the modules that are loaded.
bool start_modules();
// The part of it without which is_library_code() does not know.
void find_own_code();
// What happens in the module of this path is not recorded, and does not count in a controlled run.
bool is_excluded_path(const char* path);
// Whether --exclude names anything.
bool excludes_code();
enum class CodeKind : u8 {
  kRecorded,
  kModelled,  // left out, because its entry points stand for all that it does
  kLeftOut,   // as the user wants it: its module or its function matches
};
CodeKind code_kind(uptr pc);
// Is it an address inside this library's code?
bool is_library_code(uptr pc);
// Where main is called from when that is this library, which stands between the program and libc; and what a call is
// shown as because of that.
extern uptr main_caller_;
inline uptr shown_call(uptr pc) { return is_library_code(pc) && main_caller_ != 0 ? main_caller_ : pc; }
// The same file under another number that the program does not expect; -1 when there is none.
int copy_descriptor(int fd);
// Out of the way of the program, which may close or expect small numbers (closes the old one).
int move_descriptor(int fd);

}  // namespace sooth::rt
