#include "report/identity.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>

#include "base/fnv1a.h"
#include "base/text.h"
#include "race/site_key.h"
#include "report/describe.h"
#include "report/fingerprint.h"

namespace sooth {
namespace {

namespace fs = std::filesystem;

constexpr char kIdentityEnd = '\0';  // as in site_key()
// Begins what is hashed: findings that version 3 does not tell apart further keep the ids that version 2 gave them.
constexpr std::string_view kIdSeed = "2";
constexpr std::string_view kVersionControl[] = {".git", ".hg", ".svn", ".jj", "_darcs", ".bzr", ".fslckout"};

void put(std::string& key, std::string_view field) {
  key.append(field);
  key.push_back(kIdentityEnd);
}

const Site& origin_place(const Origin& origin, const UserCode& user_code) {
  const std::size_t frame = user_code.innermost(origin.site, origin.stack);
  return frame == 0 ? origin.site : origin.stack[frame - 1];
}

// Names of variables and locks that are the same in every run: no address, no "lock held by T1". Runs under control do
// not know "mutex of main()", nor "queue->mutex at 0x5581".
bool is_name(const std::string& text) {
  return !text.empty() && !text.starts_with("0x") && !text.starts_with("lock ") &&
         text.find(" at 0x") == std::string::npos && !(text.ends_with(")") && text.find(" of ") != std::string::npos);
}

template <typename PlaceKey>
std::string memory_key(const Finding& finding, const UserCode& user_code, PlaceKey place_key) {
  const std::optional<MemoryContext>& memory = finding.context.memory;
  if (memory.has_value() && memory->kind == MemoryKind::kHeap && memory->allocated.has_value()) {
    return "allocated" + std::string(1, kIdentityEnd) + place_key(origin_place(*memory->allocated, user_code)) +
           memory->member;
  }
  // Functions may have variables of the same name.
  const std::string function = memory.has_value() && memory->kind == MemoryKind::kStack && !memory->function.empty()
                                   ? bare_function(memory->function) + std::string(1, kIdentityEnd)
                                   : "";
  // One may be about a part of what the other is about: then it is the whole that they race for, whoever comes first.
  std::string whole;
  for (const Access& access : finding.accesses) {
    const std::string name = is_name(access.variable) ? bare_variable(access.variable) : "";
    if (!name.empty() && (whole.empty() || std::pair(name.size(), name) < std::pair(whole.size(), whole))) {
      whole = name;
    }
  }
  if (!whole.empty()) {
    return function + whole;
  }
  return memory.has_value() ? std::string(memory_kind_name(memory->kind)) + " " + bare_variable(memory->name) : "";
}

// The lock that is misused.
std::string misused_key(const Finding& finding) {
  std::set<std::string> names;
  if (finding.misuse == MisuseKind::kUseAfterFree) {
    return "";  // the places say it all
  }
  for (const Access& access : finding.accesses) {
    if (is_name(access.variable) && access.op != Op::kFork && access.op != Op::kJoin) {
      names.insert(bare_variable(access.variable));
    }
  }
  std::string key;
  for (const std::string& name : names) {
    put(key, name);
  }
  return key;
}

template <typename PlaceKey>
std::string key_of_variable(const Finding& finding, const UserCode& user_code, PlaceKey place_key) {
  switch (finding.kind) {
    case FindingKind::kRace: return memory_key(finding, user_code, place_key);
    case FindingKind::kMisuse: return misused_key(finding);
    case FindingKind::kDeadlock:
    case FindingKind::kAtomicity: return locks_key(finding);
    case FindingKind::kCrash:
    case FindingKind::kHang: break;
  }
  return "";
}

// What comes first in the key: the kind, and what tells findings of a kind apart besides places.
std::string kind_key(const Finding& finding) {
  std::string key;
  put(key, finding_kind_name(finding.kind));
  if (finding.kind == FindingKind::kMisuse && finding.misuse.has_value()) {
    put(key, misuse_kind_name(*finding.misuse));
  }
  // A deadlock of locks is the same whoever has seen it coming.
  if (finding.failure.has_value() && !(finding.kind == FindingKind::kDeadlock && is_cycle_of_locks(finding))) {
    put(key, std::to_string(finding.failure->signal) + "/" + std::to_string(finding.failure->status));
  }
  return key;
}

template <typename PlaceKey>
std::string places_key(const Finding& finding, PlaceKey place_key) {
  std::vector<std::string> places;
  for (const Access& access : finding.accesses) {
    if (finding.kind != FindingKind::kHang) {  // where threads were when somebody lost patience with them is chance
      places.push_back(place_key(access));
    }
  }
  std::sort(places.begin(), places.end());
  std::string key;
  for (const std::string& place : places) {
    put(key, place);
  }
  return key;
}

// "read/write", whoever came first.
std::string conflict(const Finding& race) {
  const auto [low, high] = std::minmax({op_name(race.accesses.front().op), op_name(race.accesses.back().op)});
  return std::string(low) + "/" + std::string(high);
}

// The last `parts` components.
std::string tail_of(const fs::path& path, std::size_t parts) {
  fs::path tail;
  auto part = path.end();
  for (std::size_t i = 0; i < parts && part != path.begin(); ++i) {
    --part;
  }
  for (; part != path.end(); ++part) {
    tail /= *part;
  }
  return tail.string();
}

}  // namespace

std::string bare_line(std::string_view line) {
  std::string bare;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && line.substr(i).starts_with("//")) {
      break;
    }
    if (quote != 0 && c == '\\') {
      bare += line.substr(i, 2);
      ++i;
      continue;
    }
    // An apostrophe between digits separates them.
    const bool separates = c == '\'' && i > 0 && std::isalnum(static_cast<unsigned char>(line[i - 1])) != 0;
    if ((c == '"' || (c == '\'' && !separates)) && (quote == 0 || quote == c)) {
      quote = quote == 0 ? c : 0;
    }
    if (quote != 0 || std::isspace(static_cast<unsigned char>(c)) == 0) {
      bare += c;
    } else if (!bare.empty() && bare.back() != ' ') {
      bare += ' ';
    }
  }
  while (!bare.empty() && bare.back() == ' ') {
    bare.pop_back();
  }
  return bare;
}

