// Whole files in and out, with sentences for what can go wrong.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace sooth {

// The bytes of `path`; standard input for "-".
Result<std::string> read_whole_file(const std::string& path);

// Readers of `path` see the old file or the new one, never a part: the text goes to a neighbour that is then
// renamed. What is no regular file (a terminal, a pipe, /dev/null) is written to directly; symbolic links are
// followed.
Status write_whole_file(const std::string& path, std::string_view text);

}  // namespace sooth
