#include "race/user_code.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/wildcard.h"

namespace sooth {
namespace {

constexpr std::array<std::string_view, 5> kSystemFolders = {"/usr/include/", "/usr/lib/", "/usr/lib64/", "/lib/",
                                                            "/lib64/"};
// Where compilers keep the headers of their libraries, wherever they are installed.
constexpr std::array<std::string_view, 4> kLibraryFolders = {"/include/c++/", "/c++/v1/", "/lib/gcc/", "/lib/clang/"};
constexpr std::array<std::string_view, 2> kOwnLibraries = {"/libtsan.so", "/libsooth"};

template <typename List>
bool starts_with_any(std::string_view text, const List& list) {
  return std::any_of(list.begin(), list.end(), [&](std::string_view each) { return text.starts_with(each); });
}

template <typename List>
bool has_any(std::string_view text, const List& list) {
  return std::any_of(list.begin(), list.end(),
                     [&](std::string_view each) { return text.find(each) != std::string_view::npos; });
}

// What stands between the brackets is left out, with them: "f<int>(g<2>)" becomes "f".
std::string without_brackets(std::string_view text) {
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (depth == 0 && (rest.starts_with("operator<") || rest.starts_with("operator>") ||
                       rest.starts_with("operator-") || rest.starts_with("operator()"))) {
      // The name itself has brackets.
      std::size_t end = 8;
      while (end < rest.size() && std::string_view("<>-=()").find(rest[end]) != std::string_view::npos &&
             !(end > 9 && rest[end] == '(')) {
        ++end;
      }
      out += rest.substr(0, end);
      i += end - 1;
      continue;
    }
    const char c = text[i];
    if (c == '<' || c == '(' || c == '{' || c == '[') {
      ++depth;
    } else if ((c == '>' || c == ')' || c == '}' || c == ']') && depth > 0) {
      --depth;
    } else if (depth == 0) {
      out += c;
    }
  }
  return out;
}

std::string qualified(std::string_view function) {
  std::string name = without_brackets(function);
  for (const std::string_view tail : {" const", " volatile", " &", " &&", " noexcept"}) {
    if (name.ends_with(tail)) {
      name.erase(name.size() - tail.size());
    }
  }
  while (name.ends_with(' ')) {
    name.pop_back();  // "operator<< <char>"
  }
  const std::size_t kept = name.find("operator");
  const std::size_t blank = name.substr(0, kept).rfind(' ');
  return blank == std::string::npos ? name : name.substr(blank + 1);
}

bool is_library_function(std::string_view function) {
  const std::string name = qualified(function);
  return name.starts_with("std::") || name.starts_with("__gnu_cxx::") || name.starts_with("__tsan_") ||
         name.starts_with("__libc_") || name == "_start";
}

}  // namespace

bool UserCode::is_user(const Site& site) const {
  if (!patterns_.empty()) {
    return std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& pattern) {
      return matches_template(pattern, site.file) || matches_template(pattern, site.function) ||
             matches_template(pattern, site.module);
    });
  }
  if (starts_with_any(site.module, kSystemFolders) || has_any(site.module, kOwnLibraries)) {
    return false;
  }
  if (!site.file.empty()) {
    return !starts_with_any(site.file, kSystemFolders) && !has_any(site.file, kLibraryFolders);
  }
  return !is_library_function(site.function);
}

std::size_t UserCode::innermost(const Site& site, const std::vector<Site>& stack) const {
  if (is_user(site)) {
    return 0;
  }
  const auto found = std::find_if(stack.begin(), stack.end(), [this](const Site& each) { return is_user(each); });
  return found == stack.end() ? 0 : static_cast<std::size_t>(found - stack.begin()) + 1;
}

std::string bare_function(std::string_view function) {
  const std::string name = qualified(function);
  const std::size_t kept = name.find("operator");
  const std::size_t colons = name.substr(0, kept).rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

std::string bare_variable(std::string_view name) {
  std::string out;
  bool digits = false;  // inside of an index
  for (const char c : name) {
    if (digits && (c == '.' || std::isdigit(static_cast<unsigned char>(c)) != 0)) {
      continue;  // "[3]", "[0..11]"
    }
    digits = c == '[';
    out += c;
  }
  const std::size_t plus = out.rfind('+');
  const bool offset = plus != std::string::npos && plus + 1 < out.size() &&
                      std::all_of(out.begin() + static_cast<std::ptrdiff_t>(plus) + 1, out.end(),
                                  [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
  return offset ? out.substr(0, plus) : out;
}

}  // namespace sooth