std::string locks_key(const Finding& deadlock) {
  std::set<std::string> names;
  for (const Access& access : deadlock.accesses) {
    if (access.op != Op::kAcquire || !is_name(access.variable)) {
      return "";
    }
    names.insert(bare_variable(access.variable));
  }
  std::string key;
  for (const std::string& name : names) {
    put(key, name);
  }
  return key;
}

std::string pair_key(const Finding& finding, const UserCode& user_code) {
  return kind_key(finding) + places_key(finding, [](const Access& access) { return site_key(access.site); }) +
         key_of_variable(finding, user_code, [](const Site& site) { return site_key(site); });
}

void Identifier::add_file(const std::string& file) {
  const fs::path path = fs::path(file).lexically_normal();
  by_name_[path.filename().string()].insert(path.string());
}

void Identifier::know_files(const std::vector<Site>& sites) {
  for (const Site& site : sites) {
    if (!site.file.empty() && options_.user_code.is_user(site)) {
      add_file(site.file);
    }
  }
}

std::optional<std::string> Identifier::repository_path(const std::string& file) {
  const fs::path path(file);
  const std::string folder = path.parent_path().string();
  const auto [it, added] = roots_.try_emplace(folder);
  if (added) {
    for (fs::path at = folder; at.has_relative_path(); at = at.parent_path()) {
      std::error_code ignored;
      if (std::any_of(std::begin(kVersionControl), std::end(kVersionControl),
                      [&](std::string_view name) { return fs::exists(at / name, ignored); })) {
        it->second = at.string();
        break;
      }
    }
  }
  return it->second.empty() ? std::nullopt : std::optional(path.lexically_relative(it->second).string());
}

std::string Identifier::path_key(const std::string& file) {
  const fs::path path = fs::path(file).lexically_normal();
  if (path.is_relative()) {
    return path.string();
  }
  if (!options_.source_root.empty()) {
    std::error_code ignored;
    const fs::path inside = path.lexically_relative(fs::weakly_canonical(options_.source_root, ignored));
    if (!inside.empty() && *inside.begin() != "..") {
      return inside.string();
    }
  }
  if (const std::optional<std::string> inside = repository_path(path.string())) {
    return *inside;
  }
  // As short as it can be without being that of another file.
  const std::set<std::string>& alike = by_name_[path.filename().string()];
  for (std::size_t parts = 1;; ++parts) {
    const std::string tail = tail_of(path, parts);
    const bool taken = std::any_of(alike.begin(), alike.end(), [&](const std::string& other) {
      return other != path.string() && tail_of(other, parts) == tail;
    });
    if (!taken || tail == path.string()) {
      return tail;
    }
  }
}

std::uint32_t Identifier::function_line(const Site& site) {
  if (site.module.empty()) {
    return 0;
  }
  const auto [it, added] = modules_.try_emplace(site.module);
  if (added) {
    if (Result<std::unique_ptr<ModuleSymbols>> opened = ModuleSymbols::open(site.module, ""); opened.ok()) {
      it->second = std::move(*opened);
    }
  }
  if (it->second == nullptr) {
    return 0;
  }
  for (const Frame& frame : it->second->frames(site.offset)) {
    if (frame.file == site.file && frame.line == site.line && frame.function_line <= site.line) {
      return frame.function_line;
    }
  }
  return 0;
}

