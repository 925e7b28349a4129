#include "report/text_finding.h"

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <utility>
#include <vector>

#include "base/text.h"
#include "report/describe.h"
#include "report/explain.h"
#include "report/redact.h"
#include "report/rung_reason.h"

namespace sooth {
namespace {

constexpr std::size_t kMostPlaces = 4;  // of a deadlock of many threads
constexpr std::size_t kTabWidth = 4;
constexpr std::size_t kBehindCaret = 8;   // columns of a long line that are shown at least
constexpr std::size_t kUsualWidth = 100;  // for code, where nobody says how wide it may be

// Bytes that begin a character; colors take no room.
std::size_t columns_of(const std::string& text) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = std::min(text.find('m', i), text.size());
    } else if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) {
      ++columns;
    }
  }
  return columns;
}

// Without so many columns of its beginning.
std::string without_columns(const std::string& text, std::size_t columns) {
  std::size_t begin = 0;
  while (begin < text.size() && columns_of(text.substr(0, begin)) < columns) {
    ++begin;
  }
  while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80) {
    ++begin;
  }
  return text.substr(begin);
}

// An access without what the headline has said, and without addresses of what has a name.
Access bare(const Finding& finding, Access access) {
  const bool is_race = finding.kind == FindingKind::kRace;
  access.address = is_race || !access.variable.empty() ? 0 : access.address;
  access.variable = is_race ? "" : std::move(access.variable);
  return access;
}

// The line and a caret under the column.
void write_code(const Access& access, const SinkOptions& options, const Paint& paint, std::ostream& out) {
  const Site& place = access.place();
  if (access.code.empty()) {
    return;
  }
  std::string line;
  std::size_t caret = std::string::npos;
  for (std::size_t i = 0; i < access.code.size(); ++i) {
    if (place.column > 0 && i + 1 == place.column) {
      caret = columns_of(line);
    }
    line += access.code[i] == '\t' ? std::string(kTabWidth, ' ') : std::string(1, access.code[i]);
  }
  line = printable(line);
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  line.erase(0, indent);
  const std::string number = std::to_string(place.line);
  const std::size_t room =
      (options.width > 0 ? options.width : kUsualWidth) - std::min<std::size_t>(number.size() + 9, 40);
  if (caret != std::string::npos && caret >= indent && caret - indent + kBehindCaret > room) {
    const std::size_t cut = caret - indent - room / 2;
    line = "..." + without_columns(line, cut + 3);
    caret -= cut;
  }
  if (columns_of(line) > room) {
    std::size_t end = room - 3;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) {
      --end;
    }
    line = line.substr(0, end) + "...";
  }
  out << "      " << paint.dim(number + " |") << " " << line << "\n";
  if (caret != std::string::npos && caret >= indent && caret - indent < columns_of(line)) {
    out << "      " << paint.dim(std::string(number.size(), ' ') + " |") << " " << std::string(caret - indent, ' ')
        << paint.red("^") << "\n";
  }
}

// `shown`: the code of this place stands above.
void write_place(const Finding& finding, const Access& access, bool shown, const SinkOptions& options,
                 const Paint& paint, std::ostream& out) {
  std::string text = act_in(finding, bare(finding, access));
  text += with_locks(finding, access);
  text += awaited(finding, access) + through_libraries(access) + how_reached(access);
  // Without a line of the source the function says most.
  const Site& site = access.place();
  const std::string in = site.line == 0 && !site.function.empty() ? " in " + function_text(site) : "";
  write_wrapped(paint.bold(short_place(site)) + in + "  ", text, options.width, out);
  if (!shown) {
    write_code(access, options, paint, out);
  }
}

}  // namespace

// Nothing when only the run along the witness got there, which is no trial.
std::string how_often_reached(const ReplaySummary& replay) {
  if (replay.hits > 0) {
    return ", reached in " + std::to_string(replay.hits) + " of " + counted(replay.trials, "run", "runs");
  }
  if (replay.probability > 0) {
    char share[48];
    std::snprintf(share, sizeof share, ", reached in %.0f %% of the runs", replay.probability * 100);
    return share;
  }
  return "";
}

std::string perhaps_because(const Finding& finding) {
  const std::vector<std::string>& races = finding.failure->after;
  return std::string("perhaps because of the ") + (races.size() == 1 ? "race " : "races ") + listed(races) +
         ", which happened before it";
}

std::string Paint::rung(Rung rung) const {
  const std::string name(rung_name(rung));
  switch (rung) {
    case Rung::kSuspected: return in("1;33", name);
    case Rung::kPredicted: return in("1;35", name);
    case Rung::kConfirmed: return in("1;31", name);
    case Rung::kHarmful: return in("1;37;41", name);
  }
  return name;
}

