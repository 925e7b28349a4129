#include "report/json_print.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

namespace sooth {
namespace {

using Json = nlohmann::ordered_json;

std::string compact(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Numbers, or arrays of them.
bool is_flat(const Json& json) {
  return json.is_array() && !json.empty() &&
         std::all_of(json.begin(), json.end(), [](const Json& item) { return item.is_number() || is_flat(item); });
}

void print(const Json& json, std::size_t depth, std::ostream& out) {
  if (!json.is_structured() || json.empty() || is_flat(json)) {
    out << compact(json);
    return;
  }
  const std::string indent(2 * (depth + 1), ' ');
  const char* separator = "\n";
  out << (json.is_object() ? '{' : '[');
  for (auto it = json.begin(); it != json.end(); ++it) {
    out << separator << indent;
    if (json.is_object()) {
      out << compact(it.key()) << ": ";
    }
    print(*it, depth + 1, out);
    separator = ",\n";
  }
  out << "\n" << std::string(2 * depth, ' ') << (json.is_object() ? '}' : ']');
}

}  // namespace

void print_json(const nlohmann::ordered_json& json, std::ostream& out) {
  print(json, 0, out);
  out << "\n";
}

}  // namespace sooth
