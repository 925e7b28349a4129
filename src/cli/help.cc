// sooth help: what --help prints, for those who ask the other way round.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/reference_print.h"
#include "cli/usage.h"

namespace sooth {
namespace {

constexpr std::size_t kPipeWidth = 80, kLeastWidth = 40, kMostWidth = 120;

std::size_t help_width() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) != 1 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return kPipeWidth;
  }
  return std::clamp<std::size_t>(size.ws_col, kLeastWidth, kMostWidth);
}

CommandResult help(CLI::App& root, const std::vector<std::string>& words) {
  CLI::App* command = &root;
  std::string path = root.get_name();
  for (const std::string& word : words) {
    const auto named = command->get_subcommands([&](CLI::App* each) { return each->get_name() == word; });
    if (named.empty()) {
      return no_such_command(*command, path, word);
    }
    command = named.front();
    path += " " + word;
  }
  print_help(root, path);
  return ExitCode::kOk;
}

}  // namespace

void print_help(CLI::App& root, const std::string& path) {
  const ReferenceCommand reference = read_reference(root);
  const ReferenceCommand* command = find_command(reference, path);
  const std::string page = help_page(command != nullptr ? *command : reference, help_width());
  std::fwrite(page.data(), 1, page.size(), stdout);  // main tells when it does not arrive
}

void add_help_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("help", "Explain a command");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("COMMAND", *words, "The command to explain; none: what commands there are")->type_name("");
  command->callback([&root, words, &result] { result = help(root, *words); });
}

}  // namespace sooth
