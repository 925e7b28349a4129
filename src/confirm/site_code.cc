#include "confirm/site_code.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/text.h"
#include "race/site_key.h"
#include "symbol/elf_file.h"
#include "trace/format/small_file.h"
#include "trace/recording/process_file.h"
#include "trace/recording/stream_format.h"

namespace sooth {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kReadsAndWrites = control::kReads | control::kWrites;

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

// Build ids of the modules of a recording, by path. A trace of another kind knows none.
std::map<std::string, std::string> recorded_build_ids(const std::string& trace) {
  std::map<std::string, std::string> ids;
  const std::string path = trace + "/" + stream::kProcessFile;
  const Result<std::string> text =
      trace.empty() ? Result<std::string>(Status::bad_input("")) : read_required_file(path);
  if (!text.ok()) {
    return ids;
  }
  if (const Result<RecordedProcess> process = parse_process(*text, path); process.ok()) {
    for (const RecordedModule& module : process->modules) {
      ids.emplace(module.path, module.build_id);
    }
  }
  return ids;
}

// Adds a range to a sorted list of disjoint ones.
void add_range(std::vector<AddressRange>& ranges, AddressRange added) {
  ranges.push_back(added);
  std::sort(ranges.begin(), ranges.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
  std::vector<AddressRange> merged;
  for (const AddressRange& range : ranges) {
    if (!merged.empty() && range.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(range);
    }
  }
  ranges = std::move(merged);
}

bool covers(const std::vector<AddressRange>& ranges, std::uint64_t address) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const AddressRange& range) { return address >= range.begin && address < range.end; });
}

}  // namespace

std::uint32_t access_kinds(Op op) {
  std::uint32_t kinds = is_atomic(op) ? control::kAtomics : 0;
  kinds |= is_read(op) ? control::kReads : 0;
  kinds |= is_write(op) ? control::kWrites : 0;
  return kinds;
}

bool same_kinds(std::uint32_t wanted, std::uint32_t found) {
  return (wanted & control::kAtomics) == (found & control::kAtomics) && (wanted & found & kReadsAndWrites) != 0;
}

bool PairCode::is_met_by(const RacingThread& here, const RacingThread& other) const {
  return is_met_by_in_order(here, other) || is_met_by_in_order(other, here);
}

bool PairCode::is_met_by_in_order(const RacingThread& first, const RacingThread& second) const {
  const auto at = [this](const RacingThread& thread, std::uint32_t site) {
    return thread.range < sites.size() && (sites[thread.range].sites >> site & 1) != 0 &&
           same_kinds(kinds[site], thread.kinds);
  };
  return at(first, 0) && at(second, 1);
}

PairCode pair_code(const PlaceCode& first, std::uint32_t first_kinds, const PlaceCode& second,
                   std::uint32_t second_kinds) {
  PairCode pair;
  pair.kinds = {first_kinds, second_kinds};
  std::set<std::string> modules = {first.module, second.module};
  for (const std::string& module : modules) {
    const std::vector<AddressRange> none;
    const auto& a = first.module == module ? first.ranges : none;
    const auto& b = second.module == module ? second.ranges : none;
    std::set<std::uint64_t> borders;
    for (const auto* ranges : {&a, &b}) {
      for (const AddressRange& range : *ranges) {
        borders.insert({range.begin, range.end});
      }
    }
    for (auto border = borders.begin(); border != borders.end() && std::next(border) != borders.end(); ++border) {
      const bool in_first = covers(a, *border), in_second = covers(b, *border);
      if (in_first || in_second) {
        pair.sites.push_back({.module = module,
                              .begin = *border,
                              .end = *std::next(border),
                              .sites = (in_first ? 1u : 0u) | (in_second ? 2u : 0u),
                              .kinds = (in_first ? first_kinds : 0) | (in_second ? second_kinds : 0)});
      }
    }
  }
  return pair;
}

std::vector<SiteCode> split_code(const PlaceCode& second, const PlaceCode& between, bool is_first_there) {
  static_assert(control::kSecondSection == 1 << 2 && control::kSectionBetween == 2 << 2);
  constexpr std::uint32_t kAnyAcquire = control::kAcquires | control::kFirstAcquires;
  std::vector<SiteCode> sites = pair_code(second, kAnyAcquire, between, kAnyAcquire).sites;
  for (SiteCode& site : sites) {
    site.sites <<= 2;
    site.sites |= is_first_there && (site.sites & control::kSecondSection) != 0 ? control::kEitherSection : 0;
  }
  return sites;
}

std::vector<SiteCode> acquire_code(const std::vector<PlaceCode>& acquires) {
  std::vector<SiteCode> sites;
  for (const PlaceCode& place : acquires) {
    for (const AddressRange& range : place.ranges) {
      SiteCode site{
          .module = place.module, .begin = range.begin, .end = range.end, .sites = 3, .kinds = control::kAcquires};
      if (std::find(sites.begin(), sites.end(), site) == sites.end()) {
        sites.push_back(std::move(site));
      }
    }
  }
  return sites;
}

