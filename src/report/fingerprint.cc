#include "report/fingerprint.h"

#include <algorithm>
#include <cstdint>

#include "race/site_key.h"
#include "report/describe.h"

namespace sooth {
namespace {

constexpr char kSeparator = '\0';  // as in site_key()

}  // namespace

std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3u;
  }
  return hash;
}

std::string fingerprint(const Finding& finding) {
  std::vector<std::string> sites;
  for (const Access& access : finding.accesses) {
    sites.push_back(site_key(access.site));
  }
  std::sort(sites.begin(), sites.end());
  std::string key(finding_kind_name(finding.kind));
  key.push_back(kSeparator);
  if (finding.kind == FindingKind::kMisuse && finding.misuse.has_value()) {
    key += misuse_kind_name(*finding.misuse);
    key.push_back(kSeparator);
  }
  // A deadlock of locks is the same whoever has seen it coming.
  if (finding.failure.has_value() && !(finding.kind == FindingKind::kDeadlock && is_cycle_of_locks(finding))) {
    key += std::to_string(finding.failure->signal) + "/" + std::to_string(finding.failure->status);
    key.push_back(kSeparator);
  }
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
