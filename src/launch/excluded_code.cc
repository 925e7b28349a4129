#include "launch/excluded_code.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/glob.h"
#include "base/text.h"
#include "symbol/debug_file.h"
#include "symbol/demangle.h"
#include "symbol/symbol_table.h"

namespace sooth {
namespace {

// A variable of the environment has at most 128 KiB, with its name.
constexpr std::size_t kMostBytes = 100 * 1024;

// `ns::f(int)::{lambda()#1}::operator()() const` -> what stands in front of the last parameter list.
std::string_view without_parameters(std::string_view name) {
  const std::size_t close = name.rfind(')');
  if (close == std::string_view::npos) {
    return name;
  }
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    depth += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
    if (depth == 0) {
      return name.substr(0, i);
    }
  }
  return name;
}

class FunctionFinder {
 public:
  explicit FunctionFinder(const std::vector<std::string>& patterns) {
    for (const std::string& pattern : patterns) {
      if (pattern.starts_with(kFunctionPrefix)) {
        patterns_.push_back({pattern.substr(kFunctionPrefix.size()), false});
      }
    }
  }

  bool empty() const { return patterns_.empty(); }

  void look_into(const BinaryInfo& file) {
    const Result<std::unique_ptr<DebugFile>> opened =
        DebugFile::open(file.path, file.build_id, SeparateDebug::kOfInstrumented);
    if (!opened.ok()) {
      return;  // whoever reports its races says that it has no symbols
    }
    std::string ranges;
    std::uint64_t begin = 0, end = 0;
    const auto flush = [&] {
      if (end > begin) {
        ranges += (ranges.empty() ? "" : " ") + hex_digits(begin) + "-" + hex_digits(end);
      }
    };
    const SymbolTable symbols(**opened);
    for (const SymbolTable::Symbol& function : symbols.functions()) {
      if (!matches(function.name)) {
        continue;
      }
      if (function.begin > end || end == 0) {
        flush();
        begin = function.begin;
      }
      end = std::max(end, function.end);
    }
    flush();
    if (!ranges.empty()) {
      std::error_code error;
      const std::string path = std::filesystem::canonical(file.path, error).string();
      found_.ranges +=
          (file.build_id.empty() ? "-" : file.build_id) + " " + (error ? file.path : path) + "\n" + ranges + "\n";
    }
  }

  Result<ExcludedCode> finish() {
    if (found_.ranges.size() > kMostBytes) {
      return Status::usage(
          "--exclude func: names too many functions; leave out the files that they are in, or fewer of them");
    }
    for (const Pattern& pattern : patterns_) {
      if (!pattern.matched) {
        found_.notes.push_back(
            "note: no function of the program, or of the libraries that it is linked with, matches " +
            std::string(kFunctionPrefix) + pattern.text +
            "; libraries that it loads by itself are not looked at, and inlined functions are part of others");
      }
    }
    return std::move(found_);
  }

 private:
  struct Pattern {
    std::string text;
    bool matched;
  };

  bool matches(const char* symbol) {
    bool any = false;
    for (Pattern& pattern : patterns_) {
      if (names_function(pattern.text, symbol)) {
        any = pattern.matched = true;
      }
    }
    return any;
  }

  std::vector<Pattern> patterns_;
  ExcludedCode found_;
};

}  // namespace

bool names_function(std::string_view pattern, std::string_view symbol) {
  const std::string readable = demangle(symbol);
  const std::string_view plain = symbol.substr(0, symbol.find('.'));
  const std::string uncloned = demangle(plain);
  return glob_match(pattern, symbol) || glob_match(pattern, plain) || glob_match(pattern, readable) ||
         glob_match(pattern, uncloned) || glob_match(pattern, without_parameters(uncloned));
}

Result<ExcludedCode> find_excluded_code(const ProgramInfo& program, const std::vector<std::string>& patterns) {
  FunctionFinder finder(patterns);
  if (finder.empty()) {
    return ExcludedCode{};
  }
  finder.look_into(program.main);
  for (const NeededLibrary& library : program.libraries) {
    // Functions of code that is not instrumented are not seen anyhow.
    if (!library.info.path.empty() && library.info.tsan == Tsan::kUndefined) {
      finder.look_into(library.info);
    }
  }
  return finder.finish();
}

}  // namespace sooth
