// Names for findings that stay the same from run to run, from machine to machine and from version to version.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "race/finding.h"

namespace sooth {

// The 64-bit hash of Fowler, Noll and Vo, version 1a.
std::uint64_t fnv1a(std::string_view bytes);

// 16 hexadecimal digits: FNV-1a over the kind (with that of a misuse) and the sites of all accesses, in an order that
// does not depend on who came first. A site is its file, line, column and function when the file is known, else module
// and offset, else the label. Thread ids, addresses, events and the rung play no part. Baselines hold these: it must
// never change.
std::string fingerprint(const Finding& finding);

// Gives every finding that has no id its fingerprint.
void fill_fingerprints(Report& report);

}  // namespace sooth
