// JSON for people and for programs: indented, but lists of numbers stay on one line.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

namespace sooth {

// Like dump(2), except for arrays of numbers and arrays of those, which witnesses have by the thousand. Text that is
// not UTF-8 is repaired.
void print_json(const nlohmann::ordered_json& json, std::ostream& out);

}  // namespace sooth
