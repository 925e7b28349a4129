#include "report/describe.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "report/utf8.h"
#include "symbol/readable_name.h"
#include "trace/text/std_syntax.h"

namespace sooth {
namespace {

// Characters that move the cursor or reorder the text around them.
bool misleads_terminals(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029 || (c >= 0x202a && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

std::string escaped(char32_t c) {
  if (c == '\n') {
    return "\\n";
  }
  if (c == '\t') {
    return "\\t";
  }
  const std::string digits = hexadecimal(c).substr(2);
  return c < 0x100 ? "\\x" + std::string(2 - digits.size(), '0') + digits : "\\u{" + digits + "}";
}

// A variable of a text trace that has a name and no bytes.
bool is_only_named(const Access& access) {
  return !access.variable.empty() && is_named_memory(access.address, access.size);
}

std::string object(const Access& access) {
  const bool named = !access.variable.empty();
  std::string text = named ? "'" + printable(access.variable) + "'" : "";
  const bool of_thread = object_kind(access.op) == ObjectKind::kThread;  // its number means nothing outside the trace
  if (access.address != 0 && !is_only_named(access) && !(named && of_thread)) {
    text += (named ? " (" : "") + hexadecimal(access.address) + (named ? ")" : "");
  }
  return text;
}

// `what` is the lock, thread, function or signal.
std::string misuse_of(MisuseKind kind, const std::string& what) {
  switch (kind) {
    case MisuseKind::kDoubleLock: return "double lock of mutex " + what;
    case MisuseKind::kUnlockUnlocked: return "unlock of unlocked mutex " + what;
    case MisuseKind::kUnlockWrongThread: return "wrong-thread unlock of mutex " + what;
    case MisuseKind::kDestroyLocked: return "destruction of locked mutex " + what;
    case MisuseKind::kInvalidUse: return "use of invalid mutex " + what;
    case MisuseKind::kReadUnlockBad: return "read unlock of write-locked mutex " + what;
    case MisuseKind::kThreadLeak: return "leak of thread " + what;
    case MisuseKind::kReadLockBad: return "read lock of write-locked mutex " + what;
    case MisuseKind::kDestroy: return "unordered destruction of mutex " + what;
    case MisuseKind::kSignalUnsafe: return "call of " + what + " in a signal handler";
    case MisuseKind::kSignalErrno: return "handler of " + what + " changes errno";
    case MisuseKind::kUseAfterFree: return "use of " + what + " after its free";
  }
  return "misuse of " + what;
}

std::string named_thread(const std::string& name) { return name.empty() ? "a thread" : "thread " + printable(name); }

std::string memory_text(const MemoryContext& memory) {
  const std::string size = memory.size > 0 ? " of " + counted(memory.size, "byte", "bytes") : "";
  const std::string at = size + " at " + hexadecimal(memory.address) +
                         (memory.offset > 0 ? ", at offset " + std::to_string(memory.offset) : "");
  switch (memory.kind) {
    case MemoryKind::kGlobal: return "in the global variable '" + printable(memory.name) + "'" + at;
    case MemoryKind::kHeap:
      return "in a heap block" + at +
             (memory.allocated.has_value() ? ", allocated by " + named_thread(memory.allocated->thread) : "");
    case MemoryKind::kStack: {
      if (memory.name.empty()) {
        return "on the stack of " + named_thread(memory.thread);
      }
      const std::string quoted = "'" + printable(memory.name) + "'";
      return memory.function.empty() ? "in the thread-local variable " + quoted + " of " + named_thread(memory.thread)
                                     : "in the local variable " + quoted + " of " + printable(memory.function) +
                                           " on the stack of " + named_thread(memory.thread);
    }
  }
  return "";
}

std::string_view preposition(const Access& access) {
  if (!is_access(access.op)) {
    return "of";
  }
  return access.op == Op::kRead || access.op == Op::kAtomicLoad ? "from" : "to";
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character next = first_character(text);
    if (!next.valid) {
      out += kReplacementCharacter;
    } else if (misleads_terminals(next.code)) {
      out += escaped(next.code);
    } else {
      out += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return out;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) {
      text += i + 1 == names.size() ? " and " : ", ";
    }
    text += printable(names[i]);
  }
  return text;
}

std::string place(const Site& site) {
  if (!site.file.empty()) {
    std::string text = printable(site.file);
    if (site.line > 0) {
      text += ":" + std::to_string(site.line);
      text += site.column > 0 ? ":" + std::to_string(site.column) : "";
    }
    return text;
  }
  if (!site.module.empty()) {
    return printable(site.module) + "+" + hexadecimal(site.offset);
  }
  return site.label.empty() ? "an unknown place" : "site " + printable(site.label);
}

std::string short_place(const Site& site) {
  Site named = site;
  for (std::string* path : {&named.file, &named.module}) {
    path->erase(0, path->find_last_of('/') + 1);  // npos + 1 is 0
  }
  return place(named);
}

std::string function_text(const Site& site) { return printable(readable_name(site.function)); }

std::string deed(const Access& access) {
  std::string text(op_name(access.op));
  if (access.order != MemoryOrder::kNotAtomic) {
    text += " (" + std::string(memory_order_name(access.order)) + ")";
  }
  text += access.shared ? " (shared)" : "";
  const bool sized = access.size > 0 && !is_only_named(access);
  if (sized) {
    text += " of " + counted(access.size, "byte", "bytes");
  }
  const std::string what = object(access);
  if (!what.empty()) {
    text += (access.op == Op::kFree && sized ? " at " : " " + std::string(preposition(access)) + " ") + what;
  }
  return text;
}

std::string actor(const Access& access) { return named_thread(access.thread); }

std::string how_reached(const Access& access) {
  if (access.executed) {
    return "";
  }
  return ", never executed in this run" +
         (access.when.empty() ? std::string() : "; it is reached when " + listed(access.when));
}

std::string held_locks(const Access& access) {
  return access.locks.empty() ? "holding no lock" : "holding " + listed(access.locks);
}

namespace {

// "in libstdc++": the library that a frame which is not the user's belongs to.
std::string library_of(const Site& site) {
  if (site.file.find("/c++/") != std::string::npos || site.module.find("libstdc++") != std::string::npos ||
      site.function.find("std::") != std::string::npos) {
    return site.file.find("/c++/v1/") != std::string::npos ? "libc++" : "libstdc++";
  }
  return site.module.empty() || site.file.starts_with("/usr/include/") ? "system headers" : file_name(site.module);
}

}  // namespace

std::string through_libraries(const Access& access) {
  if (access.frame == 0 || access.frame > access.stack.size()) {
    return "";
  }
  std::vector<std::string> names{library_of(access.site)};
  for (std::size_t i = 0; i + 1 < access.frame; ++i) {
    std::string name = library_of(access.stack[i]);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(std::move(name));
    }
  }
  return ", through " + counted(access.frame, "frame", "frames") + " in " + listed(names);
}

std::string_view kind_phrase(FindingKind kind) {
  switch (kind) {
    case FindingKind::kRace: return "data race";
    case FindingKind::kDeadlock: return "deadlock";
    case FindingKind::kMisuse: return "misuse";
    case FindingKind::kAtomicity: return "atomicity violation";
    case FindingKind::kCrash: return "crash";
    case FindingKind::kHang: return "hang";
  }
  return "finding";
}

namespace {

// No deed, but where the thread was then.
bool is_where_it_failed(const Finding& finding, const Access& access) {
  return access.op == Op::kCallBegin && finding.failure.has_value();
}

}  // namespace

std::string act_in(const Finding& finding, const Access& access) {
  const std::string deed = deed_in(finding, access);
  return is_where_it_failed(finding, access) ? actor(access) + " " + deed : deed + " by " + actor(access);
}

std::string deed_in(const Finding& finding, const Access& access) {
  // A leaked thread is shown by its fork.
  const bool itself = access.op == Op::kMisuse && finding.misuse.has_value();
  if (is_where_it_failed(finding, access)) {
    return finding.kind == FindingKind::kCrash ? "crashed here" : "was here";
  }
  return itself ? misuse_of(*finding.misuse, object(access)) : deed(access);
}

std::string lock_of(const Access& access) {
  return access.variable.empty() ? hexadecimal(access.address) : access.variable;
}

bool waits_for_nobody(const Finding& finding) {
  if (finding.kind != FindingKind::kDeadlock || !finding.failure.has_value() || finding.accesses.size() != 1) {
    return false;
  }
  const Access& access = finding.accesses.front();
  const bool has_it = !access.locks.empty() || access.variable == std::string(kLockHeldBy) + access.thread;
  return access.op == Op::kAcquire && !has_it;
}

bool is_cycle_of_locks(const Finding& finding) {
  const auto waits_for_lock = [](const Access& access) { return access.op == Op::kAcquire; };
  return !waits_for_nobody(finding) && std::all_of(finding.accesses.begin(), finding.accesses.end(), waits_for_lock);
}

namespace {

// "atomicity violation: account_mutex is free between two sections", or of a block what it is.
std::string headline_of_atomicity(const Finding& finding) {
  std::string text(kind_phrase(finding.kind));
  if (finding.accesses.size() != 3) {
    return text;
  }
  const Access& first = finding.accesses.front();
  if (first.op != Op::kAcquire) {
    const std::string function = first.place().function;
    return text + (function.empty() ? "" : " in " + printable(function));
  }
  return text + ": '" + printable(lock_of(first)) + "' is released between two sections" +
         (finding.declared ? " of a block" : "");
}

}  // namespace

std::string headline(const Finding& finding) {
  std::string text(kind_phrase(finding.kind));
  switch (finding.kind) {
    case FindingKind::kRace: {
      std::string what = subject(finding);
      if (finding.on_vptr) {
        constexpr std::string_view kMember = ".vptr";
        if (const std::size_t member = what.find(".vptr'"); member != std::string::npos) {
          what.erase(member, kMember.size());
        }
        return text + " on the vptr" + (what.empty() ? "" : " of " + what);
      }
      return text + (what.empty() ? "" : " on " + what);
    }
    case FindingKind::kDeadlock:
      if (waits_for_nobody(finding)) {
        return text + " on a lock that nobody releases: '" + printable(lock_of(finding.accesses.front())) + "'";
      }
      if (!is_cycle_of_locks(finding)) {
        return text + " of " + counted(finding.accesses.size(), "thread", "threads");
      }
      if (finding.accesses.size() == 1) {
        return text + " of a thread with itself: double lock of '" + printable(lock_of(finding.accesses.front())) + "'";
      }
      if (!finding.accesses.empty()) {
        text += " by lock order inversion '" + printable(lock_of(finding.accesses.back())) + "'";
      }
      for (const Access& access : finding.accesses) {
        text += " => '" + printable(lock_of(access)) + "'";
      }
      return text;
    case FindingKind::kMisuse: return finding.misuse.has_value() ? misuse_of(*finding.misuse, subject(finding)) : text;
    case FindingKind::kAtomicity: return headline_of_atomicity(finding);
    case FindingKind::kCrash:
    case FindingKind::kHang:
      if (finding.failure.has_value()) {
        text += finding.kind == FindingKind::kCrash ? ", " + printable(finding.failure->outcome) : "";
        text += finding.failure->message.empty() ? "" : ": " + printable(finding.failure->message);
      }
      return text;
  }
  return text;
}

bool is_from_trace(const Finding& finding) {
  const bool names_events = std::any_of(finding.accesses.begin(), finding.accesses.end(), [](const Access& access) {
    return access.event != EventId{} || !access.executed;
  });
  return names_events || (finding.accesses.size() < 2 && !finding.failure.has_value());
}

std::string with_locks(const Finding& finding, const Access& access) {
  return access.locks.empty() && !is_from_trace(finding) ? "" : ", " + held_locks(access);
}

std::string awaited(const Finding& finding, const Access& access) {
  if (finding.kind != FindingKind::kDeadlock || finding.accesses.size() < 2 || !is_cycle_of_locks(finding)) {
    return "";
  }
  const auto index = static_cast<std::size_t>(&access - finding.accesses.data());
  return ", waiting for " + actor(finding.accesses[(index + 1) % finding.accesses.size()]);
}

namespace {

// What containers and the like keep things in has names that say nothing.
std::optional<std::string> held_by_library(std::string_view type) {
  constexpr std::pair<std::string_view, std::string_view> kHolders[] = {
      {"std::_Rb_tree_node<", "a node of a std::map or std::set"},
      {"std::__detail::_Hash_node<", "a node of a hash table"},
      {"std::_List_node<", "a node of a std::list"},
      {"std::_Fwd_list_node<", "a node of a std::forward_list"},
      {"std::__detail::_List_node_base", "a node of a std::list"},
      {"std::_Sp_counted", "an object of a std::shared_ptr"},
      {"std::thread::_State_impl<", "the state of a std::thread"},
      {"std::__future_base::", "the state of a std::future"},
  };
  for (const auto& [beginning, spoken] : kHolders) {
    if (type.starts_with(beginning)) {
      return std::string(spoken);
    }
  }
  return std::nullopt;
}

}  // namespace

namespace {

std::string allocated_at(const MemoryContext& memory) {
  return memory.allocated.has_value() && memory.allocated->place().line > 0
             ? " allocated at " + short_place(memory.allocated->place())
             : "";
}

// " of main()", " of thread T1": whose variable it is, where the name alone does not say it. Of an object that is only
// known by its type, "Account.balance", where it was made: there may be many.
std::string whose(const std::optional<MemoryContext>& memory, const std::string& variable) {
  if (memory.has_value() && memory->kind == MemoryKind::kHeap && !memory->type.empty() &&
      variable.starts_with(memory->type)) {
    return allocated_at(*memory);
  }
  if (!memory.has_value() || memory->kind != MemoryKind::kStack || memory->name != variable) {
    return "";
  }
  return " of " + (memory->function.empty() ? named_thread(memory->thread) : printable(memory->function));
}

}  // namespace

std::string subject(const Finding& finding) {
  for (const Access* access : accesses_primary_first(finding)) {
    if (!access->variable.empty()) {
      return "'" + printable(access->variable) + "'" + whose(finding.context.memory, access->variable);
    }
  }
  if (const std::optional<MemoryContext>& memory = finding.context.memory; memory.has_value()) {
    if (memory->kind == MemoryKind::kHeap && memory->size > 0) {
      return held_by_library(memory->type).value_or("a heap block of " + counted(memory->size, "byte", "bytes")) +
             allocated_at(*memory);
    }
    if (memory->kind == MemoryKind::kStack) {
      return "the stack of " + named_thread(memory->thread);
    }
  }
  const std::uint64_t address = primary_access(finding).address;
  return address == 0 ? "" : hexadecimal(address);
}

std::vector<ContextNote> context_notes(const Finding& finding) {
  const FindingContext& context = finding.context;
  std::vector<ContextNote> notes;
  if (context.memory.has_value()) {
    const std::optional<Origin>& allocated = context.memory->allocated;
    notes.push_back({memory_text(*context.memory), allocated.has_value() ? &*allocated : nullptr});
  }
  for (const ThreadContext& thread : context.threads) {
    notes.push_back(
        {named_thread(thread.thread) + " was created by " + named_thread(thread.created.thread), &thread.created});
  }
  for (const LockContext& lock : context.locks) {
    notes.push_back(
        {"lock " + printable(lock.lock) + " was first acquired by " + named_thread(lock.first_acquired.thread),
         &lock.first_acquired});
  }
  return notes;
}

const Access& primary_access(const Finding& finding) {
  static const Access kBlank;
  if (finding.accesses.empty()) {
    return kBlank;
  }
  if (finding.kind == FindingKind::kRace) {
    return finding.accesses.back();
  }
  if (finding.failure.has_value() || finding.kind == FindingKind::kAtomicity) {
    return finding.accesses.front();
  }
  return *std::max_element(finding.accesses.begin(), finding.accesses.end(),
                           [](const Access& a, const Access& b) { return a.event < b.event; });
}

std::vector<const Access*> accesses_primary_first(const Finding& finding) {
  std::vector<const Access*> accesses;
  if (finding.accesses.empty()) {
    return accesses;
  }
  for (const Access& access : finding.accesses) {
    accesses.push_back(&access);
  }
  std::rotate(accesses.begin(), std::find(accesses.begin(), accesses.end(), &primary_access(finding)), accesses.end());
  return accesses;
}

std::vector<const Finding*> new_findings(const Report& report) {
  std::vector<const Finding*> findings;
  for (const Finding& finding : report.findings) {
    if (!finding.known) {
      findings.push_back(&finding);
    }
  }
  return findings;
}

}  // namespace sooth
