#include "base/wildcard.h"

namespace sooth {

bool matches_template(std::string_view pattern, std::string_view text) {
  if (text.empty()) {
    return false;
  }
  bool at_begin = pattern.starts_with('^');
  pattern.remove_prefix(at_begin ? 1 : 0);
  const bool at_end = pattern.ends_with('$');
  pattern.remove_suffix(at_end ? 1 : 0);

  // The pieces between stars, leftmost first: taking the earliest place for each leaves the most room for the rest.
  while (true) {
    const std::size_t star = pattern.find('*');
    const std::string_view piece = pattern.substr(0, star);
    const bool last = star == std::string_view::npos;
    if (last && at_end) {
      return at_begin ? text == piece : text.ends_with(piece);
    }
    const std::size_t found = at_begin ? (text.starts_with(piece) ? 0 : std::string_view::npos) : text.find(piece);
    if (found == std::string_view::npos) {
      return false;
    }
    if (last) {
      return true;
    }
    text.remove_prefix(found + piece.size());
    pattern.remove_prefix(star + 1);
    at_begin = false;
  }
}

}  // namespace sooth
