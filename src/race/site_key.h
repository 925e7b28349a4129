// When two sites are the same place of the program.
#pragma once

#include <string>

#include "trace/tables.h"

namespace sooth {

// Equal for sites that count as one in pairs and fingerprints: those of the same file, line, column and function when
// the file is known, else of the same offset in the same module, else of the same label. Inlined and duplicated code
// gives several sites of a trace one key. Fingerprints hash it (docs/reports.md): it must never change.
std::string site_key(const Site& site);

}  // namespace sooth
