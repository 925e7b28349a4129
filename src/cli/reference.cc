// sooth reference: prints what the command line takes, for documentation and for shells. Hidden: the build calls it.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/reference_model.h"
#include "cli/reference_print.h"
#include "cli/usage.h"
#include "report/files.h"

namespace sooth {
namespace {

struct ReferenceFlags {
  std::string format = "markdown";
  std::vector<std::string> command;  // below `sooth`
  std::string output;
};

Status write(const std::string& path, const std::string& text) {
  if (!path.empty()) {
    return write_whole_file(path, text);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);  // main tells when it does not arrive
  return {};
}

Status write_man_pages(const ReferenceCommand& root, const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    return Status::usage("cannot make " + directory + ": " + error.message());
  }
  for (const ReferenceCommand* command : all_commands(root)) {
    SOOTH_RETURN_IF_ERROR(write_whole_file(directory + "/" + man_name(*command) + ".1", man_page(root, *command)));
  }
  return {};
}

Status print(const ReferenceCommand& root, const ReferenceFlags& options) {
  if (options.format == "man" && !options.output.empty()) {
    return write_man_pages(root, options.output);
  }
  if (options.format == "man") {
    const std::string path = join([&] {
      std::vector<std::string> words = options.command;
      words.insert(words.begin(), root.path);
      return words;
    }());
    const ReferenceCommand* command = find_command(root, path);
    return command != nullptr ? write("", man_page(root, *command))
                              : Status::usage("there is no command `" + path + "`");
  }
  if (!options.command.empty()) {
    return Status::usage("only --format man is about one command");
  }
  return write(options.output, options.format == "markdown" ? markdown_page(root)
                               : options.format == "bash"   ? bash_completion(root)
                               : options.format == "zsh"    ? zsh_completion(root)
                                                            : fish_completion(root));
}

}  // namespace

void add_reference_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("reference", "Print the documentation of all commands");
  auto options = std::make_shared<ReferenceFlags>();
  command->add_option("--format", options->format, "A page, the manual page of a command, or completions for a shell")
      ->check(one_of({"markdown", "man", "bash", "zsh", "fish"}))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "Write to this file; for man, all pages into this directory")
      ->type_name("FILE");
  command->add_option("COMMAND", options->command, "For man: the command that the page is about");
  command->group("");
  command->callback([&root, options, &result] {
    const Status status = print(read_reference(root), *options);
    result = status.ok() ? CommandResult(ExitCode::kOk) : CommandResult(status);
  });
}

}  // namespace sooth
