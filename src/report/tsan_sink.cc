// ThreadSanitizer's shape, so that what reads its logs (editors, CI services, scripts) reads ours.
//
// Those readers expect threads to be called T<number> and locks M<number>. Names of that form are kept; the others
// get the free numbers in order of appearance, with the name beside the number, as ThreadSanitizer does.
#include <cctype>
#include <map>
#include <ostream>
#include <set>

#include "report/describe.h"
#include "report/sink.h"

namespace sooth {
namespace {

constexpr std::string_view kRule = "==================\n";
constexpr std::string_view kSharedMark = " (shared)";

bool is_numbered(std::string_view name, char letter) {
  if (name.size() < 2 || name.size() > 10 || name[0] != letter) {
    return false;
  }
  for (const char c : name.substr(1)) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      return false;
    }
  }
  return true;
}

bool is_shared_lock(std::string_view lock) { return lock.ends_with(kSharedMark); }
std::string lock_name(std::string_view lock) {
  return std::string(is_shared_lock(lock) ? lock.substr(0, lock.size() - kSharedMark.size()) : lock);
}

// Numbers for names.
class Numbering {
 public:
  Numbering(char letter, std::uint64_t first) : letter_(letter), next_(first) {}

  // Every name must be reserved before the first is assigned, so that T7 can stay T7.
  void reserve(const std::string& name) {
    if (is_numbered(name, letter_)) {
      taken_.insert(name);
    }
  }
  const std::string& of(const std::string& name) {
    const auto [it, added] = numbers_.try_emplace(name, name);
    if (added && !is_numbered(name, letter_)) {
      do {
        it->second = letter_ + std::to_string(next_++);
      } while (taken_.contains(it->second));
    }
    return it->second;
  }

 private:
  char letter_;
  std::uint64_t next_;
  std::set<std::string> taken_;
  std::map<std::string, std::string> numbers_;
};

class TsanWriter {
 public:
  TsanWriter(const Report& report, std::ostream& out) : findings_(new_findings(report)), out_(out) {
    for (const Finding* finding : findings_) {
      for (const Access& access : finding->accesses) {
        threads_.reserve(access.thread);
        for (const std::string& lock : access.locks) {
          mutexes_.reserve(lock_name(lock));
        }
        if (finding->kind == FindingKind::kDeadlock) {
          mutexes_.reserve(lock_of(access));
        }
      }
    }
  }

  void write() {
    for (const Finding* finding : findings_) {
      named_.clear();
      out_ << kRule << "WARNING: ThreadSanitizer: " << title(*finding) << " (pid=0)\n";
      switch (finding->kind) {
        case FindingKind::kRace: write_race(*finding); break;
        case FindingKind::kDeadlock: write_deadlock(*finding); break;
      }
      for (const std::string& lock : named_) {
        out_ << "  Mutex " << mutexes_.of(lock) << " is " << printable(lock) << "\n\n";
      }
      const Site& site = primary_access(*finding).site;
      out_ << "SUMMARY: ThreadSanitizer: " << title(*finding) << " " << summary_place(site)
           << (site.function.empty() ? "" : " in " + printable(site.function)) << "\n" << kRule;
    }
    if (!findings_.empty()) {
      out_ << "ThreadSanitizer: reported " << findings_.size() << " warnings\n";
    }
  }

 private:
  static std::string_view title(const Finding& finding) {
    switch (finding.kind) {
      case FindingKind::kRace: return "data race";
      case FindingKind::kDeadlock: return "lock-order-inversion (potential deadlock)";
    }
    return "";
  }

  static std::string summary_place(const Site& site) {
    return site.file.empty() && !site.module.empty() ? "(" + place(site) + ")" : place(site);
  }

  std::string thread(const std::string& name) {
    if (name == "T0" || name == "main") {
      return "main thread";
    }
    const std::string& number = threads_.of(name);
    return "thread " + number + (number == name || name.empty() ? "" : " '" + printable(name) + "'");
  }

  // The number of a lock; its name follows at the end of the warning.
  const std::string& mutex(const std::string& name) {
    const std::string& number = mutexes_.of(name);
    if (number != name && !name.empty()) {
      named_.insert(name);
    }
    return number;
  }

  std::string mutexes(const Access& access) {
    std::string text;
    for (const std::string& lock : access.locks) {
      text += (text.empty() ? " (mutexes: " : ", ") + std::string(is_shared_lock(lock) ? "read " : "write ") +
              mutex(lock_name(lock));
    }
    return text.empty() ? "" : text + ")";
  }

  static std::string kind_of_access(const Access& access, bool previous) {
    std::string text = previous ? "previous " : "";
    text += is_atomic(access.op) ? "atomic " : "";
    text += is_write(access.op) ? "write" : "read";
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
  }

  void write_race(const Finding& finding) {
    bool previous = false;
    for (const Access* access : accesses_primary_first(finding)) {
      out_ << "  " << kind_of_access(*access, previous) << " of size " << access->size << " at "
           << hexadecimal(access->address) << " by " << thread(access->thread) << mutexes(*access) << ":\n";
      write_stack(*access);
      previous = true;
    }
    const Access& primary = primary_access(finding);
    if (!primary.variable.empty()) {
      out_ << "  Location is '" << printable(primary.variable) << "' at " << hexadecimal(primary.address) << "\n\n";
    }
  }

  void write_deadlock(const Finding& finding) {
    if (finding.accesses.empty()) {
      return;
    }
    const Access* waiting = &finding.accesses.back();  // for a lock that the thread of the next acquire holds
    out_ << "  Cycle in lock order graph: " << mutex(lock_of(*waiting));
    for (const Access& access : finding.accesses) {
      out_ << " => " << mutex(lock_of(access));
    }
    out_ << "\n\n";
    for (const Access& access : finding.accesses) {
      out_ << "  Mutex " << mutex(lock_of(access)) << " acquired here while holding mutex " << mutex(lock_of(*waiting))
           << " in " << thread(access.thread) << ":\n";
      write_stack(access);
      waiting = &access;
    }
  }

  void write_frame(std::size_t depth, const Site& site) {
    out_ << "    #" << depth << " " << (site.function.empty() ? "<null>" : printable(site.function)) << " ";
    if (!site.file.empty()) {
      out_ << place(site);
    } else {
      out_ << (site.label.empty() || !site.module.empty() ? "<null>" : printable(site.label));
    }
    if (!site.module.empty()) {
      out_ << " (" << printable(site.module) << "+" << hexadecimal(site.offset) << ")";
    }
    out_ << "\n";
  }

  void write_stack(const Access& access) {
    write_frame(0, access.site);
    for (std::size_t i = 0; i < access.stack.size(); ++i) {
      write_frame(i + 1, access.stack[i]);
    }
    out_ << "\n";
  }

  std::vector<const Finding*> findings_;
  std::ostream& out_;
  Numbering threads_{'T', 1};  // T0 is the main thread
  Numbering mutexes_{'M', 0};
  std::set<std::string> named_;  // locks of the current warning whose names its readers need
};

}  // namespace

Status write_tsan(const Report& report, const SinkOptions&, std::ostream& out) {
  TsanWriter(report, out).write();
  return {};
}

}  // namespace sooth
