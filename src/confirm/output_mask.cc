#include "confirm/output_mask.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sooth {
namespace {

constexpr std::size_t kMostShown = 3, kLongestShown = 80;

std::vector<std::string_view> lines_in(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string shown(const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size() && i < kMostShown; ++i) {
    const bool is_long = lines[i].size() > kLongestShown;
    text += (i == 0 ? "\"" : ", \"") + lines[i].substr(0, kLongestShown) + (is_long ? "...\"" : "\"");
  }
  return text + (lines.size() > kMostShown ? ", ..." : "");
}

}  // namespace

Result<OutputMask> OutputMask::of(const std::vector<std::string>& patterns) {
  OutputMask mask;
  for (const std::string& pattern : patterns) {
    try {
      mask.patterns_.emplace_back(pattern);
    } catch (const std::regex_error& error) {
      return Status::usage("\"" + pattern + "\" is no regular expression: " + error.what());
    }
  }
  return mask;
}

OutputMask::Words OutputMask::words_of(std::string_view line) {
  Words words;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    words.emplace_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

bool OutputMask::learn(std::string_view one, std::string_view other) {
  const std::vector<std::string_view> a = lines_in(one), b = lines_in(other);
  if (a.size() != b.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (masked(a[i]) == masked(b[i])) {
      continue;
    }
    Words words = words_of(a[i]);
    const Words others = words_of(b[i]);
    if (words.size() != others.size()) {
      return false;
    }
    for (std::size_t k = 0; k < words.size(); ++k) {
      words[k] = words[k] == others[k] ? std::move(words[k]) : std::nullopt;
    }
    varying_.push_back(std::move(words));
  }
  return true;
}

std::string OutputMask::masked(std::string_view line) const {
  std::string text(line);
  for (const std::regex& pattern : patterns_) {
    text = std::regex_replace(text, pattern, "*");
  }
  const Words words = words_of(text);
  for (const Words& each : varying_) {
    const bool is_like = each.size() == words.size() &&
                         std::equal(each.begin(), each.end(), words.begin(),
                                    [](const auto& a, const auto& b) { return !a.has_value() || a == b; });
    if (is_like) {
      std::string joined;
      for (const auto& word : each) {
        joined += (joined.empty() ? "" : " ") + word.value_or("*");
      }
      return joined;
    }
  }
  return text;
}

std::vector<std::string> OutputMask::apply(std::string_view text) const {
  std::vector<std::string> lines;
  for (const std::string_view line : lines_in(text)) {
    lines.push_back(masked(line));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string difference_of(const std::vector<std::string>& printed, const std::vector<std::string>& usual) {
  std::vector<std::string> here, there;
  std::set_difference(printed.begin(), printed.end(), usual.begin(), usual.end(), std::back_inserter(here));
  std::set_difference(usual.begin(), usual.end(), printed.begin(), printed.end(), std::back_inserter(there));
  if (here.empty()) {
    return "did not print " + shown(there);
  }
  return "printed " + shown(here) + (there.empty() ? "" : " instead of " + shown(there));
}

}  // namespace sooth
