// Reports for the tests: handmade ones that the golden files show, and random ones.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "race/finding.h"

namespace sooth {

// Name of the golden file, and the report:
//   program   a recorded program: stacks, locks, atomics, a deadlock, every rung, a witness, a replay, notes, figures
//   text      a text trace: labels and nothing else
//   deadlock  cycles of three threads, and of readers and writers of locks without names
//   context   races in each kind of memory, with the threads and locks explained
//   misuse    each kind of misuse
//   hostile   names with quotes, Unicode, control characters, HTML and bytes that are no UTF-8
//   nothing   no finding
//   known     findings that a baseline knows, beside new ones
std::vector<std::pair<std::string, Report>> sample_reports();

// Every field takes every kind of value now and then; all texts are valid UTF-8. Equal seeds give equal reports.
Report random_report(std::uint64_t seed);

}  // namespace sooth