CodeFinder::CodeFinder(std::string program, const std::string& recorded, const std::string& trace)
    : program_(std::move(program)),
      recorded_name_(file_name(recorded.substr(0, recorded.find(' ')))),
      build_ids_(recorded_build_ids(trace)) {}

bool CodeFinder::is_program(const std::string& module) const {
  if (program_.empty()) {
    return false;
  }
  return module == program_ || file_name(module) == file_name(program_) || file_name(module) == recorded_name_ ||
         same_file(module, program_);
}

void CodeFinder::note(std::string sentence) {
  if (std::find(notes_.begin(), notes_.end(), sentence) == notes_.end()) {
    notes_.push_back(std::move(sentence));
  }
}

CodeFinder::Opened& CodeFinder::open(const std::string& path, const std::string& recorded_path) {
  const auto [at, added] = opened_.try_emplace(path);
  Opened& opened = at->second;
  if (!added) {
    return opened;
  }
  Result<std::unique_ptr<LineCode>> lines = LineCode::open(path, "");
  if (!lines.ok()) {
    note(lines.status().message());
    return opened;
  }
  opened.lines = std::move(*lines);
  const auto recorded = build_ids_.find(recorded_path);
  const Result<BinaryInfo> now = inspect_binary(path);
  if (recorded != build_ids_.end() && now.ok() && now->build_id != recorded->second) {
    opened.changed = true;
    note(path + " has changed since the run was recorded: places are looked for by file and line");
  }
  return opened;
}

Result<PlaceCode> CodeFinder::find(const Site& site) {
  if (site.module.empty()) {
    return Status::bad_input("the report does not tell which code `" + site.label +
                             "` is: it is not of a recorded program");
  }
  PlaceCode code;
  const bool own = is_program(site.module);
  code.module = own ? "" : site.module;
  const std::string path = own ? program_ : site.module;
  Opened& opened = open(path, site.module);
  if (opened.lines != nullptr && !site.file.empty() && site.line > 0) {
    code.ranges = opened.lines->ranges(site.file, site.line, site.column);
  }
  if (!opened.changed) {
    // The hook's call ends one byte behind the recorded place: the row of the table around it is the access.
    add_range(code.ranges, opened.lines != nullptr ? opened.lines->row_around(site.offset)
                                                   : AddressRange{site.offset, site.offset + 1});
  }
  if (code.ranges.empty()) {
    return Status::bad_input(path + " has no code of " + site.label +
                             (opened.changed ? " any more: record it again" : ""));
  }
  return code;
}

Result<PlaceCode> CodeFinder::find_unexecuted(const Site& site) {
  std::vector<std::string> modules = {site.module.empty() ? program_ : site.module};
  if (site.module.empty()) {
    for (const auto& [path, build_id] : build_ids_) {
      modules.push_back(path);
    }
  }
  for (const std::string& module : modules) {
    const bool own = is_program(module);
    const Opened& opened = open(own ? program_ : module, module);
    // A column of 0 stands for all of them, which a compiler that records none leaves to look for.
    for (const std::uint32_t column : {site.column, 0u}) {
      std::vector<AddressRange> ranges;
      if (opened.lines != nullptr && !site.file.empty() && site.line > 0) {
        ranges = opened.lines->ranges(site.file, site.line, column);
      }
      if (!ranges.empty()) {
        return PlaceCode{own ? "" : module, std::move(ranges)};
      }
    }
  }
  return Status::bad_input(program_ + " has no code of " + site.label + ", which the recorded run did not execute");
}

Result<PairCode> CodeFinder::find_pair(const Finding& race) {
  const auto place_of = [this](const Access& access) {
    return access.executed ? find(access.site) : find_unexecuted(access.site);
  };
  const Result<PlaceCode> first = place_of(race.accesses[0]);
  if (!first.ok()) {
    return first.status();
  }
  const Result<PlaceCode> second = place_of(race.accesses[1]);
  if (!second.ok()) {
    return second.status();
  }
  return pair_code(*first, access_kinds(race.accesses[0].op), *second, access_kinds(race.accesses[1].op));
}

std::vector<std::vector<SiteCode>> code_of_splits(const std::vector<const Finding*>& findings, CodeFinder& finder) {
  std::vector<std::vector<SiteCode>> all;
  std::set<std::pair<std::string, std::string>> known;
  for (const Finding* finding : findings) {
    if (finding->kind != FindingKind::kAtomicity || finding->accesses.size() != 3 ||
        finding->accesses[2].op != Op::kAcquire || finding->accesses[1].op != Op::kAcquire) {
      continue;
    }
    const Site &first = finding->accesses[0].site, &second = finding->accesses[2].site;
    const Site& other = finding->accesses[1].site;
    if (all.size() == kMostSplits || !known.emplace(site_key(second), site_key(other)).second) {
      continue;
    }
    const Result<PlaceCode> taken_again = finder.find(second), between = finder.find(other);
    if (taken_again.ok() && between.ok()) {
      all.push_back(split_code(*taken_again, *between, site_key(first) == site_key(second)));
    }
  }
  return all;
}

}  // namespace sooth
