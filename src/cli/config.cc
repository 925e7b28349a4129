#include "cli/config.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/suggest.h"
#include "cli/command.h"
#include "cli/reference_model.h"
#include "cli/usage.h"

namespace sooth {
namespace {

// What a project has no say in: where a report goes, and what is asked only once.
constexpr std::string_view kNotInFiles[] = {"help", "output", "config", "no-config", "list", "live", "shard"};
constexpr std::string_view kReportCommand = "report";  // reads the file, besides those that start programs

bool reads_config(const CLI::App& command) {
  return starts_program(command.get_name()) || command.get_name() == kReportCommand;
}

bool may_be_in_file(const std::string& option) {
  return std::find(std::begin(kNotInFiles), std::end(kNotInFiles), option) == std::end(kNotInFiles);
}

// The long names of the options that a file may set.
std::vector<std::string> settable(const CLI::App& command) {
  std::vector<std::string> names;
  for (const std::string& name : visible_options(command)) {
    if (name.starts_with("--") && may_be_in_file(name.substr(2))) {
      names.push_back(name.substr(2));
    }
  }
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// An option that no command has, or not the one of its table, is a typing error: silence would hide it.
Status check_entry(const CLI::App& root, const ConfigFile& file, const ConfigEntry& entry) {
  std::vector<std::string> commands, options;
  for (const CLI::App* command : root.get_subcommands([](const CLI::App* each) { return reads_config(*each); })) {
    commands.push_back(command->get_name());
    if (entry.command.empty() || entry.command == command->get_name()) {
      for (std::string& name : settable(*command)) {
        if (!contains(options, name)) {
          options.push_back(std::move(name));
        }
      }
    }
  }
  const std::string place = file.place(entry) + ": ";
  if (!entry.command.empty() && !contains(commands, entry.command)) {
    return Status::bad_input(place + no_such("table", entry.command, commands));
  }
  if (!contains(options, entry.option)) {
    const std::string who = entry.command.empty() ? "no command has" : "`sooth " + entry.command + "` does not have";
    return Status::bad_input(place + who + " an option `" + entry.option + "` that this file could set." +
                             did_you_mean(entry.option, options));
  }
  return {};
}

// The values as the command line would have them.
Result<std::vector<std::string>> words_for(const ReferenceOption& option, bool repeatable, const ConfigFile& file,
                                           const ConfigEntry& entry) {
  const bool flag = option.kind == ValueKind::kNone;
  const bool joined = option.kind == ValueKind::kWordList;
  if (entry.is_list && !joined && !repeatable && entry.values.size() > 1) {
    return Status::bad_input("takes one value");
  }
  std::vector<std::string> words;
  for (const ConfigValue& value : entry.values) {
    if (flag != (value.kind == ConfigKind::kFlag)) {
      return Status::bad_input(flag ? "is true or false" : "takes a value, not true or false");
    }
    if (joined && value.text.find(',') == std::string::npos && value.text != "none" &&
        !contains(option.words, value.text)) {
      return Status::bad_input(no_such("analysis", value.text, option.words));
    }
    const bool path = option.kind == ValueKind::kFile || option.kind == ValueKind::kDirectory;
    const bool relative = path && !value.text.starts_with('/') && !value.text.empty() && !file.directory.empty();
    words.push_back(relative ? file.directory + "/" + value.text : value.text);
  }
  return joined && !words.empty() ? std::vector<std::string>{join(words, ",")} : words;
}

void set_option(CLI::Option& option, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (option.get_trigger_on_parse()) {
      option.clear();  // each value is taken by itself, as on the command line
    }
    option.add_result(word);
    if (option.get_trigger_on_parse()) {
      option.run_callback();
    }
  }
  if (!option.get_trigger_on_parse() && !words.empty()) {
    option.run_callback();
  }
}

const ReferenceOption* find_option(const ReferenceCommand& command, const std::string& name) {
  const auto has_name = [&](const ReferenceOption& option) { return contains(option.names, "--" + name); };
  const auto found = std::find_if(command.options.begin(), command.options.end(), has_name);
  return found == command.options.end() ? nullptr : &*found;
}

// What was used, for the report.
std::string used_path;
std::vector<std::string> used_options;

std::string config_sentence() { return "options from " + used_path + ": " + join(used_options, ", "); }

struct ConfigFlags {
  std::string file;
  bool none = false;
};

void load(CLI::App& root, CLI::App& command, const ConfigFlags& flags) {
  std::vector<std::string> notes;
  const std::string path = flags.none ? "" : !flags.file.empty() ? flags.file : find_config_file(notes);
  for (const std::string& note : notes) {
    say("note: " + note);
  }
  if (path.empty()) {
    return;
  }
  const Result<ConfigFile> file = read_config_file(path);
  Result<std::vector<std::string>> used =
      file.ok() ? apply_config(root, command, command.get_name(), *file) : file.status();
  if (!used.ok()) {
    throw CLI::FileError(used.status().message());
  }
  used_path = path;
  used_options = std::move(*used);
  const bool reports = command.get_option_no_throw("--fail-on") != nullptr;
  if (!used_options.empty() && !reports) {
    say("note: " + config_sentence());
  }
}

}  // namespace

Result<std::vector<std::string>> apply_config(CLI::App& root, CLI::App& command, const std::string& path,
                                              const ConfigFile& file) {
  for (const ConfigEntry& entry : file.entries) {
    SOOTH_RETURN_IF_ERROR(check_entry(root, file, entry));
  }
  const ReferenceCommand reference = read_reference(root);
  const ReferenceCommand* described = find_command(reference, reference.path + " " + path);
  std::vector<std::string> used;
  // The table of the command first: what it says is not for the top of the file to say again.
  for (const bool own : {true, false}) {
    for (const ConfigEntry& entry : file.entries) {
      if ((own ? path : "") != entry.command) {
        continue;
      }
      CLI::Option* option = command.get_option_no_throw("--" + entry.option);
      const ReferenceOption* help = described == nullptr ? nullptr : find_option(*described, entry.option);
      if (option == nullptr || help == nullptr || option->count() > 0 || contains(used, entry.option)) {
        continue;
      }
      const std::string where = file.place(entry) + ": " + entry.option;
      Result<std::vector<std::string>> words =
          words_for(*help, help->repeatable || option->get_trigger_on_parse(), file, entry);
      if (!words.ok()) {
        return std::move(words).status().prefixed(where);
      }
      if (help->kind == ValueKind::kNone && !words->empty() && words->front() == "false") {
        continue;
      }
      try {
        set_option(*option, *words);
      } catch (const CLI::ParseError& error) {
        return Status::bad_input(file.place(entry) + ": " + error.what());
      }
      used.push_back(entry.option);
    }
  }
  return used;
}

void add_config_options(CLI::App& root) {
  for (CLI::App* command : root.get_subcommands([](CLI::App* each) { return reads_config(*each); })) {
    auto flags = std::make_shared<ConfigFlags>();
    command->add_option("--config", flags->file, "Take options from this file (default: sooth.toml here or above)")
        ->type_name("FILE");
    command->add_flag("--no-config", flags->none, "Take no options from a file");
    command->parse_complete_callback([&root, command, flags] { load(root, *command, *flags); });
  }
}

void note_config(Report& report) {
  if (used_options.empty()) {
    return;
  }
  const std::string sentence = config_sentence();
  if (!contains(report.notes, sentence)) {
    report.notes.push_back(sentence);
  }
}

}  // namespace sooth
