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

std::string_view race_title(const Finding& race) {
  // A free behind the access is a write as any other.
  const bool freed = !race.accesses.empty() && race.accesses.front().op == Op::kFree;
  if (freed) {
    return race.on_vptr ? "heap-use-after-free (virtual call vs free)" : "heap-use-after-free";
  }
  return race.on_vptr ? "data race on vptr (ctor/dtor vs virtual call)" : "data race";
}

std::string_view misuse_title(MisuseKind kind) {
  switch (kind) {
    case MisuseKind::kDoubleLock: return "double lock of a mutex";
    case MisuseKind::kUnlockUnlocked:
    case MisuseKind::kUnlockWrongThread: return "unlock of an unlocked mutex (or by a wrong thread)";
    case MisuseKind::kDestroyLocked: return "destroy of a locked mutex";
    case MisuseKind::kInvalidUse: return "use of an invalid mutex (e.g. uninitialized or destroyed)";
    case MisuseKind::kReadUnlockBad: return "read unlock of a write locked mutex";
    case MisuseKind::kThreadLeak: return "thread leak";
    case MisuseKind::kReadLockBad: return "read lock of a write locked mutex";
    case MisuseKind::kDestroy: return "destroy of a mutex in use";
    case MisuseKind::kSignalUnsafe: return "signal-unsafe call inside of a signal";
    case MisuseKind::kSignalErrno: return "signal handler spoils errno";
    case MisuseKind::kUseAfterFree: return "heap-use-after-free";
  }
  return "";
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
        if (finding->kind == FindingKind::kDeadlock || is_lock_misuse(*finding)) {
          mutexes_.reserve(lock_of(access));
        }
      }
      reserve_context(finding->context);
    }
  }

  void write() {
    for (const Finding* finding : findings_) {
      named_.clear();
      out_ << kRule << "WARNING: ThreadSanitizer: " << title(*finding) << " (pid=0)\n";
      switch (finding->kind) {
        case FindingKind::kRace: write_race(*finding); break;
        case FindingKind::kDeadlock:
          is_cycle_of_locks(*finding) ? write_deadlock(*finding) : write_failure(*finding);
          break;
        case FindingKind::kMisuse:
        case FindingKind::kAtomicity:
          finding->misuse == MisuseKind::kUseAfterFree ? write_race(*finding) : write_misuse(*finding);
          break;
        case FindingKind::kCrash:
        case FindingKind::kHang: write_failure(*finding); break;
      }
      write_context(*finding);
      for (const std::string& lock : named_) {
        out_ << "  Mutex " << mutexes_.of(lock) << " is " << printable(lock) << "\n\n";
      }
      const Site& site = primary_access(*finding).place();
      out_ << "SUMMARY: ThreadSanitizer: " << title(*finding) << " " << summary_place(site)
           << (site.function.empty() ? "" : " in " + printable(site.function)) << "\n"
           << kRule;
    }
    if (!findings_.empty()) {
      out_ << "ThreadSanitizer: reported " << findings_.size() << " warnings\n";
    }
  }

 private:
  static std::string_view title(const Finding& finding) {
    switch (finding.kind) {
      case FindingKind::kRace: return race_title(finding);
      case FindingKind::kDeadlock:
        return is_cycle_of_locks(finding) ? "lock-order-inversion (potential deadlock)" : "the program deadlocked";
      case FindingKind::kMisuse: return finding.misuse.has_value() ? misuse_title(*finding.misuse) : "";
      case FindingKind::kAtomicity: return "atomicity violation";
      case FindingKind::kCrash: return "the program crashed";
      case FindingKind::kHang: return "the program hung";
    }
    return "";
  }

  static bool is_signal_misuse(const Finding& finding) {
    return finding.misuse.has_value() && sooth::is_signal_misuse(*finding.misuse);
  }
  static bool is_lock_misuse(const Finding& finding) {
    return finding.kind == FindingKind::kMisuse && finding.misuse != MisuseKind::kThreadLeak &&
           finding.misuse != MisuseKind::kUseAfterFree && !is_signal_misuse(finding);
  }

  void reserve_context(const FindingContext& context) {
    const auto reserve = [this](const Origin& origin) { threads_.reserve(origin.thread); };
    if (context.memory.has_value()) {
      threads_.reserve(context.memory->thread);
      if (context.memory->allocated.has_value()) {
        reserve(*context.memory->allocated);
      }
    }
    for (const ThreadContext& thread : context.threads) {
      threads_.reserve(thread.thread);
      reserve(thread.created);
    }
    for (const LockContext& lock : context.locks) {
      mutexes_.reserve(lock.lock);
      reserve(lock.first_acquired);
    }
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
    return capitalised(text);
  }

  void write_race(const Finding& finding) {
    bool previous = false;
    for (const Access* access : accesses_primary_first(finding)) {
      out_ << "  " << kind_of_access(*access, previous) << " of size " << access->size << " at "
           << hexadecimal(access->address) << " by " << thread(access->thread) << mutexes(*access) << ":\n";
      write_stack(access->site, access->stack, access->frame);
      previous = true;
    }
    const Access& primary = primary_access(finding);
    if (finding.context.memory.has_value()) {
      write_memory(*finding.context.memory);
    } else if (!primary.variable.empty()) {
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
      write_stack(access.site, access.stack, access.frame);
      waiting = &access;
    }
  }

  void write_misuse(const Finding& finding) {
    for (const Access& access : finding.accesses) {
      if (is_lock_misuse(finding)) {
        out_ << "  Mutex " << mutex(lock_of(access)) << " in " << thread(access.thread) << mutexes(access) << ":\n";
      } else if (!is_signal_misuse(finding)) {
        out_ << "  " << capitalised(thread(access.variable)) << " created by " << thread(access.thread) << " at:\n";
      }
      write_stack(access.site, access.stack, access.frame);
    }
    if (finding.misuse == MisuseKind::kThreadLeak && finding.dynamic_pairs > 1) {
      out_ << "  And " << finding.dynamic_pairs - 1 << " more similar thread leaks.\n\n";
    }
  }

  // Where the threads were when the run failed.
  void write_failure(const Finding& finding) {
    for (const Access& access : finding.accesses) {
      out_ << "  " << capitalised(thread(access.thread)) << (access.op == Op::kCallBegin ? " " : " at ")
           << deed_in(finding, access) << mutexes(access) << ":\n";
      write_stack(access.site, access.stack, access.frame);
    }
  }

  void write_memory(const MemoryContext& memory) {
    const std::string size = memory.size > 0 ? " of size " + std::to_string(memory.size) : "";
    const std::string at = size + " at " + hexadecimal(memory.address);
    switch (memory.kind) {
      case MemoryKind::kGlobal:
        out_ << "  Location is global '" << printable(memory.name) << "'" << at << "\n\n";
        break;
      case MemoryKind::kStack:
        out_ << "  Location is stack of " << thread(memory.thread)
             << (memory.name.empty() ? "" : ", variable '" + printable(memory.name) + "'") << ".\n\n";
        break;
      case MemoryKind::kHeap:
        out_ << "  Location is heap block" << at;
        if (memory.allocated.has_value()) {
          out_ << " allocated by " << thread(memory.allocated->thread) << ":\n";
          write_stack(memory.allocated->site, memory.allocated->stack, memory.allocated->frame);
        } else {
          out_ << "\n\n";
        }
        break;
    }
  }

  // ThreadSanitizer tells where a mutex was created, which traces do not have.
  void write_context(const Finding& finding) {
    for (const LockContext& lock : finding.context.locks) {
      out_ << "  Mutex " << mutex(lock.lock) << " (" << hexadecimal(lock.address) << ") first acquired by "
           << thread(lock.first_acquired.thread) << " at:\n";
      write_stack(lock.first_acquired.site, lock.first_acquired.stack, lock.first_acquired.frame);
    }
    for (const ThreadContext& context : finding.context.threads) {
      out_ << "  " << capitalised(thread(context.thread)) << " created by " << thread(context.created.thread)
           << " at:\n";
      write_stack(context.created.site, context.created.stack, context.created.frame);
    }
  }

  static std::string capitalised(std::string text) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
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

  // From the innermost frame of the user's own code on: readers take the first for the place of the bug.
  void write_stack(const Site& site, const std::vector<Site>& callers, std::size_t frame) {
    std::size_t depth = 0;
    if (frame == 0 || frame > callers.size()) {
      write_frame(depth++, site);
      frame = 1;
    }
    for (std::size_t i = frame - 1; i < callers.size(); ++i) {
      write_frame(depth++, callers[i]);
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
