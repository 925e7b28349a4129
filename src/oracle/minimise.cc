#include "oracle/minimise.h"

#include "oracle/well_formed.h"

namespace sooth::oracle {
namespace {

using Fails = std::function<bool(std::span<const Event>)>;

bool try_replace(std::vector<Event>& trace, std::vector<Event> smaller, const Fails& fails) {
  if (!why_malformed(smaller).empty() || !fails(smaller)) {
    return false;
  }
  trace = std::move(smaller);
  return true;
}

bool delete_run(std::vector<Event>& trace, std::size_t length, const Fails& fails) {
  bool smaller = false;
  for (std::size_t i = 0; i + length <= trace.size();) {
    std::vector<Event> rest = trace;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i), rest.begin() + static_cast<std::ptrdiff_t>(i + length));
    if (try_replace(trace, std::move(rest), fails)) {
      smaller = true;
    } else {
      ++i;
    }
  }
  return smaller;
}

bool delete_pair(std::vector<Event>& trace, const Fails& fails) {
  bool smaller = false;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    for (std::size_t j = i + 1; j < trace.size(); ++j) {
      std::vector<Event> rest = trace;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(j));
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      if (try_replace(trace, std::move(rest), fails)) {
        smaller = true;
        j = i;  // the next pair that starts here
      }
    }
  }
  return smaller;
}

}  // namespace

std::vector<Event> minimise(std::vector<Event> trace, const Fails& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t length = trace.size() / 2; length > 0; length /= 2) {
      smaller = delete_run(trace, length, fails) || smaller;
    }
    smaller = delete_pair(trace, fails) || smaller;
  }
  return trace;
}

CallTrace minimise(const CallTrace& trace, const std::function<bool(const CallTrace&)>& fails) {
  // The site of a begin tells which it was.
  std::vector<Event> events = trace.events;
  for (std::size_t i = 0; i < events.size(); ++i) {
    events[i].site = events[i].op == Op::kCallBegin ? SiteId{static_cast<std::uint32_t>(i)} : events[i].site;
  }
  const auto with_reaches = [&](std::span<const Event> some) {
    CallTrace smaller{{some.begin(), some.end()}, {}};
    for (std::size_t i = 0; i < some.size(); ++i) {
      for (const Reach& reach : trace.reaches) {
        if (some[i].op == Op::kCallBegin && raw(reach.call) == raw(some[i].site)) {
          smaller.reaches.push_back({EventId{i}, reach.begin, reach.length});
        }
      }
    }
    return smaller;
  };
  return with_reaches(minimise(events, [&](std::span<const Event> some) { return fails(with_reaches(some)); }));
}

}  // namespace sooth::oracle
