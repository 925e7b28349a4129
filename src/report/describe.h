// The phrases that the formats for people share, so that text, compiler messages and SARIF say the same thing.
//
// Names come from programs and files that anybody may have written. Every function here returns printable text: valid
// UTF-8 without control characters, whatever bytes went in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"  // counts and addresses are phrases, too
#include "race/finding.h"

namespace sooth {

// Control characters (also DEL, the C1 set, and the Unicode line separators and bidirectional overrides that can
// make a terminal show something else than what is there) become \n, \t, \xNN or \u{NNNN}; a byte that is no UTF-8
// becomes U+FFFD.
std::string printable(std::string_view text);

// "a, b and c".
std::string listed(const std::vector<std::string>& names);

// Where: "file:line:column" with what is known of it, else "module+0x1f", else "site LABEL", else "an unknown place".
std::string place(const Site& site);
// The same with the name of the file only, without its folders.
std::string short_place(const Site& site);
// The function as people write it, "Registry::get(std::string const&)", for a terminal.
std::string function_text(const Site& site);
// What: "write of 4 bytes to 'counter' (0x1f)", "atomic load (acquire) of 4 bytes from ...", "acquire (shared) of
// 'mu'".
std::string deed(const Access& access);
// Who: "thread T1", or "a thread" when it has no name.
std::string actor(const Access& access);
// "holding no lock", "holding mu and log (shared)".
std::string held_locks(const Access& access);
// ", through 3 frames in libstdc++": what lies between the user's own code and the access; nothing when nothing does.
std::string through_libraries(const Access& access);
// ", never executed in this run; it is reached when y == 0 (read at a.cc:12)"; nothing for what was executed.
std::string how_reached(const Access& access);
// "data race", "deadlock", "misuse", "crash" or "hang".
std::string_view kind_phrase(FindingKind kind);
// The access of a finding as a deed; of a misuse the forbidden call: "double lock of mutex 'mu' (0x1f)".
std::string deed_in(const Finding& finding, const Access& access);
// The same with who does it: "write of 4 bytes to 'x' by thread T1", "thread T3 crashed here".
std::string act_in(const Finding& finding, const Access& access);
// What is reported: "data race on 'x'", "deadlock by lock order inversion 'l' => 'm' => 'l'", "double lock of mutex
// 'm'". An arrow leads from a lock to one that was acquired while it was held; the cycle starts with what the first
// acquire's thread held.
std::string headline(const Finding& finding);
// Two accesses in a trace are two events. A finding of a controlled run comes from no trace: nobody knows which events
// and locks there were.
bool is_from_trace(const Finding& finding);
// ", holding mu and log.mu"; nothing when that is not known.
std::string with_locks(const Finding& finding, const Access& access);
// ", waiting for thread T2" for an acquire of a deadlock, which must be one of finding.accesses; nothing for a race.
std::string awaited(const Finding& finding, const Access& access);
// What a lock is called of which no more is known, with its thread behind.
inline constexpr std::string_view kLockHeldBy = "lock held by ";
// Each thread of the deadlock waits for a lock that the next one has. One that a run ended in may be of another kind.
bool is_cycle_of_locks(const Finding& finding);
// A run ended because a thread waits for a lock that nobody has any more who could give it back: its thread has ended, or
// a fork has left it behind.
bool waits_for_nobody(const Finding& finding);
// The lock of an acquire: its name, or its number as Access::locks has it. May hold any bytes.
std::string lock_of(const Access& access);
// What it is about: the first name that an access has, in quotes, or the address; empty when neither is known.
std::string subject(const Finding& finding);

// A sentence about something in a finding, and the event that it goes back to; nullptr when there is none.
struct ContextNote {
  std::string text;  // "on a heap block of 32 bytes at 0x1000, at offset 8, allocated by thread T0"
  const Origin* origin;
};
// All of finding.context: the memory, then threads, then locks. Points into the finding.
std::vector<ContextNote> context_notes(const Finding& finding);

// Whose place stands for the whole finding: the access that came last in the trace. A finding without accesses
// (only a damaged report has one) gets a blank one.
const Access& primary_access(const Finding& finding);
// All accesses, the primary one first; those of a deadlock go on around the cycle from there.
std::vector<const Access*> accesses_primary_first(const Finding& finding);
// The findings that are not in the baseline.
std::vector<const Finding*> new_findings(const Report& report);

}  // namespace sooth
