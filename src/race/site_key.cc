#include "race/site_key.h"

namespace sooth {

std::string site_key(const Site& site) {
  constexpr char kSeparator = '\0';  // occurs in no path and no name, so that "a" + "bc" is not "ab" + "c"
  std::string key;
  const auto field = [&key](std::string_view text) {
    key.append(text);
    key.push_back(kSeparator);
  };
  if (!site.file.empty()) {
    field("file");
    field(site.file);
    field(std::to_string(site.line));
    field(std::to_string(site.column));
    field(site.function);
  } else if (!site.module.empty()) {
    field("module");
    field(site.module);
    field(std::to_string(site.offset));
  } else {
    field("label");
    field(site.label);
  }
  return key;
}

}  // namespace sooth
