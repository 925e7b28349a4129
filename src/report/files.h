// Whole files in and out, with sentences for what can go wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace sooth {

// The bytes of `path`, whatever it is; standard input for "-". More than `most` of them are an error: a device or a pipe
// may have no end.
inline constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 30;
Result<std::string> read_whole_file(const std::string& path, std::uint64_t most = kMostFileBytes);

// Readers of `path` see the old file or the new one, never a part: the text goes to a neighbour that is then
// renamed. What is no regular file (a terminal, a pipe, /dev/null) is written to directly; symbolic links are
// followed. A new file has the mode that the umask gives, or is for its owner alone; one that exists keeps its mode.
enum class NewFile : std::uint8_t { kByUmask, kForOwner };
Status write_whole_file(const std::string& path, std::string_view text, NewFile mode = NewFile::kByUmask);

}  // namespace sooth
