#include "trace/text/std_speller.h"

#include <algorithm>

namespace sooth {
namespace {

std::string label_of(const Site& site) {
  if (!site.label.empty()) {
    return site.label;
  }
  std::string out = site.file;
  if (!site.file.empty()) {
    if (site.line != 0) {
      out += ':';
      append_decimal(out, site.line);
    }
    if (site.line != 0 && site.column != 0) {
      out += ':';
      append_decimal(out, site.column);
    }
  } else if (!site.module.empty()) {
    out = site.module + '+';
    append_hex(out, site.offset);
  }
  return out;
}

void append_range(std::string& out, ObjectKind kind, std::uint64_t object, std::uint32_t size) {
  append_hex(out, object);
  if (kind == ObjectKind::kMemory) {
    out += ':';
    append_decimal(out, size);
  }
}

template <typename Id, typename Make>
const std::string* cached(std::vector<std::optional<std::string>>& cache, Id id, std::size_t count, Make make) {
  if (raw(id) >= count) {
    return nullptr;
  }
  if (raw(id) >= cache.size()) {
    cache.resize(count);
  }
  auto& spelling = cache[raw(id)];
  if (!spelling) {
    spelling = make();
  }
  return &*spelling;
}

}  // namespace

StdSpeller::StdSpeller(const Tables& tables) : tables_(tables) {
  kinds_.reserve(kObjectKindCount);
  for (int kind = 0; kind < kObjectKindCount; ++kind) {
    kinds_.emplace_back(ObjectKind(kind));
  }
}

const std::string* StdSpeller::thread(ThreadId thread) {
  return cached(threads_, thread, tables_.thread_count(), [&] { return new_thread(thread); });
}

const std::string* StdSpeller::site(SiteId site) {
  return cached(sites_, site, tables_.site_count(),
                [&] { return escape_std(label_of(tables_.site(site)), StdPlace::kLabel); });
}

const std::string* StdSpeller::function(SiteId function) {
  return cached(functions_, function, tables_.site_count(), [&] {
    const Site& site = tables_.site(function);
    return escape_std(site.function.empty() ? label_of(site) : site.function, StdPlace::kLabel);
  });
}

// Threads may share a name or have none; their spellings must differ all the same.
std::string StdSpeller::new_thread(ThreadId thread) {
  const std::string name = tables_.thread_name(thread);
  std::string spelling = escape_std(name, StdPlace::kThread);
  if (!name.empty() && thread_names_.insert(spelling).second) {
    return spelling;
  }
  spelling = 'T';
  append_decimal(spelling, raw(thread));
  while (!thread_names_.insert(spelling).second) {
    spelling += '_';
  }
  directives_ += kStdDirective;
  directives_ += " thread " + spelling + ' ' + escape_std(name, StdPlace::kThread) + '\n';
  return spelling;
}

bool StdSpeller::append_object(std::string& line, ObjectKind kind, std::uint64_t object, std::uint32_t size) {
  auto& spellings = kinds_[raw(kind)].spellings;
  auto known = spellings.find(object);
  if (known == spellings.end()) {
    const std::string* name = tables_.object_name(kind, object);
    if (name == nullptr || name->empty()) {
      return append_numbered(line, kind, object, size);
    }
    if (!add_spelling(kind, object, size, *name)) {
      return false;
    }
    known = spellings.find(object);
  }
  const Spelling& spelling = known->second;
  if (!spelling.by_name || spelling.size != size) {
    return append_numbered(line, kind, object, size);
  }
  line += spelling.text;
  return true;
}

bool StdSpeller::append_numbered(std::string& line, ObjectKind kind, std::uint64_t object, std::uint32_t size) {
  append_range(line, kind, object, size);
  return kinds_[raw(kind)].numbering.write_number(object, std::max(size, 1u));
}

bool StdSpeller::add_spelling(ObjectKind kind, std::uint64_t object, std::uint32_t size, const std::string& name) {
  Kind& state = kinds_[raw(kind)];
  const std::string text = escape_std(name, StdPlace::kArgument);
  const bool by_name = state.names.insert(text).second;
  const bool usual_size = kind != ObjectKind::kMemory || size == 1;
  if (by_name && usual_size && state.numbering.next() == object) {
    state.numbering.take();
  } else if (!declare(kind, object, size, text)) {
    return false;
  }
  state.spellings.emplace(object, Spelling{text, size, by_name, text});
  return true;
}

bool StdSpeller::declare(ObjectKind kind, std::uint64_t object, std::uint32_t size, std::string_view name) {
  directives_ += kStdDirective;
  directives_ += " name ";
  directives_ += object_kind_name(kind);
  directives_ += ' ';
  append_range(directives_, kind, object, size);
  directives_ += ' ';
  directives_ += name;
  directives_ += '\n';
  NameNumbering& numbering = kinds_[raw(kind)].numbering;
  return numbering.is_named(object) || numbering.write_number(object, std::max(size, 1u));
}

bool StdSpeller::note_renames() {
  const std::vector<ObjectName>& names = tables_.names();
  for (; names_seen_ < names.size(); ++names_seen_) {
    const ObjectName& entry = names[names_seen_];
    Kind& state = kinds_[raw(entry.kind)];
    const auto known = state.spellings.find(entry.object);
    if (known == state.spellings.end() || entry.name.empty() || entry.length != 0) {
      continue;
    }
    Spelling& spelling = known->second;
    const std::string name = escape_std(entry.name, StdPlace::kArgument);
    if (name != spelling.last_name) {
      state.names.insert(name);
      spelling.last_name = name;
      if (!declare(entry.kind, entry.object, spelling.size, name)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace sooth