std::string Identifier::line_key(const Site& site) {
  const std::vector<std::string>* lines = site.line > 0 ? sources_.of(site.file) : nullptr;
  std::string key;
  if (lines == nullptr || site.line > lines->size()) {
    const std::uint32_t start = function_line(site);
    put(key, (start > 0 ? "line of function " : "line ") + std::to_string(site.line - start));
    return key;
  }
  const std::string text = bare_line((*lines)[site.line - 1]);
  put(key, text);
  // Which of the equal lines of the function it is.
  std::vector<std::uint32_t> equal;
  for (std::uint32_t line = 1; line < site.line; ++line) {
    if (bare_line((*lines)[line - 1]) == text) {
      equal.push_back(line);
    }
  }
  const std::uint32_t start = equal.empty() ? 0 : function_line(site);
  put(key,
      std::to_string(std::count_if(equal.begin(), equal.end(), [&](std::uint32_t line) { return line >= start; })));
  return key;
}

std::string Identifier::place_key(const Site& site) {
  if (site.file.empty()) {
    // Without lines: the function, and of code without names the place itself.
    Site known = site;
    known.module.erase(0, known.module.find_last_of('/') + 1);
    return site_key(known);
  }
  std::string key;
  put(key, path_key(site.file));
  put(key, bare_function(site.function));
  return key + line_key(site);
}

// A constructor or destructor sets the pointer, or a call of a virtual function reads it: compilers announce these with
// hooks of their own, so the instruction in front of the access tells.
bool Identifier::is_on_vptr(const Site& site) {
  if (site.module.empty() || site.offset == 0) {
    return false;
  }
  const auto [it, added] = calls_.try_emplace(site.module);
  if (added) {
    if (Result<std::unique_ptr<ImportedCalls>> opened = ImportedCalls::open(site.module); opened.ok()) {
      it->second = std::move(*opened);
    }
  }
  const std::string callee = it->second != nullptr ? it->second->callee(site.offset) : "";
  return callee == "__tsan_vptr_update" || callee == "__tsan_vptr_read" || callee == "__sooth_deep_vptr";
}

void Identifier::find_frames(Finding& finding) {
  if (finding.kind == FindingKind::kRace && !finding.on_vptr) {
    finding.on_vptr = std::any_of(finding.accesses.begin(), finding.accesses.end(),
                                  [this](const Access& access) { return is_on_vptr(access.site); });
  }
  for (Access& access : finding.accesses) {
    const auto frame = static_cast<std::uint32_t>(options_.user_code.innermost(access.site, access.stack));
    access.code = frame == access.frame ? std::move(access.code) : "";
    access.frame = frame;
    const Site& place = access.place();
    const bool wanted = place.line > 0 && access.code.empty() && !changed_.contains(place.file);
    const std::vector<std::string>* lines = wanted ? sources_.of(place.file) : nullptr;
    if (lines != nullptr && place.line <= lines->size()) {
      access.code = (*lines)[place.line - 1];
    }
  }
  const auto find_origin = [this](Origin& origin) {
    origin.frame = static_cast<std::uint32_t>(options_.user_code.innermost(origin.site, origin.stack));
  };
  if (finding.context.memory.has_value() && finding.context.memory->allocated.has_value()) {
    find_origin(*finding.context.memory->allocated);
  }
  for (ThreadContext& thread : finding.context.threads) {
    find_origin(thread.created);
  }
  for (LockContext& lock : finding.context.locks) {
    find_origin(lock.first_acquired);
  }
  if (finding.kind == FindingKind::kRace && finding.accesses.size() == 2 && finding.conflicts.empty()) {
    finding.conflicts = {conflict(finding)};
  }
}

void Identifier::identify(Finding& finding) {
  find_frames(finding);
  if (!finding.id.empty()) {
    return;
  }
  const bool in_source = std::any_of(finding.accesses.begin(), finding.accesses.end(),
                                     [](const Access& access) { return !access.place().file.empty(); });
  if (!in_source) {
    finding.id = fingerprint(finding);
    return;
  }
  std::string key;
  put(key, kIdSeed);
  key += kind_key(finding);
  key += places_key(finding, [this](const Access& access) { return place_key(access.place()); });
  key += key_of_variable(finding, options_.user_code, [this](const Site& site) { return place_key(site); });
  finding.id = hex_digits(fnv1a(key), 16);
}

void Identifier::identify(Report& report) {
  for (const SourceFile& source : report.sources) {
    if (!is_unchanged(source)) {
      changed_.insert(source.file);
    }
  }
  for (const Finding& finding : report.findings) {
    for (const Site* site : sites_of(finding)) {
      if (!site->file.empty() && options_.user_code.is_user(*site)) {
        add_file(site->file);
      }
    }
  }
  // Ids that are there may be older.
  const bool fresh = std::all_of(report.findings.begin(), report.findings.end(),
                                 [](const Finding& finding) { return finding.id.empty(); });
  for (Finding& finding : report.findings) {
    identify(finding);
  }
  report.id_version = fresh ? kIdVersion : report.id_version;
}

}  // namespace sooth
