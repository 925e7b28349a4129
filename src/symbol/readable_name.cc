#include "symbol/readable_name.h"

#include <array>
#include <cctype>
#include <cstddef>
#include <utility>
#include <vector>

namespace sooth {
namespace {

constexpr int kDeepestName = 100;

// Inline namespaces of the two standard libraries.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kInline = {
    {{"std::__cxx11::", "std::"}, {"std::__1::", "std::"}, {"std::__ndk1::", "std::"}}};

// Template arguments that the library fills in. Never the first one.
constexpr std::array<std::string_view, 7> kDefaults = {"std::allocator<",
                                                       "std::less<",
                                                       "std::char_traits<",
                                                       "std::hash<",
                                                       "std::equal_to<",
                                                       "std::default_delete<",
                                                       "std::pmr::polymorphic_allocator<"};

// Templates that everybody calls by a typedef. With <char>.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kTypedefs = {
    {{"std::basic_string", "std::string"},
     {"std::basic_string_view", "std::string_view"},
     {"std::basic_ostream", "std::ostream"},
     {"std::basic_istream", "std::istream"},
     {"std::basic_iostream", "std::iostream"},
     {"std::basic_ofstream", "std::ofstream"},
     {"std::basic_ifstream", "std::ifstream"},
     {"std::basic_fstream", "std::fstream"},
     {"std::basic_ostringstream", "std::ostringstream"},
     {"std::basic_istringstream", "std::istringstream"},
     {"std::basic_stringstream", "std::stringstream"}}};

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':' || c == '~' || c == '$';
}

// The characters at which depth changes, or 0.
int step_of(char c) {
  switch (c) {
    case '<':
    case '(':
    case '{':
    case '[': return 1;
    case '>':
    case ')':
    case '}':
    case ']': return -1;
    default: return 0;
  }
}

// How long the name of an operator is that begins here: its signs are no brackets. 0: there is none.
std::size_t operator_length(std::string_view text, std::size_t at) {
  constexpr std::string_view kWord = "operator";
  if (!text.substr(at).starts_with(kWord) || (at > 0 && text[at - 1] != ':' && is_name_character(text[at - 1]))) {
    return 0;
  }
  std::size_t end = at + kWord.size();
  if (text.substr(end).starts_with("()") || text.substr(end).starts_with("[]")) {
    return end + 2 - at;
  }
  while (end < text.size() && std::string_view("<>=-!&|+*/%^~,").find(text[end]) != std::string_view::npos) {
    ++end;
  }
  // operator<<int> is operator< of <int>.
  return end - at;
}

// The last place of `what` that no bracket encloses.
std::size_t last_outside(std::string_view text, std::string_view what) {
  std::size_t found = std::string_view::npos;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const std::size_t length = operator_length(text, i); length != 0) {
      i += length - 1;
      continue;
    }
    if (depth == 0 && text.substr(i).starts_with(what)) {
      found = i;
    }
    depth += step_of(text[i]);
  }
  return found;
}

std::string lambda_text(std::string name);

// `number` counts from 1.
std::string lambda_in(std::string_view where, unsigned long number) {
  return "lambda " + (number > 1 ? "#" + std::to_string(number) + " " : "") + "in " + lambda_text(std::string(where));
}

// GCC's {lambda(int)#1} and {lambda}, clang's $_0 and 'lambda'.
std::string lambda_text(std::string name) {
  const std::string_view text = name;
  if (const std::size_t at = last_outside(text, "::{lambda"); at != std::string_view::npos) {
    int depth = 0;
    std::size_t end = at + 2;
    for (; end < text.size() && (depth += step_of(text[end])) != 0; ++end) {
    }
    const std::string_view rest = text.substr(std::min(end + 1, text.size()));
    const std::size_t mark = text.substr(0, end).rfind('#');
    if (rest.empty() || rest.starts_with("::operator()") || rest.starts_with("::_FUN") ||
        rest.starts_with("::__invoke")) {
      const bool is_numbered = mark != std::string_view::npos && mark > at;
      return lambda_in(text.substr(0, at), is_numbered ? std::strtoul(name.c_str() + mark + 1, nullptr, 10) : 1);
    }
  }
  if (const std::size_t at = last_outside(text, "::$_"); at != std::string_view::npos) {
    std::size_t end = at + 4;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) {
      ++end;
    }
    const std::string_view rest = text.substr(end);
    if (rest.empty() || rest.starts_with("::operator()") || rest.starts_with("::__invoke")) {
      return lambda_in(text.substr(0, at), std::strtoul(name.c_str() + at + 4, nullptr, 10) + 1);
    }
  }
  return name;
}

