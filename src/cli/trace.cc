#include "cli/command.h"
#include "trace/generate.h"
namespace sooth {
void add_trace_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("trace", "");
  auto o = std::make_shared<GenerateOptions>();
  auto out = std::make_shared<std::string>();
  command->add_option("--events", o->events); command->add_option("--threads", o->threads); command->add_option("--locks", o->locks);
  command->add_option("--vars", o->variables); command->add_option("--sites", o->sites); command->add_option("-o", *out);
  command->callback([=, &result] { auto w = create_trace(*out, TraceFormat::kDirectory, {}); Status s = generate_trace(*o, **w); if (s.ok()) s = (*w)->finish(); if (!s.ok()) result = s; });
}
}
