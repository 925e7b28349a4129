#include "report/fingerprint.h"

#include <algorithm>
#include <cstdint>

#include "report/describe.h"

namespace sooth {
namespace {

constexpr char kSeparator = '\0';  // occurs in no path and no name, so that "a" + "bc" is not "ab" + "c"

std::string site_key(const Site& site) {
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

std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3u;
  }
  return hash;
}

}  // namespace

std::string fingerprint(const Finding& finding) {
  std::vector<std::string> sites;
  for (const Access& access : finding.accesses) {
    sites.push_back(site_key(access.site));
  }
  std::sort(sites.begin(), sites.end());
  std::string key(finding_kind_name(finding.kind));
  key.push_back(kSeparator);
  for (const std::string& site : sites) {
    key += site;
    key.push_back(kSeparator);
  }
  const std::string digits = hexadecimal(fnv1a(key)).substr(2);
  return std::string(16 - digits.size(), '0') + digits;
}

void fill_fingerprints(Report& report) {
  for (Finding& finding : report.findings) {
    if (finding.id.empty()) {
      finding.id = fingerprint(finding);
    }
  }
}

}  // namespace sooth
