#include "report/consequence.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace sooth {
namespace {

using Line = std::pair<std::string_view, std::uint32_t>;

Line line_of(const Site& site) { return {site.file, site.line}; }

bool is_through_library(const Access& access) { return access.frame > 0; }

bool is_race_of_lines(const Finding& finding) {
  return finding.kind == FindingKind::kRace && finding.accesses.size() == 2 &&
         std::all_of(finding.accesses.begin(), finding.accesses.end(),
                     [](const Access& access) { return access.place().line > 0; });
}

bool is_on_heap(const Finding& race) {
  const std::optional<MemoryContext>& memory = race.context.memory;
  return memory.has_value() && memory->kind == MemoryKind::kHeap && memory->allocated.has_value();
}

// Allocated by the library, for the user: the elements of a vector, what make_shared() makes.
bool is_on_library_block(const Finding& race) { return is_on_heap(race) && race.context.memory->allocated->frame > 0; }

bool names_smart_pointer(std::string_view function) {
  return function.find("shared_ptr") != std::string_view::npos ||
         function.find("shared_count") != std::string_view::npos ||
         function.find("unique_ptr") != std::string_view::npos || function.find("weak_ptr") != std::string_view::npos;
}

bool is_on_smart_pointer(const Finding& race) {
  return std::any_of(race.accesses.begin(), race.accesses.end(), [](const Access& access) {
    const std::size_t inner = std::min<std::size_t>(access.frame, access.stack.size());
    return inner > 0 &&
           (names_smart_pointer(access.site.function) ||
            std::any_of(access.stack.begin(), access.stack.begin() + static_cast<std::ptrdiff_t>(inner) - 1,
                        [](const Site& site) { return names_smart_pointer(site.function); }));
  });
}

bool is_in_function_of(const Access& access, const Site& place) {
  const auto same = [&](const Site& site) { return site.file == place.file && site.function == place.function; };
  return same(access.site) || std::any_of(access.stack.begin(), access.stack.end(), same);
}

bool on_same_lines(const Finding& a, const Finding& b) {
  return std::minmax(line_of(a.accesses[0].place()), line_of(a.accesses[1].place())) ==
         std::minmax(line_of(b.accesses[0].place()), line_of(b.accesses[1].place()));
}

bool is_block_of_lines(const Finding& race, const Finding& cause) {
  const auto is_of_cause = [&](const Site& place) {
    return std::any_of(cause.accesses.begin(), cause.accesses.end(),
                       [&](const Access& access) { return line_of(access.place()) == line_of(place); });
  };
  return is_of_cause(race.context.memory->allocated->place()) ||
         std::any_of(race.accesses.begin(), race.accesses.end(),
                     [&](const Access& access) { return access.op == Op::kFree && is_of_cause(access.place()); });
}

bool passes(const Access& access, const Line& line) {
  return line_of(access.site) == line ||
         std::any_of(access.stack.begin(), access.stack.end(), [&](const Site& site) { return line_of(site) == line; });
}

// "config->size", "*config" and "config[3]" where the race is on "config": a pointer to it is handed out where it is made.
bool is_handed_out(const Finding& race, const Finding& cause) {
  const std::string &name = race.context.memory->name, &pointer = cause.accesses.front().variable;
  const bool is_pointed_to = !pointer.empty() && (name == "*" + pointer || name.starts_with(pointer + "->") ||
                                                  name.starts_with(pointer + "["));
  return is_pointed_to && std::any_of(cause.accesses.begin(), cause.accesses.end(), [&](const Access& access) {
           return is_write(access.op) &&
                  std::any_of(race.accesses.begin(), race.accesses.end(),
                              [&](const Access& each) { return passes(each, line_of(access.place())); });
         });
}

bool follows(const Finding& race, const Finding& cause) {
  if (is_handed_out(race, cause)) {
    return true;
  }
  if (!is_on_library_block(race) || !std::all_of(cause.accesses.begin(), cause.accesses.end(), is_through_library)) {
    return false;
  }
  const auto& [first, second] = std::tie(race.accesses[0], race.accesses[1]);
  if (is_through_library(first) && is_through_library(second) && on_same_lines(race, cause)) {
    return true;
  }
  const Site &here = cause.accesses[0].place(), &there = cause.accesses[1].place();
  return is_on_smart_pointer(cause) && is_block_of_lines(race, cause) &&
         ((is_in_function_of(first, here) && is_in_function_of(second, there)) ||
          (is_in_function_of(first, there) && is_in_function_of(second, here)));
}

}  // namespace

void find_consequences(Report& report) {
  std::vector<const Finding*> causes;
  for (Finding& finding : report.findings) {
    finding.follows.clear();
    if (is_race_of_lines(finding) && finding.rung >= Rung::kPredicted && !is_on_library_block(finding)) {
      causes.push_back(&finding);
    }
  }
  for (Finding& finding : report.findings) {
    if (!is_race_of_lines(finding) || !is_on_heap(finding)) {
      continue;
    }
    const auto is_cause = [&](const Finding* each) { return each != &finding && follows(finding, *each); };
    const auto cause = std::find_if(causes.begin(), causes.end(), is_cause);
    // Of two variables in one line nobody knows which one it is.
    if (cause != causes.end() && std::none_of(cause + 1, causes.end(), is_cause)) {
      finding.follows = (*cause)->id;
    }
  }
}

}  // namespace sooth
