// Ids -> spellings of an STD text: the writing half of the names. The reading half is StdDictionary.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "trace/tables.h"
#include "trace/text/std_syntax.h"

namespace sooth {

// Chooses spellings that read back as the same objects. A name stands alone where the reader will number it the same
// way, else a directive declares its number first; directives() holds those that must come before the next line.
class StdSpeller {
 public:
  // `tables` must outlive the speller; what it spells must be in there.
  explicit StdSpeller(const Tables& tables);

  // nullptr when the tables do not have the id.
  const std::string* thread(ThreadId thread);
  const std::string* site(SiteId site);
  const std::string* function(SiteId function);
  // Appends the argument. False when text cannot tell this range of bytes from those of a named variable.
  [[nodiscard]] bool append_object(std::string& line, ObjectKind kind, std::uint64_t object, std::uint32_t size);
  // Declares the names that objects were given since the last call although the text already has one for them.
  [[nodiscard]] bool note_renames();

  // Complete lines; the caller takes and clears them.
  std::string& directives() { return directives_; }

 private:
  struct Spelling {
    std::string text;
    std::uint32_t size = 0;  // memory: the length that the name stands for
    bool by_name = false;    // false: another object has the name, and this one is written as a number
    std::string last_name;   // that the text gives it
  };
  struct Kind {
    explicit Kind(ObjectKind kind) : numbering(kind) {}

    NameNumbering numbering;
    std::unordered_map<std::uint64_t, Spelling> spellings;  // of named objects that were used
    std::unordered_set<std::string> names;                  // that stand for an object in the text
  };

  bool add_spelling(ObjectKind kind, std::uint64_t object, std::uint32_t size, const std::string& name);
  bool declare(ObjectKind kind, std::uint64_t object, std::uint32_t size, std::string_view name);
  bool append_numbered(std::string& line, ObjectKind kind, std::uint64_t object, std::uint32_t size);
  std::string new_thread(ThreadId thread);

  const Tables& tables_;
  std::vector<std::optional<std::string>> threads_;
  std::vector<std::optional<std::string>> sites_;
  std::vector<std::optional<std::string>> functions_;
  std::unordered_set<std::string> thread_names_;  // that stand for a thread in the text
  std::vector<Kind> kinds_;
  std::size_t names_seen_ = 0;  // by note_renames
  std::string directives_;
};

}  // namespace sooth
