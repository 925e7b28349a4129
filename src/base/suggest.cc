#include "base/suggest.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace sooth {
namespace {

constexpr std::size_t kLongestWord = 64;  // of what is compared: the time goes with the square

// Steps between two words: insertions, deletions, replacements, swaps of neighbours (optimal string alignment).
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before(to.size() + 1), last(to.size() + 1), row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) {
    last[j] = j;
  }
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = std::exchange(last, std::exchange(row, before));
  }
  return last[to.size()];
}

std::string_view without_dashes(std::string_view word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

}  // namespace

std::string nearest_word(std::string_view word, std::span<const std::string> known) {
  const std::string_view bare = without_dashes(word);
  if (bare.empty() || bare.size() > kLongestWord) {
    return {};
  }
  std::size_t fewest = std::max<std::size_t>(1, bare.size() / 3) + 1;
  std::string nearest;
  for (const std::string& each : known) {
    const std::string_view candidate = without_dashes(each);
    if (candidate.empty() || candidate.size() > kLongestWord) {
      continue;
    }
    // A beginning is nearer than any typing error; one letter is the beginning of too much.
    const std::size_t steps = bare.size() > 1 && candidate.starts_with(bare) ? 0 : distance(bare, candidate);
    if (steps < fewest && steps < candidate.size()) {
      fewest = steps;
      nearest = each;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const std::string nearest = nearest_word(word, known);
  return nearest.empty() ? "" : " Did you mean `" + nearest + "`?";
}

std::string no_such(std::string_view kind, std::string_view word, std::span<const std::string> known) {
  std::string list;
  for (const std::string& each : known) {
    list += (list.empty() ? "" : ", ") + each;
  }
  const std::string meant = did_you_mean(word, known);
  return "there is no " + std::string(kind) + " `" + std::string(word) + "`; there are: " + list +
         (meant.empty() ? "" : "." + meant);
}

}  // namespace sooth
