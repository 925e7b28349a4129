#include "run/plain_accesses.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "launch/engine.h"
#include "report/describe.h"
#include "report/sources.h"

namespace sooth {
namespace {

bool contains_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return text.find(word) != text.npos; });
}

bool is_atomic_type(std::string_view name) { return contains_any(name, {"atomic", "_Atomic"}); }

bool is_locked(const Access& access) {
  return access.order != MemoryOrder::kNotAtomic || access.op == Op::kAtomicLoad || access.op == Op::kAtomicStore ||
         access.op == Op::kAtomicRmw;
}

// No compiler makes this of an atomic access: freeing memory, or what a function of libc does to many bytes.
bool cannot_be_atomic(const Access& access) {
  return !is_locked(access) && (access.op == Op::kAlloc || access.op == Op::kFree || access.size > 8 ||
                                !std::has_single_bit(access.size) || access.address % access.size != 0);
}

bool has_plain_end(const Finding& finding) {
  return std::any_of(finding.accesses.begin(), finding.accesses.end(), cannot_be_atomic);
}

bool is_known_atomic(const Finding& finding) {
  if (has_plain_end(finding)) {
    return false;
  }
  if (finding.context.memory.has_value() && is_atomic_type(finding.context.memory->part_type)) {
    return true;
  }
  return std::any_of(finding.accesses.begin(), finding.accesses.end(), [](const Access& access) {
    return is_locked(access) ||
           contains_any(access.site.function,
                        {"std::atomic", "std::__atomic", "__gnu_cxx::__exchange_and_add", "__gnu_cxx::__atomic_add"});
  });
}

bool is_known_plain(const Finding& finding) {
  return has_plain_end(finding) || (finding.context.memory.has_value() && !finding.context.memory->part_type.empty());
}

// `#pragma omp atomic` stands in front of what it is about.
bool is_openmp_atomic(const Site& place, SourceLines& sources) {
  constexpr std::uint32_t kMostBetween = 2;  // lines with a brace only, or nothing
  const std::vector<std::string>* lines = place.line > 1 ? sources.of(place.file) : nullptr;
  for (std::uint32_t i = 0; lines != nullptr && i <= kMostBetween && place.line > i + 1; ++i) {
    if (place.line - 2 - i >= lines->size()) {
      return false;
    }
    const std::string& line = (*lines)[place.line - 2 - i];
    if (line.find_first_not_of(" \t{") != std::string::npos) {
      return contains_any(line, {"omp atomic"});
    }
  }
  return false;
}

// What the lines of the accesses say: they are read when the report is made.
bool is_atomic_by_source(const Finding& finding, SourceLines& sources) {
  return !has_plain_end(finding) &&
         std::any_of(finding.accesses.begin(), finding.accesses.end(), [&](const Access& access) {
           return contains_any(access.code, {"atomic", "ATOMIC", ".load(", ".store(", "_ONCE"}) ||
                  is_openmp_atomic(access.place(), sources);
         });
}

}  // namespace

void judge_plain_accesses(Report& report) {
  const std::size_t before = report.findings.size();
  std::erase_if(report.findings,
                [](const Finding& each) { return each.kind == FindingKind::kRace && is_known_atomic(each); });
  if (const std::size_t gone = before - report.findings.size(); gone != 0) {
    report.add_gap(GapKind::kUnknown, counted(gone, "pair", "pairs") +
                                          " of accesses to memory that is also accessed atomically " +
                                          (gone == 1 ? "is" : "are") + " not told of: machine code does not say more.");
  }
  for (Finding& finding : report.findings) {
    if (finding.misuse == MisuseKind::kDestroy) {
      finding.rung = Rung::kSuspected;  // that is for happens-before to say
    }
    if (finding.kind != FindingKind::kRace) {
      continue;
    }
    finding.may_be_atomic = !is_known_plain(finding);
    const bool proven = finding.witness.has_value() && finding.witness->checked;
    if (!proven) {
      finding.rung = Rung::kSuspected;
    }
  }
  hold_back_atomics(report);
}

void hold_back_atomics(Report& report) {
  if (engine() == Engine::kValgrind) {
    std::erase_if(report.findings,
                  [](const Finding& each) { return each.kind == FindingKind::kRace && is_known_atomic(each); });
  }
  SourceLines sources;
  for (Finding& finding : report.findings) {
    if (engine() == Engine::kValgrind && finding.kind == FindingKind::kRace && is_atomic_by_source(finding, sources)) {
      finding.may_be_atomic = true;
    }
    if (!finding.may_be_atomic || finding.rung == Rung::kHarmful) {
      continue;
    }
    finding.rung = Rung::kSuspected;
    for (OtherPair& other : finding.others) {
      other.rung = Rung::kSuspected;
    }
  }
}

}  // namespace sooth
