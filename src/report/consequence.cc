#include "report/consequence.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "report/describe.h"

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

bool is_on_variable_of(const Finding& a, const Finding& b) {
  const std::string& name = a.accesses.front().variable;
  return !name.empty() && name == b.accesses.front().variable;
}

bool on_same_lines(const Finding& a, const Finding& b) {
  return std::minmax(line_of(a.accesses[0].place()), line_of(a.accesses[1].place())) ==
         std::minmax(line_of(b.accesses[0].place()), line_of(b.accesses[1].place()));
}

bool is_on_line_of(const Site& place, const Finding& cause) {
  return std::any_of(cause.accesses.begin(), cause.accesses.end(),
                     [&](const Access& access) { return line_of(access.place()) == line_of(place); });
}

bool is_freed_on_lines(const Finding& race, const Finding& cause) {
  return std::any_of(race.accesses.begin(), race.accesses.end(), [&](const Access& access) {
    return access.op == Op::kFree && is_on_line_of(access.place(), cause);
  });
}

// What a smart pointer owns is used by the functions that use the pointer.
bool is_used_beside_pointer(const Finding& race, const Finding& cause) {
  const auto& [first, second] = std::tie(race.accesses[0], race.accesses[1]);
  const Site &here = cause.accesses[0].place(), &there = cause.accesses[1].place();
  return is_on_smart_pointer(cause) && ((is_in_function_of(first, here) && is_in_function_of(second, there)) ||
                                        (is_in_function_of(first, there) && is_in_function_of(second, here)));
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

// What smart pointers do to make and drop what they own. Not every function that has their name in its arguments.
bool is_of_smart_pointer(const Site& site) {
  constexpr std::string_view kOwners[] = {"std::shared_ptr<", "std::__shared_ptr<", "std::__shared_count<",
                                          "std::_Sp_counted", "std::unique_ptr<",   "std::weak_ptr<"};
  return std::any_of(std::begin(kOwners), std::end(kOwners),
                     [&](std::string_view owner) { return site.function.starts_with(owner); });
}

bool is_making_or_dropping(const Access& access) {
  return access.op == Op::kFree || is_of_smart_pointer(access.site) ||
         std::any_of(access.stack.begin(), access.stack.end(), is_of_smart_pointer);
}

bool shares_function(const Access& access, const Access& of_cause) {
  const auto is_own = [&](const Site& site) {
    return !site.function.empty() && !site.function.starts_with("std::") && is_in_function_of(of_cause, site);
  };
  return is_own(access.site) || std::any_of(access.stack.begin(), access.stack.end(), is_own);
}

// A smart pointer that is set while another thread copies it counts and drops what it owns at the wrong times, wherever
// its copies are: "*config", and blocks within that which nobody has a name for.
bool is_owned_by_raced_pointer(const Finding& race, const Finding& cause) {
  const std::string &name = race.context.memory->name, &pointer = cause.accesses.front().variable;
  if (!is_on_smart_pointer(cause) || pointer.empty() ||
      std::none_of(race.accesses.begin(), race.accesses.end(), is_making_or_dropping)) {
    return false;
  }
  const bool is_nameless = name.empty() || name.starts_with("element ");
  return name == "*" + pointer || name.starts_with(pointer + "->") ||
         (is_nameless && std::all_of(race.accesses.begin(), race.accesses.end(), [&](const Access& access) {
            return is_making_or_dropping(access) || shares_function(access, cause.accesses[0]) ||
                   shares_function(access, cause.accesses[1]);
          }));
}

// The letters of a short std::string are in the string itself.
bool is_element_of(const Finding& race, const Finding& cause) {
  const std::string& whole = cause.accesses.front().variable;
  return !whole.empty() && race.accesses.front().variable == "element of " + whole && on_same_lines(race, cause);
}

// Of a run that was only watched, which names globals only.
bool is_on_unknown_memory(const Finding& race) {
  return !is_from_trace(race) && !race.context.memory.has_value() && race.accesses.front().variable.empty() &&
         std::any_of(race.accesses.begin(), race.accesses.end(), is_through_library);
}

// Of two races on one variable: one thread is at the very line of the other race, and the other thread is inside of what
// its line there calls by way of the library, as a std::function calls what it holds.
bool is_inside_call(const Finding& race, const Finding& cause) {
  if (!is_on_variable_of(race, cause) || on_same_lines(race, cause)) {
    return false;
  }
  for (const std::size_t same : {0u, 1u}) {
    for (const std::size_t of_cause : {0u, 1u}) {
      const Access &shared = race.accesses[same], &inner = race.accesses[1 - same];
      const Access &there = cause.accesses[of_cause], &caller = cause.accesses[1 - of_cause];
      if (line_of(shared.place()) == line_of(there.place()) && is_through_library(caller) &&
          passes(inner, line_of(caller.place()))) {
        return true;
      }
    }
  }
  return false;
}

// Of places that nobody knows the callers of, only the other one can be compared.
bool on_known_lines(const Finding& race, const Finding& cause, const UserCode& user_code) {
  std::vector<const Access*> known;
  for (const Access& access : race.accesses) {
    if (user_code.is_user(access.place())) {
      known.push_back(&access);
    }
  }
  return known.size() == 1 ? std::any_of(cause.accesses.begin(), cause.accesses.end(),
                                         [&](const Access& access) {
                                           return line_of(access.place()) == line_of(known.front()->place());
                                         })
                           : on_same_lines(race, cause);
}

// Of a run that was only watched: a place in the library, and nobody knows the line that called it.
bool lacks_callers(const Finding& race, const UserCode& user_code) {
  return !is_from_trace(race) && std::any_of(race.accesses.begin(), race.accesses.end(),
                                             [&](const Access& access) { return !user_code.is_user(access.place()); });
}

bool follows(const Finding& race, const Finding& cause, const UserCode& user_code) {
  if (is_on_unknown_memory(race)) {
    return (on_known_lines(race, cause, user_code) &&
            std::any_of(cause.accesses.begin(), cause.accesses.end(), is_through_library)) ||
           (is_used_beside_pointer(race, cause) && is_freed_on_lines(race, cause));
  }
  if (lacks_callers(race, user_code) && is_on_variable_of(race, cause) && on_known_lines(race, cause, user_code)) {
    return true;
  }
  if (is_inside_call(race, cause) || is_element_of(race, cause)) {
    return true;
  }
  if (!is_on_heap(race)) {
    return false;
  }
  if (is_handed_out(race, cause) || (is_on_library_block(race) && is_owned_by_raced_pointer(race, cause))) {
    return true;
  }
  if (!is_on_library_block(race) || !std::all_of(cause.accesses.begin(), cause.accesses.end(), is_through_library)) {
    return false;
  }
  const auto& [first, second] = std::tie(race.accesses[0], race.accesses[1]);
  const bool is_made_there = is_on_line_of(race.context.memory->allocated->place(), cause);
  // By the library, or in what it has just made: the value of a std::map in the line that puts it there.
  const bool is_its_own = (is_through_library(first) && is_through_library(second)) || is_made_there;
  if (is_its_own && on_same_lines(race, cause)) {
    return true;
  }
  return is_used_beside_pointer(race, cause) && (is_made_there || is_freed_on_lines(race, cause));
}

}  // namespace

