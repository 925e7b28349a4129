// Files that are read and written in one piece.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace sooth {

// Whoever hands over a trace may have put a link to something without an end in place of any file.
inline constexpr std::uint64_t kMostSmallBytes = std::uint64_t{4} << 30;

// nullopt when there is no such file. What is no regular file (a pipe, a device), or has more than `most` bytes, is an
// error; nothing is waited for.
Result<std::optional<std::string>> read_small_file(const std::string& path, std::uint64_t most = kMostSmallBytes);
// The same, when it must be there.
Result<std::string> read_required_file(const std::string& path, std::uint64_t most = kMostSmallBytes);
// New files are for their owner alone: they hold data of the program. The same goes for what follows.
Status write_small_file(const std::string& path, std::string_view bytes);
// Written as PATH.tmp and renamed: whoever looks at `path` finds the old file or the whole new one.
Status replace_small_file(const std::string& path, std::string_view bytes);
// Makes the file `sealed`, from which it differs in the first `seal_size` bytes and in what is behind the end. The seal
// comes last: readers mistrust a file without one.
Status seal_file(const std::string& path, std::string_view sealed, std::size_t seal_size);

}  // namespace sooth
