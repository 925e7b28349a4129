// The patterns of suppression files and of --user-code.
#pragma once

#include <string_view>

namespace sooth {

// Whether ThreadSanitizer's template `pattern` matches `text`: anywhere in it, unless `^` at the begin or `$` at the end
// anchor it; `*` stands for any text. Nothing matches an empty text. Time is linear in the length of both, times the
// number of stars.
bool matches_template(std::string_view pattern, std::string_view text);

}  // namespace sooth