void find_consequences(Report& report, const UserCode& user_code) {
  std::vector<const Finding*> causes;
  for (Finding& finding : report.findings) {
    finding.follows.clear();
    if (is_race_of_lines(finding) && finding.rung >= Rung::kPredicted && !is_on_library_block(finding) &&
        !is_on_unknown_memory(finding) && !lacks_callers(finding, user_code)) {
      causes.push_back(&finding);
    }
  }
  for (Finding& finding : report.findings) {
    if (!is_race_of_lines(finding)) {
      continue;
    }
    const auto is_cause = [&](const Finding* each) { return each != &finding && follows(finding, *each, user_code); };
    const auto cause = std::find_if(causes.begin(), causes.end(), is_cause);
    // Of two variables in one line nobody knows which one it is.
    const auto is_of_another = [&](const Finding* each) {
      return is_cause(each) && !is_on_variable_of(*each, **cause);
    };
    if (cause != causes.end() && std::none_of(cause + 1, causes.end(), is_of_another)) {
      finding.follows = (*cause)->id;
    }
  }
  // Who reads the report begins with the cause: it stands where the worst that it leads to would.
  std::map<std::string_view, Rung> worst;
  for (const Finding& finding : report.findings) {
    Rung& rung = worst.try_emplace(finding.follows, Rung::kSuspected).first->second;
    rung = std::max(rung, finding.rung);
  }
  const auto rung_of = [&](const Finding& finding) {
    const auto led_to = worst.find(finding.id);
    return finding.id.empty() || led_to == worst.end() ? finding.rung : std::max(finding.rung, led_to->second);
  };
  std::vector<std::pair<Rung, std::size_t>> order;
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    order.emplace_back(rung_of(report.findings[i]), i);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Finding> sorted;
  for (const auto& [rung, i] : order) {
    sorted.push_back(std::move(report.findings[i]));
  }
  report.findings = std::move(sorted);
}

}  // namespace sooth
