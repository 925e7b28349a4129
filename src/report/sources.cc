#include "report/sources.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "base/fnv1a.h"
#include "report/files.h"

namespace sooth {
namespace {

constexpr std::size_t kMaxFiles = 400;
constexpr off_t kMaxSourceBytes = 8 << 20;
constexpr std::size_t kMaxLineLength = 400;

constexpr std::array<std::string_view, 33> kEndings = {
    ".c",  ".cc",  ".cpp", ".cxx", ".c++", ".C",   ".h",    ".hh",   ".hpp", ".hxx", ".h++",
    ".H",  ".inl", ".inc", ".ipp", ".tcc", ".tpp", ".ixx",  ".cppm", ".cu",  ".cuh", ".m",
    ".mm", ".S",   ".s",   ".asm", ".y",   ".l",   ".java", ".kt",   ".rs",  ".go",  ".d"};

// Headers of the standard library have no ending.
bool looks_like_source(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  const std::string_view name = std::string_view(file).substr(slash == std::string::npos ? 0 : slash + 1);
  const bool standard_header = name.find('.') == std::string_view::npos && file.find("/include/") != std::string::npos;
  return standard_header || std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) {
           return name.size() > ending.size() && name.ends_with(ending);
         });
}

struct Content {
  std::optional<std::string> text;
  SourceState state = SourceState::kMissing;  // without text: kMissing or kRefused
  std::string why;
};

Content content_of(const std::string& file) {
  if (!looks_like_source(file)) {
    return {std::nullopt, SourceState::kRefused, "its name is not that of a source file"};
  }
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) {
    return {std::nullopt, SourceState::kMissing, std::strerror(errno)};
  }
  if (!S_ISREG(info.st_mode) || info.st_size > kMaxSourceBytes) {
    return {std::nullopt, SourceState::kRefused,
            S_ISREG(info.st_mode) ? "it is larger than 8 MiB" : "it is no regular file"};
  }
  Result<std::string> text = read_whole_file(file, kMaxSourceBytes);
  if (!text.ok()) {
    return {std::nullopt, SourceState::kMissing, text.status().message()};
  }
  if (text->find('\0') != std::string::npos) {
    return {std::nullopt, SourceState::kRefused, "it is no text"};
  }
  return {std::move(*text), SourceState::kUnknown, {}};
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    lines.push_back(line.substr(0, kMaxLineLength));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::vector<SourceExcerpt> excerpts_of(const std::vector<std::string_view>& lines,
                                       const std::set<std::uint32_t>& wanted, std::uint32_t context) {
  std::vector<SourceExcerpt> excerpts;
  for (const std::uint32_t line : wanted) {
    if (line > lines.size()) {
      continue;
    }
    const std::uint32_t from = line > context ? line - context : 1;
    const auto to = static_cast<std::uint32_t>(std::min<std::uint64_t>(lines.size(), std::uint64_t{line} + context));
    if (excerpts.empty() || from > excerpts.back().first_line + excerpts.back().lines.size()) {
      excerpts.push_back({from, {}});
    }
    SourceExcerpt& last = excerpts.back();
    for (auto next = static_cast<std::uint32_t>(last.first_line + last.lines.size()); next <= to; ++next) {
      last.lines.emplace_back(lines[next - 1]);
    }
  }
  return excerpts;
}

// Lines by file.
std::map<std::string, std::set<std::uint32_t>> named_lines(const Report& report) {
  std::map<std::string, std::set<std::uint32_t>> named;
  for (const Finding& finding : report.findings) {
    for (const Site* site : sites_of(finding)) {
      if (!site->file.empty() && site->line > 0 && (named.size() < kMaxFiles || named.contains(site->file))) {
        named[site->file].insert(site->line);
      }
    }
  }
  return named;
}

}  // namespace

const std::vector<std::string>* SourceLines::of(const std::string& file) {
  const auto [it, added] = files_.try_emplace(file);
  if (added) {
    if (const Content content = content_of(file); content.text.has_value()) {
      const std::vector<std::string_view> lines = lines_of(*content.text);
      it->second.emplace(lines.begin(), lines.end());
    }
  }
  return it->second.has_value() ? &*it->second : nullptr;
}

std::vector<const Site*> sites_of(const Finding& finding) {
  std::vector<const Site*> sites;
  const auto add_all = [&sites](const std::vector<Site>& list) {
    for (const Site& site : list) {
      sites.push_back(&site);
    }
  };
  const auto add_origin = [&](const Origin& origin) {
    sites.push_back(&origin.site);
    add_all(origin.stack);
  };
  for (const Access& access : finding.accesses) {
    sites.push_back(&access.site);
    add_all(access.stack);
  }
  if (finding.context.memory.has_value() && finding.context.memory->allocated.has_value()) {
    add_origin(*finding.context.memory->allocated);
  }
  for (const ThreadContext& thread : finding.context.threads) {
    add_origin(thread.created);
  }
  for (const LockContext& lock : finding.context.locks) {
    add_origin(lock.first_acquired);
  }
  if (finding.witness.has_value()) {
    for (const SectionSwap& swap : finding.witness->swaps) {
      sites.push_back(&swap.now_first.site);
      sites.push_back(&swap.now_second.site);
    }
    if (finding.witness->drawing.has_value()) {
      add_all(finding.witness->drawing->sites);
    }
  }
  return sites;
}

bool is_unchanged(const SourceFile& source) {
  const Content content = content_of(source.file);
  return content.text.has_value() && fnv1a(*content.text) == source.digest;
}

void note_sources(Report& report) {
  report.sources.clear();
  for (const auto& [file, lines] : named_lines(report)) {
    if (const Content content = content_of(file); content.text.has_value()) {
      report.sources.push_back({file, fnv1a(*content.text)});
    }
  }
}

std::vector<SourceText> read_sources(const Report& report, std::uint32_t context) {
  std::map<std::string, std::uint64_t> digests;
  for (const SourceFile& source : report.sources) {
    digests.emplace(source.file, source.digest);
  }
  std::vector<SourceText> texts;
  for (const auto& [file, wanted] : named_lines(report)) {
    Content content = content_of(file);
    SourceText& text = texts.emplace_back();
    text.file = file;
    text.state = content.state;
    text.why = std::move(content.why);
    if (!content.text.has_value()) {
      continue;
    }
    const std::vector<std::string_view> lines = lines_of(*content.text);
    if (const auto noted = digests.find(file); noted != digests.end()) {
      text.state = noted->second == fnv1a(*content.text) ? SourceState::kSame : SourceState::kChanged;
    } else if (*wanted.rbegin() > lines.size()) {
      text.state = SourceState::kChanged;
    }
    text.excerpts = excerpts_of(lines, wanted, context);
  }
  return texts;
}

}  // namespace sooth
