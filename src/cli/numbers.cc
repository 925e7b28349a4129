#include "cli/numbers.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

#include "base/memory_use.h"

namespace sooth {
namespace {

// 0 when there is no such suffix.
std::uint64_t factor_of(char suffix) {
  switch (suffix) {
    case 'k':
    case 'K': return 1'000;
    case 'M': return 1'000'000;
    case 'G': return 1'000'000'000;
    default: return 0;
  }
}

}  // namespace

// In integers: 64-bit counts do not fit into doubles.
Result<std::uint64_t> parse_count(std::string_view text) {
  const Status error =
      Status::usage("\"" + std::string(text) + "\" is not a count: write digits and perhaps k, M or G, like 10M");
  const std::uint64_t suffix = text.empty() ? 0 : factor_of(text.back());
  std::uint64_t unit = suffix == 0 ? 1 : suffix;
  if (suffix != 0) {
    text.remove_suffix(1);
  }
  std::uint64_t count = 0;
  bool digits = false;
  bool fraction = false;
  for (const char c : text) {
    if (c == '.' && digits && !fraction && unit > 1) {
      fraction = true;
      digits = false;
      continue;
    }
    if (c < '0' || c > '9' || (fraction && unit % 10 != 0)) {
      return error;
    }
    digits = true;
    unit /= fraction ? 10 : 1;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (fraction) {
      if (__builtin_add_overflow(count, digit * unit, &count)) {
        return error;
      }
    } else if (__builtin_mul_overflow(count, std::uint64_t{10}, &count) ||
               __builtin_add_overflow(count, digit * unit, &count)) {
      return error;
    }
  }
  return digits ? Result<std::uint64_t>(count) : Result<std::uint64_t>(error);
}

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ms", 1}, {"s", 1e3}, {"min", 60e3}, {"m", 60e3}, {"h", 3600e3}};
  constexpr double kYear = 366 * 24 * 3600e3;
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view digits = text.substr(0, end), unit = text.substr(end);
  double factor = unit.empty() ? 1e3 : 0;
  for (const auto& [name, milliseconds] : kUnits) {
    factor = name == unit ? milliseconds : factor;
  }
  double number = 0;
  const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || last != digits.data() + digits.size() || factor == 0 || number * factor > kYear) {
    return Status::usage("\"" + std::string(text) +
                         "\" is not a duration: write a number and perhaps ms, s, m or h, like 90s");
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(number * factor));
}

CLI::Option* add_duration_option(CLI::App& command, const std::string& name, std::chrono::milliseconds& duration,
                                 const std::string& help, const std::string& what_default) {
  const auto set = [&duration, name](const std::string& text) {
    const Result<std::chrono::milliseconds> parsed = parse_duration(text);
    if (!parsed.ok()) {
      throw CLI::ValidationError(name, parsed.status().message());
    }
    duration = *parsed;
  };
  return command.add_option_function<std::string>(name, set, help)->type_name("T")->default_str(what_default);
}

std::string short_count(double count) {
  const char* suffix = "";
  for (const char* next : {"k", "M", "G", "T"}) {
    if (count < 999.95) {
      break;
    }
    count /= 1000;
    suffix = next;
  }
  char text[40];
  std::snprintf(text, sizeof text, *suffix == '\0' ? "%.0f%s" : "%.1f%s", count, suffix);
  return text;
}

std::string short_size(std::uint64_t bytes) {
  std::string text = short_count(static_cast<double>(bytes));
  text.insert(text.find_last_of("0123456789") + 1, " ");
  return text + "B";
}

std::string short_duration(double seconds) {
  const auto whole = static_cast<unsigned long long>(seconds + 0.5);
  char text[60];
  if (whole < 60) {
    std::snprintf(text, sizeof text, "%llu s", whole);
  } else if (whole < 3600) {
    std::snprintf(text, sizeof text, "%llu min %llu s", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%llu h %llu min", whole / 3600, whole / 60 % 60);
  }
  return text;
}

CLI::Option* add_lock_order_option(CLI::App& command, bool& all) {
  return command
      .add_option_function<std::string>(
          "--lock-order", [&all](const std::string& which) { all = which == "tsan"; },
          "Which cycles of locks to report. possible: those that can happen. tsan: all that ThreadSanitizer would "
          "report, "
          "also those of one thread alone")
      ->check(CLI::IsMember({"possible", "tsan"}))
      ->default_str("possible");
}

CLI::Option* add_stateless_option(CLI::App& command, std::vector<std::string>& libraries) {
  return command
      .add_option("--stateless", libraries,
                  "A library that is not instrumented and keeps nothing between calls, like libfoo or libfoo.so.1: it "
                  "orders threads by what it is given only. zlib and its like are known; may be repeated")
      ->type_name("LIB")
      ->allow_extra_args(false);
}

CLI::Option* add_memory_option(CLI::App& command, std::uint64_t& bytes) {
  bytes = machine_memory() / 2;
  return add_count_option(command, "--max-memory", bytes,
                          "Bytes that analyses may take while they read the trace: one for which that is not enough "
                          "ends early, and the report says so. 0: no limit")
      ->default_str("half of what the machine has");
}

}  // namespace sooth