namespace {

// From this column on; later lines are indented.
void write_lines(const std::string& text, std::size_t column, std::size_t indent, std::uint32_t width,
                 std::ostream& out) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const bool first = begin == 0;
    if (!first && width > 0 && column + 1 + columns_of(word) > width) {
      out << "\n" << std::string(indent, ' ') << word;
      column = indent + columns_of(word);
    } else {
      out << (first ? "" : " ") << word;
      column += (first ? 0 : 1) + columns_of(word);
    }
    begin = end + 1;
  }
  out << "\n";
}

}  // namespace

void write_wrapped(const std::string& label, const std::string& text, std::uint32_t width, std::ostream& out) {
  out << "  " << label;
  write_lines(text, 2 + columns_of(label), 4, width, out);
}

void write_paragraph(const std::string& text, std::uint32_t width, std::ostream& out) {
  write_lines(text, 0, 2, width, out);
}

void write_headline(const Finding& finding, const SinkOptions& options, const Paint& paint, std::ostream& out) {
  const std::string where = place(primary_access(finding).place()) + ":";
  const std::string what = headline(finding);
  const std::string id = "[" + printable(finding.id) + "]";
  const std::string name(rung_name(finding.rung));
  const std::size_t length = columns_of(where) + columns_of(name) + columns_of(what) + id.size() + 3;
  if (options.width == 0 || length <= options.width) {
    out << paint.bold(where) << " " << paint.rung(finding.rung) << " " << paint.bold(what) << " " << paint.dim(id)
        << "\n";
    return;
  }
  out << paint.bold(where) << "\n";
  write_wrapped(paint.rung(finding.rung) + " ", paint.bold(what) + " " + paint.dim(id), options.width, out);
}

void write_brief(const Finding& finding, const std::vector<const Finding*>& following, const ReportStats& stats,
                 const SinkOptions& options, const Paint& paint, std::ostream& out) {
  write_headline(finding, options, paint, out);
  const std::vector<const Access*> accesses = accesses_primary_first(finding);
  for (std::size_t i = 0; i < std::min(accesses.size(), kMostPlaces); ++i) {
    const bool shown = i > 0 && place(accesses[i]->place()) == place(accesses[i - 1]->place());
    write_place(finding, *accesses[i], shown, options, paint, out);
  }
  if (accesses.size() > kMostPlaces) {
    out << "  ... and " << counted(accesses.size() - kMostPlaces, "other thread", "other threads") << "\n";
  }
  if (const std::string why = why_it_can_happen(finding); !why.empty()) {
    write_wrapped("", why, options.width, out);
  }
  write_wrapped(std::string(rung_name(finding.rung)) + ": ", why_on_rung(finding, stats), options.width, out);
  for (const std::string& way : ways_there(finding)) {
    write_wrapped("how: ", without_folders(way), options.width, out);
  }
  if (finding.failure.has_value() && !finding.failure->after.empty()) {
    write_wrapped("", perhaps_because(finding), options.width, out);
  }
  if (const std::string vain = attempts(finding); !vain.empty()) {
    write_wrapped("not confirmed: ", vain, options.width, out);
  }
  if (finding.replay.has_value() && !finding.replay->command.empty()) {
    // To be copied: not broken, and alone in its line where there is no room for more.
    const std::string line = "  replay: " + printable(finding.replay->command);
    const std::string rest = "(seed " + std::to_string(finding.replay->seed) + how_often_reached(*finding.replay) + ")";
    const bool fits = options.width == 0 || columns_of(line) + 1 + columns_of(rest) <= options.width;
    out << line << (fits ? " " : "\n    ") << rest << "\n";
  }
  // A pointer to something that is used in many places leads to dozens.
  constexpr std::size_t kMostFollowing = 4;
  const std::size_t shown = following.size() <= kMostFollowing ? following.size() : kMostFollowing - 1;
  for (const Finding* each : std::span(following).first(shown)) {
    const std::vector<const Access*> both = accesses_primary_first(*each);
    write_wrapped("leads to: ",
                  paint.rung(each->rung) + " " + headline(*each) + ", " + deed_in(*each, bare(*each, *both.front())) +
                      " at " + short_place(both.front()->place()) + ", " + deed_in(*each, bare(*each, *both.back())) +
                      " at " + short_place(both.back()->place()) + " " + paint.dim("[" + printable(each->id) + "]"),
                  options.width, out);
  }
  if (shown < following.size()) {
    out << "  leads to: " << following.size() - shown << " more, with --verbose\n";
  }
  out << "\n";
}

}  // namespace sooth
