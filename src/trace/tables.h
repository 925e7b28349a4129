// The names behind the ids of a trace: threads, sites, stacks, objects. Append-only.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/flat_map.h"
#include "trace/event.h"
#include "trace/variables.h"

namespace sooth {

// A static program location. For programs `file`, `line`, `function` are filled when symbols are known, and
// `module` + `offset` always; for text traces only `label`.
struct Site {
  std::string label;  // how the trace calls it: third field of STD, or file:line:column
  std::string file;
  std::string function;
  std::string module;
  std::uint64_t offset = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  friend bool operator==(const Site&, const Site&) = default;
};

// A call stack as a tree: the innermost call site, and the stack of the caller.
struct StackNode {
  StackId parent = kNoStack;
  SiteId call{};

  friend bool operator==(const StackNode&, const StackNode&) = default;
};

struct ObjectName {
  ObjectKind kind{};
  std::uint64_t object = 0;
  std::string name;
  std::uint64_t length = 0;  // 0: the object itself; else the name is that of the range [object, object + length)
  TypeId type{};             // of what is in the range; in variables()

  friend bool operator==(const ObjectName&, const ObjectName&) = default;
};

// Ids are dense and given in order of addition, so a writer can append what is new since its last block and a
// reader that has seen a prefix of the additions can resolve every id used so far. Not thread safe.
class Tables {
 public:
  Tables();

  // Threads that are called by their number, T0, T1 and so on, cost nothing: there may be millions of them.
  ThreadId add_thread(std::string name);
  SiteId add_site(Site site);                         // no de-duplication
  StackId intern_stack(StackId parent, SiteId call);  // equal nodes get equal ids
  // The last name wins. The name of a thread that is in the table takes the place of the one it was added with.
  void name_object(ObjectKind kind, std::uint64_t object, std::string name);
  // Names what lies in [begin, begin + length), as far as it has no name of its own: "table", "table+16". Ranges do not
  // overlap; one that begins where another does takes its place. `length` is not 0 and does not wrap around. With a type
  // parts have names: "table[2].key".
  void name_range(ObjectKind kind, std::uint64_t begin, std::uint64_t length, std::string name, TypeId type = kNoType);
  // Types, and variables that do not live for ever.
  VariableTable& variables() { return variables_; }
  const VariableTable& variables() const { return variables_; }

  std::size_t thread_count() const { return thread_count_; }
  std::size_t site_count() const { return sites_.size(); }
  std::size_t stack_count() const { return stacks_.size(); }  // with the empty stack

  std::string thread_name(ThreadId thread) const;
  const Site& site(SiteId site) const { return sites_[raw(site)]; }
  const StackNode& stack(StackId stack) const { return stacks_[raw(stack)]; }
  // Call sites from the innermost to the outermost.
  std::vector<SiteId> frames(StackId stack) const;
  // nullptr when the object has no name of its own.
  const std::string* object_name(ObjectKind kind, std::uint64_t object) const;
  // The range around the object that has a name; nullptr when there is none.
  const ObjectName* named_range(ObjectKind kind, std::uint64_t object) const;
  // The name, or that of the range it is in, or the number in hexadecimal; thread names for ObjectKind::kThread. Locks
  // and other objects that live in memory are in the ranges of memory, too: `queue.mutex` is a mutex in the variable
  // `queue`; `queue+40` when its type is not known. `size`: bytes of the memory that is meant.
  std::string describe(ObjectKind kind, std::uint64_t object, std::uint64_t size = 1) const;
  // The part of a variable of any kind that the bytes lie in, just before the event. Only of ObjectKind::kMemory.
  std::optional<NamedPart> find_variable(std::uint64_t address, std::uint64_t size, EventId at) const;

  // Everything in order of addition, for writers. stacks()[0] is the empty stack.
  const std::vector<Site>& sites() const { return sites_; }
  const std::vector<StackNode>& stacks() const { return stacks_; }
  const std::vector<ObjectName>& names() const { return names_; }
  // The names of all threads, made for the occasion: for tests and traces that are known to be small.
  std::vector<std::string> threads() const;

 private:
  void set_thread_name(std::uint64_t thread, const std::string& name);

  std::uint64_t thread_count_ = 0;
  FlatMap<std::string> thread_names_;  // of those that are not called by their number
  std::vector<Site> sites_;
  std::vector<StackNode> stacks_;
  std::vector<ObjectName> names_;
  VariableTable variables_;
  std::unordered_map<std::uint64_t, StackId> stack_index_;                                     // parent << 32 | call
  std::array<std::unordered_map<std::uint64_t, std::uint32_t>, kObjectKindCount> name_index_;  // into names_
  std::array<std::map<std::uint64_t, std::uint32_t>, kObjectKindCount> range_index_;           // by begin, into names_
};

}  // namespace sooth
