#include "confirm/older_values.h"

#include <algorithm>

#include "base/text.h"
#include "trace/thread_label.h"

namespace sooth {
namespace {

// " at mp.cc:14:3", or nothing.
std::string at_place(std::uint64_t offset, CodeNames& names) {
  if (offset == 0) {
    return {};
  }
  const std::vector<Site> sites = names.stack({{"", offset}});
  return " at " + (sites.empty() ? names.name("", offset) : name_of(sites.front()));
}

std::string number_name(std::uint32_t number) {
  constexpr const char* kEndings[] = {"th", "st", "nd", "rd"};
  const bool is_teen = number / 10 % 10 == 1;
  return std::to_string(number) + (is_teen || number % 10 > 3 ? kEndings[0] : kEndings[number % 10]);
}

// "T1's 2nd store there", counted in time and over all threads.
std::string origin_of(const OlderSeen::Store& store, CodeNames& names) {
  if (store.offset == 0) {
    return "what was there at first";
  }
  return "the " + number_name(store.number) + " store there, by " + thread_label(store.thread) +
         at_place(store.offset, names);
}

std::string describe(const OlderSeen& seen, CodeNames& names) {
  const std::string variable = seen.variable ? names.variable(*seen.variable) : "";
  const std::string where = variable.empty() ? "an atomic" : "`" + variable + "`";
  const std::string newer = thread_label(seen.newest.thread) + " had stored " + std::to_string(seen.newest.value) +
                            " before it in time" + at_place(seen.newest.offset, names);
  const std::string who = thread_label(seen.thread);
  switch (seen.op) {
    case Op::kAtomicStore:
      return who + " stored " + std::to_string(seen.seen.value) + " to " + where + at_place(seen.offset, names) +
             ", and others see it as older than " + std::to_string(seen.newest.value) + ", although " + newer +
             ": no order forbids it";
    case Op::kAtomicRmw:
      return who + " changed " + where + at_place(seen.offset, names) + " from " + std::to_string(seen.seen.value) +
             ", " + origin_of(seen.seen, names) + ", although " + newer + ": no order forbids it";
    default:
      return who + " read " + std::to_string(seen.seen.value) + " from " + where + at_place(seen.offset, names) + ", " +
             origin_of(seen.seen, names) + ", although " + newer + ": no order forbids it";
  }
}

}  // namespace

std::vector<std::string> describe_older(const ProcessLog& process, CodeNames& names, std::size_t most) {
  std::vector<std::string> sentences;
  const std::size_t skipped = process.older.size() - std::min(process.older.size(), most);
  for (std::size_t i = skipped; i < process.older.size(); ++i) {
    sentences.push_back(describe(process.older[i], names));
  }
  return sentences;
}

}  // namespace sooth
