// What a controlled run is to do, as the tool sees it, and the bytes for the run time library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "schedule/protocol.h"

namespace sooth {

// Code of a site of the pair. Equal meaning as control::SiteRange.
struct SiteCode {
  std::string module;                // path, or file name; empty: the program itself
  std::uint64_t begin = 0, end = 0;  // in the ELF file
  std::uint32_t sites = 0;           // bit 0: first site of the pair; bit 1: second
  std::uint32_t kinds = control::kReads | control::kWrites;

  friend bool operator==(const SiteCode&, const SiteCode&) = default;
};

struct RunPlan {
  control::Plan plan = control::Plan::kStrategy;
  std::string strategy = "random";  // as for parse_strategy()
  std::uint64_t seed = 1;
  std::uint32_t quantum = 0;   // 0: the library's own
  std::uint64_t patience = 0;  // likewise
  std::uint32_t flags = 0;
  // kDirected, and kStretches that end at a race; kStrategy: others may go first in front of accesses there.
  std::vector<SiteCode> sites;
  std::vector<control::Stretch> stretches;        // kStretches
  std::vector<control::ThreadOrigin> threads;     // kStretches
  std::vector<std::uint16_t> choices;             // kChoices
  std::vector<control::WakeChoice> wakes = {};    // likewise
  std::vector<control::MemoryChoice> older = {};  // kChoices and kStretches with control::kWeakMemory
};

// The bytes of a control file. Sorts the sites as the protocol wants it: `order` tells for each SiteRange of the file
// which of plan.sites it is.
std::string encode_control(const RunPlan& plan, std::vector<std::uint32_t>* order = nullptr);

}  // namespace sooth
