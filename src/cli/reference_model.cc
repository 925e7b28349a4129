#include "cli/reference_model.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>
#include <string_view>

#include "cli/command.h"
#include "pipeline/registry.h"

namespace sooth {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

// What CLI11 shows behind the name of an option is its type and the description of each check: `TEXT:{a,b}`,
// `N:POSITIVE`. Only checks for members of a set tell something that the type does not.
struct ValueType {
  std::string name;
  std::vector<std::string> members;
};

ValueType read_type(CLI::Option& option) {
  ValueType type;
  std::string checks;
  try {
    for (int i = 0;; ++i) {
      const std::string check = option.get_validator(i)->get_description();
      checks += check.empty() ? "" : ":" + check;
      if (check.size() > 2 && check.front() == '{' && check.back() == '}') {
        type.members = split(std::string_view(check).substr(1, check.size() - 2), ',');
      }
    }
  } catch (const CLI::OptionNotFound&) {
    // That was the last one.
  }
  const std::string all = option.get_type_name();
  type.name = all.substr(0, all.size() - checks.size());
  return type;
}

// "pct:D" stands for "pct:" and something that only the user knows; "PATTERN" for nothing that a shell could offer.
std::string fixed_part(const std::string& alternative) {
  const auto variable =
      std::find_if(alternative.begin(), alternative.end(), [](unsigned char c) { return std::isupper(c) != 0; });
  return std::string(alternative.begin(), variable);
}

void read_value(CLI::Option& option, ReferenceOption& out) {
  const ValueType type = read_type(option);
  out.value = type.members.empty() ? type.name : join(type.members, "|");
  out.words = type.members;
  if (type.name == kAnalysesType) {
    for (const DetectorInfo& detector : detectors()) {
      out.words.emplace_back(detector.name);
    }
    out.kind = ValueKind::kWordList;
  } else if (type.members.empty() && type.name.find('|') != std::string::npos) {
    for (const std::string& alternative : split(type.name, '|')) {
      if (std::string word = fixed_part(alternative); !word.empty()) {
        out.words.push_back(std::move(word));
      }
    }
    out.kind = ValueKind::kWords;
  } else if (!type.members.empty()) {
    out.kind = ValueKind::kWords;
  } else if (type.name == "DIR" || type.name == "[DIR]") {
    out.kind = ValueKind::kDirectory;
  } else if (type.name == "FILE" || type.name == "OUT" || type.name.ends_with(".json")) {
    out.kind = ValueKind::kFile;
  } else {
    out.kind = ValueKind::kText;
  }
}

ReferenceOption read_option(CLI::Option& option) {
  ReferenceOption out;
  for (const std::string& name : option.get_snames()) {
    out.names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    out.names.push_back("--" + name);
  }
  out.help = option.get_description();
  out.required = option.get_required();
  out.repeatable = option.get_expected_max() > 1;
  out.value_optional = option.get_items_expected_min() == 0;
  if (option.get_items_expected_max() > 0) {
    read_value(option, out);
    out.preset = option.get_default_str();
  }
  return out;
}

// A positional argument is a trace or a report: a file or a directory.
ReferenceOption read_positional(CLI::Option& option) {
  ReferenceOption out = read_option(option);
  const std::string name = option.get_name(true, false);
  out.names = {name.substr(0, name.find(','))};
  std::transform(out.names[0].begin(), out.names[0].end(), out.names[0].begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  out.kind = ValueKind::kFile;
  out.value.clear();
  return out;
}

// A footer may begin with `Usage: ` and a sentence; that is the synopsis then, and the rest is text.
void read_footer(const CLI::App& app, ReferenceCommand& out) {
  constexpr std::string_view kUsage = "Usage: ", kEnd = ". ", kMore = "...";
  // Commands without a footer inherit that of their parent, which is not about them.
  const CLI::App* parent = app.get_parent();
  out.text = parent != nullptr && parent->get_footer() == app.get_footer() ? "" : app.get_footer();
  if (out.text.starts_with(kUsage)) {
    std::size_t end = out.text.find(kEnd);
    while (end != std::string::npos && std::string_view(out.text).substr(0, end + 1).ends_with(kMore)) {
      end = out.text.find(kEnd, end + 1);  // `FILE... -o OUT`: the sentence goes on
    }
    out.synopsis = out.text.substr(kUsage.size(), end - kUsage.size());
    out.text.erase(0, end == std::string::npos ? end : end + kEnd.size());
    return;
  }
  out.synopsis = out.path + " [OPTIONS]" + (out.commands.empty() ? "" : " COMMAND");
  for (const ReferenceOption& positional : out.positionals) {
    const std::string name = positional.names[0] + (positional.repeatable ? "..." : "");
    out.synopsis += " " + (positional.required ? name : "[" + name + "]");
  }
  out.synopsis += out.starts_program ? " [-- PROGRAM ARGUMENTS]" : "";
}

ReferenceCommand read_command(CLI::App& app, const std::string& path) {
  ReferenceCommand out;
  out.path = path;
  out.summary = app.get_description();
  out.starts_program =
      app.get_parent() != nullptr && app.get_parent()->get_parent() == nullptr && starts_program(app.get_name());
  for (CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) {
      continue;
    }
    if (option->get_positional()) {
      out.positionals.push_back(read_positional(*option));
    }
    if (option->nonpositional()) {
      out.options.push_back(read_option(*option));
    }
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    if (!command->get_group().empty()) {
      out.commands.push_back(read_command(*command, path + " " + command->get_name()));
    }
  }
  read_footer(app, out);
  out.examples = examples_of(path);
  return out;
}

}  // namespace

ReferenceCommand read_reference(CLI::App& root) { return read_command(root, root.get_name()); }

std::vector<const ReferenceCommand*> all_commands(const ReferenceCommand& command) {
  std::vector<const ReferenceCommand*> all = {&command};
  for (const ReferenceCommand& below : command.commands) {
    const std::vector<const ReferenceCommand*> more = all_commands(below);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

const ReferenceCommand* find_command(const ReferenceCommand& root, const std::string& path) {
  for (const ReferenceCommand* command : all_commands(root)) {
    if (command->path == path) {
      return command;
    }
  }
  return nullptr;
}

std::string join(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : separator) + word;
  }
  return text;
}

std::string brief(const std::string& help) {
  const std::string line = help.substr(0, help.find('\n'));
  const std::string sentence = line.substr(0, line.find(". "));
  return sentence.substr(0, sentence.find_last_not_of(".:") + 1);
}

std::vector<TextBlock> text_blocks(const std::string& text) {
  constexpr std::string_view kIndent = "  ";
  std::vector<TextBlock> blocks;
  bool open = false;  // the last block goes on
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool verbatim = line.starts_with(kIndent);
    if (line.empty()) {
      open = false;
    } else if (!open || blocks.back().verbatim != verbatim) {
      blocks.push_back({verbatim, {verbatim ? line.substr(kIndent.size()) : line}});
      open = true;
    } else if (verbatim) {
      blocks.back().lines.push_back(line.substr(kIndent.size()));
    } else {
      blocks.back().lines.back() += " " + line;
    }
  }
  return blocks;
}

}  // namespace sooth
