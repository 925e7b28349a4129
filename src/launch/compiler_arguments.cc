#include "launch/compiler_arguments.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

namespace sooth {
namespace {

// Options whose value is the next argument (all but -o also have a form in which it is not, which needs no care).
constexpr std::string_view kTakesNext[] = {
    "-o",
    "-x",
    "-I",
    "-D",
    "-U",
    "-L",
    "-B",
    "-T",
    "-u",
    "-z",
    "-e",
    "-A",
    "-G",
    "-J",
    "-F",
    "-V",
    "-b",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-imultilib",
    "-imultiarch",
    "-isystem-after",
    "-include-pch",
    "-ivfsoverlay",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-Xanalyzer",
    "-Xarch_host",
    "-mllvm",
    "-arch",
    "-target",
    "--target",
    "-aux-info",
    "--param",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-wrapper",
    "-framework",
    "--sysroot",
    "-rpath",
    "-working-directory",
    "-serialize-diagnostics",
    "--serialize-diagnostics",
    "-gcc-toolchain",
    "-specs",
};

constexpr std::string_view kStopsBeforeLink[] = {
    "-c",         "-S",           "-E",           "-M",        "-MM",       "-fsyntax-only", "--compile",
    "--assemble", "--preprocess", "--precompile", "-emit-pch", "-emit-ast", "--analyze",
};

constexpr std::string_view kWithoutLibraries[] = {"-r", "-nostdlib", "-nodefaultlibs", "--no-standard-libraries"};

constexpr std::string_view kHeaderSuffixes[] = {".h", ".hh", ".H", ".hp", ".hxx", ".hpp", ".HPP", ".h++", ".tcc"};

constexpr std::string_view kOtherSanitizers[] = {
    "address", "hwaddress", "kernel-address", "kernel-hwaddress", "memory", "kernel-memory", "leak", "dataflow",
};

constexpr int kMaxNesting = 32;  // of response files; one that names itself must end

bool contains(std::span<const std::string_view> list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

void expand(std::span<const std::string> arguments, int nesting, std::vector<std::string>& out) {
  for (const std::string& argument : arguments) {
    if (argument.size() > 1 && argument.front() == '@' && nesting < kMaxNesting) {
      std::ifstream file(argument.substr(1), std::ios::binary);
      if (file) {
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        expand(split_response_file(text), nesting + 1, out);
        continue;
      }
    }
    out.push_back(argument);
  }
}

class Understanding {
 public:
  CompilerJob run(const std::vector<std::string>& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string_view argument = arguments[i];
      const std::string_view next = i + 1 < arguments.size() ? std::string_view(arguments[i + 1]) : std::string_view();
      if (argument.starts_with('-') && argument != "-") {
        option(argument, next);
        i += contains(kTakesNext, argument) || argument == "-Xlinker" ? 1 : 0;
      } else {
        input(argument);
      }
    }
    if (headers_ > 0 && others_ == 0) {
      job_.stops_before_link = true;
    }
    job_.has_input = headers_ + others_ > 0;
    for (std::string_view name : kOtherSanitizers) {
      if (sanitizers_.contains(name)) {
        job_.other_sanitizer = name;
      }
    }
    return job_;
  }

 private:
  void input(std::string_view name) {
    const auto has_suffix = [name](std::string_view suffix) { return name.ends_with(suffix); };
    const bool header = language_.empty()
                            ? std::any_of(std::begin(kHeaderSuffixes), std::end(kHeaderSuffixes), has_suffix)
                            : language_.ends_with("-header");
    ++(header ? headers_ : others_);
  }

  void option(std::string_view word, std::string_view next) {
    if (contains(kStopsBeforeLink, word)) {
      job_.stops_before_link = true;
    } else if (contains(kWithoutLibraries, word)) {
      job_.without_libraries = true;
    } else if (word == "-static" || word == "--static" || word == "-static-pie") {
      job_.fully_static = true;
    } else if (word == "-static-libtsan") {
      job_.static_tsan = true;
    } else if (word == "-fopenmp" || word.starts_with("-fopenmp=")) {
      job_.openmp = true;
    } else if (word == "-fno-openmp") {
      job_.openmp = false;
    } else if (word.starts_with("-x")) {
      const std::string_view language = word == "-x" ? next : word.substr(2);
      language_ = language == "none" ? std::string_view() : language;
    } else if (word.starts_with("-l") || word.starts_with("-Wl,") || word == "-Xlinker") {
      ++others_;  // the linker runs for these alone
    } else if (word.starts_with("-fsanitize=")) {
      change_sanitizers(word.substr(11), true);
    } else if (word.starts_with("-fno-sanitize=")) {
      change_sanitizers(word.substr(14), false);
    }
  }

  void change_sanitizers(std::string_view names, bool on) {
    while (!names.empty()) {
      const std::string_view name = names.substr(0, names.find(','));
      if (on) {
        sanitizers_.insert(name);
      } else if (name == "all") {
        sanitizers_.clear();
      } else {
        sanitizers_.erase(name);
      }
      names.remove_prefix(std::min(names.size(), name.size() + 1));
    }
  }

  CompilerJob job_;
  std::string_view language_;  // of -x; empty: told by the suffix
  std::set<std::string_view> sanitizers_;
  int headers_ = 0;
  int others_ = 0;
};

}  // namespace

CompilerJob understand_compiler_arguments(std::span<const std::string> arguments) {
  if (!arguments.empty() && arguments.front().starts_with("-cc1")) {
    return {};  // clang calling itself: not a driver's command line
  }
  std::vector<std::string> all;
  expand(arguments, 0, all);
  return Understanding().run(all);
}

std::vector<std::string> split_response_file(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (std::string_view(" \t\n\r\v\f").find(c) != std::string_view::npos) {
      if (in_word) {
        words.push_back(std::move(word));
      }
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) {
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace sooth
