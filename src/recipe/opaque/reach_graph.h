// Which memory code that is not recorded can get at: blocks and variables, and the addresses that are kept in them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "trace/event.h"
#include "trace/recording/call_reaches.h"

namespace sooth {

// Section 4.4.3 of the RDIT thesis for C and C++: objects are blocks of memory and variables, and a word that is the
// address of a byte in one of them leads there, whatever its type. Each object is looked at once: what a call reaches
// is one *group* from then on, because the code that is called may have put the address of everything it got at
// everywhere it got at. So groups only grow, and an address that was overwritten still counts; what is in the place of
// memory that is gone is a new object.
//
// Told in the order of the trace what happens; then finish(), and then asked. Time and memory are linear in the words
// stored, the objects and the calls, apart from logarithms; no call costs what it reaches, only what it reaches for the
// first time.
class ReachGraph {
 public:
  using Object = std::uint32_t;
  // All memory that is in no known object, and what code that is not recorded keeps for itself: that is the byte
  // kOwnState in a reach, where no program has any.
  static constexpr Object kOutside = 0;
  static constexpr std::uint64_t kOwnState = 1;
  // What a call reached when it was over.
  using Reached = std::uint32_t;
  // Ranges of a reach; of more, the closest are taken for one.
  static constexpr std::size_t kMaxRanges = 16;

  // Memory outside of known objects matters only in pages that `pages` has: those that events touch (page_of).
  explicit ReachGraph(FlatMap<bool> pages);
  static std::uint64_t page_of(std::uint64_t address) { return address >> 12; }

  // A block or variable comes to be, in the place of whatever is there. What never changes (`constant`) leads to others
  // but orders nothing by itself.
  Object add(MemoryRange range, bool constant = false);
  // It belongs to code that is not recorded.
  void give_away(Object object);
  // What the address leads to, if it is one. `object` is set then.
  bool find(std::uint64_t address, Object& object) const;

  // 8 bytes in memory now contain the word.
  void store(std::uint64_t address, std::uint64_t word);
  // Nobody knows what the bytes contain now.
  void store_unknown(std::uint64_t address, std::uint64_t size);
  // As many bytes as at `from` are now at `to`. What these contain is taken to lead to where they come from, too.
  void copy(std::uint64_t from, std::uint64_t to, std::uint64_t size);
  // An event of the thread touches the bytes.
  void touch(ThreadId thread, std::uint64_t address, std::uint64_t size);
  // A call by the thread, which is over now, could start from these. 0: it reaches nothing.
  Reached call(ThreadId thread, std::span<const Object> from);

  void finish();
  // Sorted and disjoint; without objects that no second thread touches or reaches. Only after finish().
  const std::vector<MemoryRange>& ranges(Reached reached) const { return nodes_[reached].ranges; }

 private:
  using NodeIndex = std::uint32_t;
  static constexpr Object kNoObject = ~Object{0};
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  static constexpr std::uint32_t kMany = kNobody - 1;

  // A leaf is an object, others are groups at some time. Children have smaller numbers.
  struct Node {
    std::vector<NodeIndex> children;
    Object object = kNoObject;  // of a leaf
    std::vector<MemoryRange> ranges;
  };
  struct Known {
    MemoryRange range;
    bool constant = false;
    bool gone = false;             // something else is in its place
    std::uint32_t user = kNobody;  // the thread whose events touch it
    Object group = kOutside;       // the one that stands for its group, or another on the way there
    NodeIndex leaf = 0;
    // Of those that stand for a group:
    NodeIndex node = 0;
    std::vector<Object> members;
    std::vector<Object> leads_to;    // where addresses in it lead that no call has followed yet
    std::uint32_t caller = kNobody;  // the thread whose calls reach it
    std::uint32_t visit = 0;         // number of the call that looked at it last
    std::uint32_t gone_members = 0;  // not yet taken out
  };

  static void use(std::uint32_t& user, std::uint32_t other) {
    user = user == kNobody ? other : other == kNobody || other == user ? user : kMany;
  }
  Object create(MemoryRange range, bool constant);
  Object group(Object object);
  const Object* at(std::uint64_t address) const;
  Object place(std::uint64_t address, std::uint64_t size);
  void take_away(std::uint64_t begin, std::uint64_t last);
  void link(Object from, Object to);
  void unite(Object into, std::span<const Object> groups);
  void rebuild(Known& group);
  static std::vector<MemoryRange> merged(std::vector<MemoryRange> ranges);

  const FlatMap<bool> pages_;
  std::vector<Known> objects_;
  std::map<std::uint64_t, Object> by_address_;  // by first byte, those that are not gone
  std::vector<Node> nodes_;
  FlatMap<bool> links_;  // that were noted
  std::uint32_t calls_ = 0;
  std::vector<Object> visited_;
};

}  // namespace sooth
