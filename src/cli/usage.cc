#include "cli/usage.h"

#include <utility>

#include "base/suggest.h"

namespace sooth {
namespace {

// `sentence` with a full stop, unless it ends in a question, and the help to look at.
Status advised(const std::string& sentence, const std::string& path) {
  return Status::usage(sentence + (sentence.ends_with('?') || sentence.ends_with('.') ? "" : ".") + " Try `" + path +
                       " --help`.");
}

}  // namespace

CLI::Validator one_of(std::vector<std::string> words) {
  // The reference reads the words off the description, as CLI11's own check has it.
  std::string description;
  for (const std::string& word : words) {
    description += (description.empty() ? "{" : ",") + word;
  }
  description += "}";
  return {[words = std::move(words)](std::string& word) -> std::string {
            for (const std::string& known : words) {
              if (word == known) {
                return {};
              }
            }
            return no_such("value", word, words);
          },
          description};
}

std::vector<std::string> visible_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) {
      continue;
    }
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
    for (const std::string& name : option->get_snames()) {
      names.push_back("-" + name);
    }
  }
  return names;
}

std::vector<std::string> visible_commands(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (!below->get_group().empty()) {
      names.push_back(below->get_name());
    }
  }
  return names;
}

Status no_such_option(const CLI::App& command, const std::string& path, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const std::string meant = did_you_mean(name, visible_options(command));
  return advised("`" + path + "` has no option `" + name + "`" + (meant.empty() ? "" : "." + meant), path);
}

Status no_such_command(const CLI::App& parent, const std::string& path, const std::string& word) {
  const std::string meant = did_you_mean(word, visible_commands(parent));
  return advised("there is no command `" + path + " " + word + "`" + (meant.empty() ? "" : "." + meant), path);
}

Status explain_usage(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App* command = &root;
  std::string path = root.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    path += " " + command->get_name();
  }
  const std::vector<std::string> rest = command->remaining();
  const bool group = command->get_require_subcommand_min() > 0;
  if (group && rest.empty()) {
    return advised("`" + path + "` needs a command", path);
  }
  const bool left_over = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (!rest.empty() && (group || left_over)) {
    if (rest.front().starts_with('-')) {
      return no_such_option(*command, path, rest.front());
    }
    return group ? no_such_command(*command, path, rest.front())
                 : advised("`" + path + "` does not know what to do with `" + rest.front() + "`", path);
  }
  return advised(error.what(), path);
}

}  // namespace sooth
