// What runs printed, without what varies for no reason that matters: so that results can be compared.
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sooth {

class OutputMask {
 public:
  // What a pattern (ECMAScript) matches counts as equal. The error names one that is none.
  static Result<OutputMask> of(const std::vector<std::string>& patterns);

  // Two runs of one schedule printed these. Words in which their lines differ vary by themselves, there and in lines that are
  // the same otherwise. False: they differ in more than that, so that nothing can be said about such output.
  bool learn(std::string_view one, std::string_view other);
  // The lines, masked and sorted: in which order threads print is up to every schedule.
  std::vector<std::string> apply(std::string_view text) const;

 private:
  using Words = std::vector<std::optional<std::string>>;  // nothing: any word
  static Words words_of(std::string_view line);
  std::string masked(std::string_view line) const;

  std::vector<std::regex> patterns_;
  std::vector<Words> varying_;
};

// "printed "balance: 50" instead of "balance: 100"": the first lines that only one of the two has. Both are sorted, and
// differ.
std::string difference_of(const std::vector<std::string>& printed, const std::vector<std::string>& usual);

}  // namespace sooth