class Simplifier {
 public:
  explicit Simplifier(std::string_view name) : name_(name) {}

  std::string run() { return lambda_text(text(false)); }

 private:
  // Up to the end, or in an argument list to what ends the argument.
  std::string text(bool is_argument) {
    std::string out;
    int depth = 0;
    while (at_ < name_.size()) {
      const char c = name_[at_];
      if (depth == 0 && is_argument && (c == ',' || c == '>')) {
        break;
      }
      if (const std::size_t length = operator_length(name_, at_); length != 0) {
        out += name_.substr(at_, length);
        at_ += length;
        continue;
      }
      if (c == '<' && ++nested_ < kDeepestName) {
        ++at_;
        arguments(out);
        --nested_;
        continue;
      }
      depth += c == '<' || c == '>' ? 0 : step_of(c);
      out += c;
      ++at_;
      shorten(out);
    }
    while (!out.empty() && out.back() == ' ') {
      out.pop_back();
    }
    return out;
  }

  static void shorten(std::string& out) {
    for (const auto& [from, to] : kInline) {
      if (out.ends_with(from)) {
        out.replace(out.size() - from.size(), from.size(), to);
      }
    }
  }

  // The list that has been entered; `out` ends in the name of the template.
  void arguments(std::string& out) {
    std::vector<std::string> all;
    while (at_ < name_.size()) {
      while (at_ < name_.size() && name_[at_] == ' ') {
        ++at_;
      }
      all.push_back(lambda_text(text(true)));
      if (at_ >= name_.size() || name_[at_++] == '>') {
        break;
      }
    }
    std::size_t begin = out.size();
    while (begin > 0 && is_name_character(out[begin - 1])) {
      --begin;
    }
    const std::string base = out.substr(begin);
    while (base.starts_with("std::") && all.size() > 1 && is_default(all.back())) {
      all.pop_back();
    }
    for (const auto& [long_name, short_name] : kTypedefs) {
      if (base == long_name && all.size() == 1 && all.front() == "char") {
        out.replace(begin, std::string::npos, short_name);
        return;
      }
    }
    out += '<';
    for (std::size_t i = 0; i < all.size(); ++i) {
      out += (i == 0 ? "" : ", ") + all[i];
    }
    out += '>';
  }

  static bool is_default(std::string_view argument) {
    for (const std::string_view each : kDefaults) {
      if (argument.starts_with(each)) {
        return true;
      }
    }
    return false;
  }

  const std::string_view name_;
  std::size_t at_ = 0;
  int nested_ = 0;
};

}  // namespace

std::string readable_name(std::string_view name) { return Simplifier(name).run(); }

std::string short_function(std::string_view name) {
  std::string text = readable_name(name);
  if (text.ends_with(" const")) {
    text.resize(text.size() - 6);
  }
  if (text.ends_with(")")) {
    int depth = 0;
    std::size_t at = text.size();
    do {
      depth -= step_of(text[--at]);
    } while (depth > 0 && at > 0);
    if (at > 0 && !text.substr(0, at).ends_with("operator")) {
      text.resize(at);
    }
  }
  // What it returns, which only templates have.
  const std::size_t space = last_outside(text, " ");
  if (space != std::string::npos && !text.starts_with("lambda ") && text.find("operator ") == std::string::npos) {
    text.erase(0, space + 1);
  }
  return text.empty() ? text : text + "()";
}

}  // namespace sooth
