// Variables that live for a time: those of functions and of threads, with the types of these and of all others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/event.h"
#include "trace/layout.h"

namespace sooth {

// A variable of a function, or one that each thread has of its own.
struct ShortLived {
  std::string name;
  std::string function;     // as people write it; empty: of a thread
  std::int64_t offset = 0;  // of its first byte from the base of the frame, or from the thread pointer
  std::uint64_t size = 0;   // not 0
  TypeId type{};

  friend bool operator==(const ShortLived&, const ShortLived&) = default;
};

// A part of a variable, as the source calls it.
struct NamedPart {
  std::string name;           // "accounts[0].balance"
  std::string function;       // of a local variable
  ThreadId thread{};          // whose stack or thread-local variable it is
  std::uint64_t address = 0;  // of its first byte
  std::uint64_t size = 0;     // 0: unknown
  TypeId type{};              // kNoType: unknown, or bit-fields
  bool is_bit_field = false;  // one or several
};

// Append-only, as Tables, which has one. Frames are added in the order of the trace.
class VariableTable {
 public:
  VariableTable() : types_(1) {}

  TypeId add_type(TypeLayout type);
  const std::vector<TypeLayout>& types() const { return types_; }

  // Variables of one function, or of all threads. Returns their number for place().
  std::uint32_t add_layout(std::vector<ShortLived> variables);
  // From event `since` on the variables of a layout have that base. Returns a number for end(). What came to be there
  // before is gone. A frame too many (there may be millions) is forgotten.
  std::uint32_t place(std::uint32_t layout, ThreadId thread, std::uint64_t base, EventId since);
  void end(std::uint32_t frame, EventId until);

  // The variable around the `size` bytes at the address, just before the event happens.
  std::optional<NamedPart> find(std::uint64_t address, std::uint64_t size, EventId at) const;

  // What blocks that are allocated at the site hold: one of these, or one after the other.
  void set_allocated(SiteId site, TypeId type);
  TypeId allocated(SiteId site) const;

  // Everything in order of addition, for writers.
  struct Frame {
    std::uint32_t layout = 0;
    ThreadId thread{};
    std::uint64_t base = 0;
    EventId since{}, until{};

    friend bool operator==(const Frame&, const Frame&) = default;
  };
  struct Layout {
    std::vector<ShortLived> variables;
    std::int64_t begin = 0, end = 0;  // offsets that enclose them

    friend bool operator==(const Layout&, const Layout&) = default;
  };
  const std::vector<Layout>& layouts() const { return layouts_; }
  const std::vector<Frame>& frames() const { return frames_; }
  const std::vector<std::pair<std::uint32_t, EventId>>& ends() const { return ends_; }  // calls of end()
  const std::vector<std::pair<SiteId, TypeId>>& allocations() const { return allocations_; }

 private:
  std::vector<TypeLayout> types_;
  std::vector<Layout> layouts_;
  std::vector<Frame> frames_;
  std::vector<std::pair<std::uint32_t, EventId>> ends_;
  std::vector<std::pair<SiteId, TypeId>> allocations_;
  std::unordered_map<std::uint32_t, TypeId> allocated_;
};

}  // namespace sooth
