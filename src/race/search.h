// What `sooth run` did to find what a report holds: which schedules it recorded, and how often it tried what.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sooth {

// The recording that the events and the witness of a finding are of.
struct RecordedUnder {
  std::string schedule;  // as `sooth record --schedule` takes it
  std::uint64_t seed = 0;

  friend bool operator==(const RecordedUnder&, const RecordedUnder&) = default;
};

struct SearchSummary {
  struct Recording {
    RecordedUnder how;
    std::uint64_t pairs = 0;      // findings that it shows
    std::uint64_t new_pairs = 0;  // ... that no earlier one shows
    std::string end;              // how the program ended: "status 0"

    friend bool operator==(const Recording&, const Recording&) = default;
  };
  std::vector<Recording> recordings;  // the first one first
  std::uint64_t candidates = 0;       // findings that runs can be steered to
  std::uint64_t tried = 0;            // ... of which were tried at least once
  std::uint64_t runs = 0;             // controlled runs, in all
  // The estimate of Good and Turing: of `sightings` of findings in recordings `seen_once` are of one that only a single
  // recording shows, and about that share of what another recording would show is new.
  std::uint64_t sightings = 0;
  std::uint64_t seen_once = 0;
  std::uint32_t jobs = 1;                                   // controlled runs at a time
  std::string jobs_why;                                     // ... if that is not what was asked for
  std::string explored;                                     // that all schedules were; empty: not all
  std::string ended;                                        // why there was no more of it: a sentence
  std::vector<std::pair<std::string, std::uint64_t>> ends;  // how controlled and recorded runs ended, and how many

  friend bool operator==(const SearchSummary&, const SearchSummary&) = default;
};

}  // namespace sooth
