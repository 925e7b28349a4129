// `sooth doctor`: what on this machine keeps Sooth from working, and what to do about it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/machine_facts.h"

namespace sooth {

enum class Health : std::uint8_t {
  kGood,
  kNote,    // a part of Sooth that not everybody uses does not work, or works worse
  kBroken,  // programs cannot be compiled, recorded or analysed
};

struct Diagnosis {
  Health health = Health::kGood;
  std::string subject;  // "compiler"
  std::string finding;  // how it is, one sentence without a full stop
  std::string remedy;   // what to do; empty when it is good
};

// In the order in which one would look. Depends on nothing but `facts`.
std::vector<Diagnosis> diagnose(const MachineFacts& facts);

// Whether something is broken.
bool is_broken(const std::vector<Diagnosis>& diagnoses);

}  // namespace sooth
