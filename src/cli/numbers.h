// Numbers as people write and read them.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "base/status.h"

namespace sooth {

// "1500", "10k", "2.5M", "1G": decimal, powers of 1000. An error when it is no whole number.
Result<std::uint64_t> parse_count(std::string_view text);
// "30", "30s", "500ms", "1.5m", "2h": seconds when it has no unit. At most a year; an error when it is something else.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);
// "999", "12.3k", "4.0M": at most five characters below a million millions.
std::string short_count(double count);
// Bytes: "999 B", "12.3 kB", "4.0 MB".
std::string short_size(std::uint64_t bytes);
// "3 s", "2 min 5 s", "1 h 3 min".
std::string short_duration(double seconds);

// An option that takes a count and keeps its value in `number`, which must live as long as `command`.
template <typename Number>
CLI::Option* add_count_option(CLI::App& command, const std::string& name, Number& number, const std::string& help) {
  const auto set = [&number, name](const std::string& text) {
    const Result<std::uint64_t> count = parse_count(text);
    if (!count.ok()) {
      throw CLI::ValidationError(name, count.status().message());
    }
    if (*count > std::numeric_limits<Number>::max()) {
      throw CLI::ValidationError(name, text + " is too large");
    }
    number = static_cast<Number>(*count);
  };
  return command.add_option_function<std::string>(name, set, help)->type_name("N")->default_str(std::to_string(number));
}

// Likewise one that takes a duration. `what_default` is shown as the default.
CLI::Option* add_duration_option(CLI::App& command, const std::string& name, std::chrono::milliseconds& duration,
                                 const std::string& help, const std::string& what_default);

// --lock-order.
CLI::Option* add_lock_order_option(CLI::App& command, bool& all);
// --stateless, for StatelessLibraries.
CLI::Option* add_stateless_option(CLI::App& command, std::vector<std::string>& libraries);
// --max-memory, in bytes; `bytes` becomes the default.
CLI::Option* add_memory_option(CLI::App& command, std::uint64_t& bytes);

}  // namespace sooth
