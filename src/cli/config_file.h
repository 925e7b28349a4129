// sooth.toml: options that hold for a project. docs/configuration.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace sooth {

// The kind of a value decides how the option takes it.
enum class ConfigKind : std::uint8_t { kText, kNumber, kFlag };

struct ConfigValue {
  ConfigKind kind = ConfigKind::kText;
  std::string text;  // as one would write it on the command line; "true" and "false" for kFlag
};

// One line of the file.
struct ConfigEntry {
  std::string command;  // "run", "trace gen": the table that it stands in; empty at the top, for all commands
  std::string option;   // "fail-on"
  std::vector<ConfigValue> values;
  bool is_list = false;  // in brackets
  std::uint32_t line = 0;
};

struct ConfigFile {
  std::string path;       // as messages show it
  std::string directory;  // that relative names in it are relative to
  std::vector<ConfigEntry> entries;

  // "sooth.toml:3".
  std::string place(const ConfigEntry& entry) const { return path + ":" + std::to_string(entry.line); }
};

inline constexpr char kConfigName[] = "sooth.toml";

// The file of that name in the working directory or the nearest one above it; empty when there is none. As a relative
// path, "../sooth.toml". Files that belong to somebody else than this user and root are passed over, with a sentence in
// `notes`: they could name programs' files to leave out.
std::string find_config_file(std::vector<std::string>& notes);

// Errors name the file and the line.
Result<ConfigFile> read_config_file(const std::string& path);
// The same for what stands in it; `path` is for messages and relative names.
Result<ConfigFile> parse_config(const std::string& text, const std::string& path);

}  // namespace sooth
