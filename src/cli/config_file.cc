#include "cli/config_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace sooth {
namespace {

constexpr std::size_t kLargestFile = 1 << 20;

// Each part of a dotted key is a table in the one before, and the library destroys tables within each other: so many that
// they fill the stack would end the process. Nobody needs more than two dots in a key, or many numbers.
constexpr std::size_t kMostDots = 1000;

// Dots that may be part of a key. A text that does not end counts as one that does at the end of its line.
std::size_t dots_outside_texts(std::string_view text) {
  std::size_t dots = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    dots += c == '.' ? 1 : 0;
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '"' || c == '\'') {
      const std::string_view fence = text.substr(at, 3) == std::string(3, c) ? text.substr(at, 3) : text.substr(at, 1);
      at += fence.size();
      for (; at < text.size() && text.substr(at, fence.size()) != fence && (fence.size() == 3 || text[at] != '\n');
           ++at) {
        at += c == '"' && text[at] == '\\' ? 1 : 0;
      }
      at += fence.size() - 1;
      // A text of several lines may end in up to two quotes of its own.
      for (int own = 0;
           own < 2 && fence.size() == 3 && text.substr(std::min(at + 1, text.size()), 1) == fence.substr(0, 1); ++own) {
        ++at;
      }
    }
  }
  return dots;
}

// A number as it would be typed: 90, not 90.000000.
std::string typed(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

Result<ConfigValue> read_value(const toml::node& node) {
  if (const auto* text = node.as_string()) {
    if (text->get().find('\0') != std::string::npos) {
      return Status::bad_input("a value cannot have a zero byte in it");
    }
    return ConfigValue{ConfigKind::kText, text->get()};
  }
  if (const auto* number = node.as_integer()) {
    return ConfigValue{ConfigKind::kNumber, std::to_string(number->get())};
  }
  if (const auto* number = node.as_floating_point()) {
    return ConfigValue{ConfigKind::kNumber, typed(number->get())};
  }
  if (const auto* flag = node.as_boolean()) {
    return ConfigValue{ConfigKind::kFlag, flag->get() ? "true" : "false"};
  }
  return Status::bad_input("a value is a text in quotes, a number, true, false, or a list of these in brackets");
}

class ConfigReader {
 public:
  explicit ConfigReader(ConfigFile& file) : file_(file) {}

  Status read(const toml::table& table, const std::string& command) {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (const toml::table* below = node.as_table()) {
        SOOTH_RETURN_IF_ERROR(read(*below, command.empty() ? name : command + " " + name));
      } else {
        SOOTH_RETURN_IF_ERROR(read_entry(name, key.source().begin.line, node, command));
      }
    }
    return {};
  }

 private:
  Status read_entry(const std::string& name, std::uint32_t line, const toml::node& node, const std::string& command) {
    ConfigEntry entry;
    entry.command = command;
    entry.option = name;
    entry.line = line;
    const toml::array* list = node.as_array();
    entry.is_list = list != nullptr;
    const auto add = [&](const toml::node& element) -> Status {
      Result<ConfigValue> value = read_value(element);
      if (!value.ok()) {
        return std::move(value).status().prefixed(file_.path + ":" + std::to_string(element.source().begin.line));
      }
      entry.values.push_back(std::move(*value));
      return {};
    };
    if (list == nullptr) {
      SOOTH_RETURN_IF_ERROR(add(node));
    } else {
      for (const toml::node& element : *list) {
        SOOTH_RETURN_IF_ERROR(add(element));
      }
    }
    file_.entries.push_back(std::move(entry));
    return {};
  }

  ConfigFile& file_;
};

}  // namespace

std::string find_config_file(std::vector<std::string>& notes) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  std::string up;
  for (std::filesystem::path folder = here; !error; folder = folder.parent_path()) {
    const std::string name = up + kConfigName;
    struct stat info {};
    if (::stat(name.c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
      if (info.st_uid == ::geteuid() || info.st_uid == 0) {
        return name;
      }
      notes.push_back(name + " belongs to another user and is not read; `--config " + name + "` reads it");
    }
    if (folder == folder.parent_path()) {
      break;
    }
    up += "../";
  }
  return {};
}

// What has no size, as a device or a pipe, may have no end either.
Result<ConfigFile> read_config_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return Status::bad_input("cannot read " + path + ": it is a directory");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Status::bad_input("cannot read " + path + ": " + std::strerror(errno));
  }
  std::string text(kLargestFile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) {
    return Status::bad_input("cannot read " + path + ": " + std::strerror(errno));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargestFile) {
    return Status::bad_input(path + ": larger than a megabyte: that is no configuration");
  }
  return parse_config(text, path);
}

Result<ConfigFile> parse_config(const std::string& text, const std::string& path) {
  ConfigFile file;
  file.path = path;
  file.directory = std::filesystem::path(path).parent_path().string();
  if (dots_outside_texts(text) > kMostDots) {
    return Status::bad_input(path + ": more than " + std::to_string(kMostDots) +
                             " dots outside of texts: that is no configuration");
  }
  try {
    const toml::table table = toml::parse(std::string_view(text));
    SOOTH_RETURN_IF_ERROR(ConfigReader(file).read(table, ""));
  } catch (const toml::parse_error& error) {
    return Status::bad_input(path + ":" + std::to_string(error.source().begin.line) + ": " +
                             std::string(error.description()));
  }
  return file;
}

}  // namespace sooth
