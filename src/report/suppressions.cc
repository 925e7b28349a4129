#include "report/suppressions.h"

#include <algorithm>
#include <utility>

#include "report/describe.h"
#include "report/files.h"

namespace sooth {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

bool site_matches(const Site& site, const std::string& pattern) {
  return matches_template(pattern, site.function) || matches_template(pattern, site.file) ||
         matches_template(pattern, site.module) || matches_template(pattern, site.label);
}

template <typename Predicate>
bool any_frame(const Finding& finding, Predicate predicate) {
  return std::any_of(finding.accesses.begin(), finding.accesses.end(), [&](const Access& access) {
    return predicate(access.site) || std::any_of(access.stack.begin(), access.stack.end(), predicate);
  });
}

// As in ThreadSanitizer, where a thread was created counts as a part of the report.
template <typename Predicate>
bool any_frame_or_creator(const Finding& finding, Predicate predicate) {
  const std::vector<ThreadContext>& threads = finding.context.threads;
  return any_frame(finding, predicate) || std::any_of(threads.begin(), threads.end(), [&](const ThreadContext& thread) {
           return predicate(thread.created.site) ||
                  std::any_of(thread.created.stack.begin(), thread.created.stack.end(), predicate);
         });
}

// A race, or a use after free, which ThreadSanitizer takes for one.
bool is_of_memory(const Finding& finding) {
  return finding.kind == FindingKind::kRace || finding.misuse == MisuseKind::kUseAfterFree;
}
bool is_leak(const Finding& finding) { return finding.misuse == MisuseKind::kThreadLeak; }
bool is_of_signal(const Finding& finding) { return finding.misuse.has_value() && is_signal_misuse(*finding.misuse); }

}  // namespace

bool Suppressions::type_from_name(std::string_view name, Type& type) {
  constexpr std::pair<std::string_view, Type> kTypes[] = {
      {"race", Type::kRace},         {"race_top", Type::kRaceTop},
      {"deadlock", Type::kDeadlock}, {"called_from_lib", Type::kCalledFromLib},
      {"mutex", Type::kMutex},       {"thread", Type::kThread},
      {"signal", Type::kSignal},
  };
  for (const auto& [known, value] : kTypes) {
    if (known == name) {
      type = value;
      return true;
    }
  }
  return false;
}

Status Suppressions::read(const std::string& path) {
  Result<std::string> text = read_whole_file(path);
  if (!text.ok()) {
    return std::move(text).status();
  }
  return parse(*text, path);
}

Status Suppressions::parse(std::string_view text, const std::string& path) {
  for (std::uint32_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') {
      continue;
    }
    const std::string where = path + ":" + std::to_string(number) + ": ";
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      return Status::bad_input(where + "a suppression is TYPE:PATTERN, as in `race:foo`; this line has no colon");
    }
    Rule rule{Type::kRace, std::string(trimmed(line.substr(colon + 1))), path, number, std::string(line)};
    if (!type_from_name(trimmed(line.substr(0, colon)), rule.type)) {
      return Status::bad_input(where + "unknown type of suppression \"" + printable(line.substr(0, colon)) +
                               "\"; there are race, race_top, deadlock, mutex, thread, signal and called_from_lib");
    }
    if (rule.pattern.empty()) {
      return Status::bad_input(where + "the suppression has no pattern; `" + printable(line) + "*` matches everything");
    }
    rules_.push_back(std::move(rule));
  }
  return {};
}

bool Suppressions::matches(const Rule& rule, const Finding& finding) {
  const auto site = [&rule](const Site& s) { return site_matches(s, rule.pattern); };
  const auto module = [&rule](const Site& s) { return matches_template(rule.pattern, s.module); };
  switch (rule.type) {
    case Type::kRace:
      return is_of_memory(finding) &&
             (any_frame_or_creator(finding, site) ||
              std::any_of(finding.accesses.begin(), finding.accesses.end(),
                          [&rule](const Access& a) { return matches_template(rule.pattern, a.variable); }));
    case Type::kRaceTop:
      return is_of_memory(finding) && std::any_of(finding.accesses.begin(), finding.accesses.end(),
                                                  [&site](const Access& a) { return site(a.site); });
    case Type::kDeadlock: return finding.kind == FindingKind::kDeadlock && any_frame_or_creator(finding, site);
    case Type::kMutex:
      return finding.kind == FindingKind::kMisuse && !is_leak(finding) && !is_of_signal(finding) &&
             !is_of_memory(finding) && any_frame_or_creator(finding, site);
    case Type::kThread:
      return finding.kind == FindingKind::kMisuse && is_leak(finding) && any_frame_or_creator(finding, site);
    case Type::kCalledFromLib: return any_frame(finding, module);
    case Type::kSignal:
      return finding.kind == FindingKind::kMisuse && is_of_signal(finding) && any_frame_or_creator(finding, site);
  }
  return false;
}

void Suppressions::apply(Report& report) const {
  std::vector<std::uint64_t> hits(rules_.size());
  const auto suppressed = [&](const Finding& finding) {
    bool any = false;
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      if (matches(rules_[i], finding)) {
        ++hits[i];
        any = true;
      }
    }
    return any;
  };
  // A loop and not erase_if: that may copy its predicate, and says nothing about the order of calls.
  std::vector<Finding> kept;
  for (Finding& finding : report.findings) {
    if (suppressed(finding)) {
      ++report.suppressed;
    } else {
      kept.push_back(std::move(finding));
    }
  }
  report.findings = std::move(kept);
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    report.suppressions.push_back({rules_[i].file, rules_[i].line, rules_[i].text, hits[i]});
  }
}

}  // namespace sooth
