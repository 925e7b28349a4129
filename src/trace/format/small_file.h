// Files that are read and written in one piece.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace sooth {

// nullopt when there is no such file. Does not wait for whoever fills a pipe.
Result<std::optional<std::string>> read_small_file(const std::string& path);
// The same, when it must be there.
Result<std::string> read_required_file(const std::string& path);
Status write_small_file(const std::string& path, std::string_view bytes);
// Written as PATH.tmp and renamed: whoever looks at `path` finds the old file or the whole new one.
Status replace_small_file(const std::string& path, std::string_view bytes);
// Makes the file `sealed`, from which it differs in the first `seal_size` bytes and in what is behind the end. The seal
// comes last: readers mistrust a file without one.
Status seal_file(const std::string& path, std::string_view sealed, std::size_t seal_size);

}  // namespace sooth
