#include "trace/text/std_dictionary.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

namespace sooth {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();

template <std::size_t... Kinds>
std::array<NameNumbering, sizeof...(Kinds)> numbering_of_all_kinds(std::index_sequence<Kinds...>) {
  return {NameNumbering(ObjectKind(Kinds))...};
}

bool is_numeric(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Cuts ":NUMBER" from the end of `text`.
std::optional<std::uint32_t> take_last_number(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos || !is_numeric(text.substr(colon + 1))) {
    return std::nullopt;
  }
  const auto number = parse_decimal(text.substr(colon + 1));
  if (!number || *number > kMost) {
    return std::nullopt;
  }
  text = text.substr(0, colon);
  return static_cast<std::uint32_t>(*number);
}

// A label of the form file:line or file:line:column also says where it is.
Site site_of_label(std::string label) {
  Site site;
  std::string_view file = label;
  if (const auto last = take_last_number(file)) {
    const auto before = take_last_number(file);
    const std::uint32_t line = before ? *before : *last;
    if (!file.empty() && !is_numeric(file) && line != 0) {
      site.file = file;
      site.line = line;
      site.column = before ? *last : 0;
    }
  }
  site.label = std::move(label);
  return site;
}

std::optional<ObjectKind> kind_of_word(std::string_view word) {
  for (int i = 0; i < kObjectKindCount; ++i) {
    const auto kind = ObjectKind(i);
    const bool has_names = kind != ObjectKind::kNone && kind != ObjectKind::kThread && kind != ObjectKind::kFunction;
    if (has_names && word == object_kind_name(kind)) {
      return kind;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view take_word(std::string_view& text) {
  constexpr std::string_view kSpaces = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  const std::size_t end = std::min(text.find_first_of(kSpaces), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  return word;
}

StdDictionary::StdDictionary() : numbering_(numbering_of_all_kinds(std::make_index_sequence<kObjectKindCount>())) {}

bool StdDictionary::fail(std::string sentence) {
  error_ = std::move(sentence);
  return false;
}

template <typename Make>
const NameTable::Entry* StdDictionary::add(NameTable& table, std::string_view spelling, StdPlace place, Make make) {
  const bool has_control = std::any_of(spelling.begin(), spelling.end(),
                                       [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; });
  if (has_control) {
    fail("control characters in the name " + quote(spelling));
    return nullptr;
  }
  const std::string name = unescape_std(spelling);
  const std::string canonical = escape_std(name, place);
  const NameTable::Entry* entry = table.find(canonical);
  if (entry == nullptr) {
    if (!make(canonical, name)) {
      return nullptr;
    }
    entry = table.find(canonical);
  }
  if (canonical != spelling) {
    table.insert(spelling, entry->number, entry->size);
    entry = table.find(spelling);
  }
  return entry;
}

bool StdDictionary::add_numbered_thread(std::string_view spelling) {
  if (threads_.find(spelling) != nullptr || declared_threads_.contains(std::string(spelling))) {
    return false;
  }
  numbered_.resize(tables_.thread_count() + 1);
  numbered_.back() = true;
  tables_.add_thread(std::string(spelling));
  return true;
}

const NameTable::Entry* StdDictionary::add_thread(std::string_view spelling) {
  if (spelling.empty()) {
    fail("a thread needs a name");
    return nullptr;
  }
  return add(threads_, spelling, StdPlace::kThread, [this](const std::string& canonical, const std::string& name) {
    if (tables_.thread_count() > kMost) {
      return fail("more than 4294967296 threads");
    }
    // Another spelling of one that is there.
    if (const std::uint64_t number = thread_number(canonical); number < numbered_.size() && numbered_[number]) {
      threads_.insert(canonical, number);
      return true;
    }
    const auto declared = declared_threads_.find(canonical);
    threads_.insert(canonical, raw(tables_.add_thread(declared == declared_threads_.end() ? name : declared->second)));
    return true;
  });
}

const NameTable::Entry* StdDictionary::add_label(std::string_view spelling) {
  return add(labels_, spelling, StdPlace::kLabel, [this](const std::string& canonical, const std::string& name) {
    if (tables_.site_count() > kMost) {
      return fail("more than 4294967296 locations");
    }
    labels_.insert(canonical, raw(tables_.add_site(site_of_label(name))));
    return true;
  });
}

const NameTable::Entry* StdDictionary::add_function(std::string_view spelling) {
  return add(functions_, spelling, StdPlace::kLabel, [this](const std::string& canonical, const std::string& name) {
    if (tables_.site_count() > kMost) {
      return fail("more than 4294967296 locations");
    }
    Site site;
    site.label = name;
    site.function = name;
    functions_.insert(canonical, raw(tables_.add_site(std::move(site))));
    return true;
  });
}

const NameTable::Entry* StdDictionary::add_object(ObjectKind kind, std::string_view spelling) {
  NameTable& table = objects_[raw(kind)];
  return add(table, spelling, StdPlace::kArgument, [&](const std::string& canonical, const std::string& name) {
    NameNumbering& numbering = numbering_[raw(kind)];
    const auto number = numbering.next();
    if (!number) {
      return fail("no number is left for the " + std::string(object_kind_name(kind)) + " " + quote(name) +
                  ": numbers that the file itself writes are in the way; declare the name in front with `" +
                  std::string(kStdDirective) + " name`");
    }
    if (tables_.names().size() >= kMost) {
      return fail("more than 4294967295 names");
    }
    numbering.take();
    table.insert(canonical, *number, kind == ObjectKind::kMemory ? 1 : 0);
    tables_.name_object(kind, *number, name);
    return true;
  });
}

bool StdDictionary::parse_range(ObjectKind kind, std::string_view spelling, std::uint64_t& object,
                                std::uint32_t& size) {
  const bool memory = kind == ObjectKind::kMemory;
  const std::size_t colon = memory ? spelling.find(':') : spelling.npos;
  const auto number = spelling.starts_with("0x")
                          ? parse_hex(spelling.substr(2, colon == spelling.npos ? colon : colon - 2))
                          : std::nullopt;
  const auto length =
      colon == spelling.npos ? std::optional<std::uint64_t>(memory ? 1 : 0) : parse_decimal(spelling.substr(colon + 1));
  if (!number || !length || *length > kMost) {
    return fail("expected " + std::string(memory ? "0xADDRESS:SIZE" : "0xNUMBER") + ", found " + quote(spelling));
  }
  object = *number;
  size = static_cast<std::uint32_t>(*length);
  return true;
}

bool StdDictionary::numbered_object(ObjectKind kind, std::string_view spelling, std::uint64_t& object,
                                    std::uint32_t& size) {
  if (!parse_range(kind, spelling, object, size)) {
    return false;
  }
  if (!numbering_[raw(kind)].write_number(object, std::max(size, 1u))) {
    return fail(quote(spelling) + " is taken by a " + std::string(object_kind_name(kind)) +
                " that the file calls by its name");
  }
  return true;
}

bool StdDictionary::declare_object(std::string_view words) {
  const std::string_view word = take_word(words);
  const auto kind = kind_of_word(word);
  if (!kind) {
    return fail("expected variable, lock, signal, barrier, semaphore, message or call, found " + quote(word));
  }
  std::uint64_t object = 0;
  std::uint32_t size = 0;
  if (!parse_range(*kind, take_word(words), object, size)) {
    return false;
  }
  const std::string name = unescape_std(words);
  const std::string canonical = escape_std(name, StdPlace::kArgument);
  if (name.empty() || tables_.names().size() >= kMost) {
    return fail(name.empty() ? "a name is missing" : "more than 4294967295 names");
  }
  // What names already stand for may get a further name.
  NameNumbering& numbering = numbering_[raw(*kind)];
  const bool renames = numbering.is_named(object) && size <= 1;
  if (!renames && !numbering.write_number(object, std::max(size, 1u))) {
    return fail("the number of " + quote(words) + " overlaps a " + std::string(object_kind_name(*kind)) +
                " that the file calls by its name");
  }
  NameTable& table = objects_[raw(*kind)];
  if (table.find(canonical) == nullptr) {
    table.insert(canonical, object, size);
  }
  tables_.name_object(*kind, object, name);
  return true;
}

bool StdDictionary::declare_thread(std::string_view words) {
  const std::string spelling = escape_std(unescape_std(take_word(words)), StdPlace::kThread);
  if (spelling.empty()) {
    return fail("a thread is missing");
  }
  const std::uint64_t number = thread_number(spelling);
  const bool known = threads_.find(spelling) != nullptr || (number < numbered_.size() && numbered_[number]);
  if (known || !declared_threads_.emplace(spelling, unescape_std(words)).second) {
    return fail("the thread " + quote(spelling) + " already has a name");
  }
  return true;
}

}  // namespace sooth
