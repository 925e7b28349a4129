// Names for findings that stay the same from run to run, from machine to machine and from version to version.
#pragma once

#include <string>

#include "race/finding.h"
#include "report/identity.h"

namespace sooth {

// 16 hexadecimal digits: FNV-1a over the kind (with that of a misuse) and the sites of all accesses, in an order that
// does not depend on who came first. A site is its file, line, column and function when the file is known, else module
// and offset, else the label. The id of findings without source, and of all findings of reports before version 2 of ids:
// it must never change.
std::string fingerprint(const Finding& finding);

// Gives every finding that has no id one, and all of them the frames to point at.
void fill_fingerprints(Report& report, const IdentityOptions& options = {});

}  // namespace sooth
