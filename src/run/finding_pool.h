// The findings of all recordings of a program, each once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "race/finding.h"
#include "race/user_code.h"
#include "run/planner.h"

namespace sooth {

// How much speaks for trying it.
Promise promise_of(const Finding& finding);

// What its variable is part of: `accounts` of accounts[3].balance and of *accounts+16. Suspicions about one object are
// mostly one misunderstanding. Where the variable has no name, the function of an access speaks for it.
std::string family_of(const Finding& finding);

// One entry for each pair of sites: several may be one bug, and have one id.
class FindingPool {
 public:
  explicit FindingPool(UserCode user_code = {}) : user_code_(std::move(user_code)) {}

  struct Entry {
    Finding finding;         // as the recording has it that proves it best
    std::size_t source = 0;  // of `finding`: what add() was told
    std::uint64_t seen = 0;  // recordings that show it
    std::uint64_t last = 0;  // the latest of them
  };
  struct Change {
    std::size_t entry = 0;
    bool added = false;  // else it was there, and is better proven now
  };

  // Findings with ids, each once, of the recording of this number (from 1, ascending; several processes may have parts
  // of it). Tells what is new.
  std::vector<Change> add(std::vector<Finding> findings, std::uint64_t recording, std::size_t source);

  std::vector<Entry>& entries() { return entries_; }
  const std::vector<Entry>& entries() const { return entries_; }
  std::uint64_t seen_in(std::uint64_t recording) const;  // entries whose latest recording it is
  // Whether others are about other variables at the same sites.
  bool shares_sites(std::size_t entry) const;
  std::uint64_t seen_once() const;
  std::uint64_t sightings() const;

 private:
  std::vector<Entry> entries_;
  UserCode user_code_;
  std::map<std::string, std::size_t> by_pair_;  // by id and pair_key()
};

}  // namespace sooth
