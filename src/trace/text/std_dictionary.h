// Spellings of an STD text -> ids: the reading half of the names. The writing half is StdSpeller.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/tables.h"
#include "trace/text/std_names.h"
#include "trace/text/std_syntax.h"

namespace sooth {

// Gives ids in order of first appearance and fills the tables. A call that returns false leaves the reason in error().
class StdDictionary {
 public:
  StdDictionary();

  bool thread(std::string_view spelling, ThreadId& id) {
    const std::uint64_t number = thread_number(spelling);
    if (number < numbered_.size() && numbered_[number]) {
      id = ThreadId(number);
      return true;
    }
    if (number == tables_.thread_count() && add_numbered_thread(spelling)) {
      id = ThreadId(number);
      return true;
    }
    return resolve(threads_, spelling, id, &StdDictionary::add_thread);
  }
  bool site(std::string_view label, SiteId& id) { return resolve(labels_, label, id, &StdDictionary::add_label); }
  bool function(std::string_view name, SiteId& id) {
    return resolve(functions_, name, id, &StdDictionary::add_function);
  }
  // A name, or a number behind 0x; with a length behind a colon for memory. `size` stays 0 for what is not memory.
  bool object(ObjectKind kind, std::string_view spelling, std::uint64_t& object, std::uint32_t& size) {
    if (spelling.size() > 1 && spelling[0] == '0' && spelling[1] == 'x') {
      return numbered_object(kind, spelling, object, size);
    }
    const NameTable::Entry* entry = objects_[raw(kind)].find(spelling);
    if (entry == nullptr && (entry = add_object(kind, spelling)) == nullptr) {
      return false;
    }
    object = entry->number;
    size = entry->size;
    return true;
  }

  // The directives `name KIND NUMBER NAME` and `thread SPELLING NAME`, without their first word.
  bool declare_object(std::string_view words);
  bool declare_thread(std::string_view words);

  const Tables& tables() const { return tables_; }
  Tables& tables() { return tables_; }
  const std::string& error() const { return error_; }

 private:
  template <typename Id>
  bool resolve(NameTable& table, std::string_view spelling, Id& id,
               const NameTable::Entry* (StdDictionary::*make)(std::string_view)) {
    const NameTable::Entry* entry = table.find(spelling);
    if (entry == nullptr && (entry = (this->*make)(spelling)) == nullptr) {
      return false;
    }
    id = Id(entry->number);
    return true;
  }

  static constexpr std::uint64_t kNoNumber = ~std::uint64_t{0};
  // 17 of `T17`; kNoNumber of everything else, also of `T017`.
  static std::uint64_t thread_number(std::string_view spelling) {
    if (spelling.size() < 2 || spelling.size() > 10 || spelling[0] != 'T' ||
        (spelling[1] == '0' && spelling.size() > 2)) {
      return kNoNumber;
    }
    std::uint64_t number = 0;
    for (const char c : spelling.substr(1)) {
      if (c < '0' || c > '9') {
        return kNoNumber;
      }
      number = number * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return number;
  }
  // The next thread of the table has its own number in the text: it needs no entry. False: it has another name.
  bool add_numbered_thread(std::string_view spelling);

  // What to do about a spelling that is not in its table: nullptr on error.
  const NameTable::Entry* add_thread(std::string_view spelling);
  const NameTable::Entry* add_label(std::string_view spelling);
  const NameTable::Entry* add_function(std::string_view spelling);
  const NameTable::Entry* add_object(ObjectKind kind, std::string_view spelling);
  // Equal names must get equal ids however they are escaped: `make` is asked for the id of a canonical spelling only.
  template <typename Make>
  const NameTable::Entry* add(NameTable& table, std::string_view spelling, StdPlace place, Make make);

  bool numbered_object(ObjectKind kind, std::string_view spelling, std::uint64_t& object, std::uint32_t& size);
  bool parse_range(ObjectKind kind, std::string_view spelling, std::uint64_t& object, std::uint32_t& size);
  bool fail(std::string sentence);  // false

  Tables tables_;
  NameTable threads_;           // but those in numbered_
  std::vector<bool> numbered_;  // by thread: it is called T with its own number, in the text and in the table
  NameTable labels_;
  NameTable functions_;
  std::array<NameTable, kObjectKindCount> objects_;
  std::array<NameNumbering, kObjectKindCount> numbering_;
  std::unordered_map<std::string, std::string> declared_threads_;  // canonical spelling -> name
  std::string error_;
};

// The first word of `text`, which loses it and the spaces around it.
std::string_view take_word(std::string_view& text);

}  // namespace sooth
