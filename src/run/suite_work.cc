#include "run/suite_work.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "launch/child_process.h"
#include "report/files.h"
#include "report/json.h"
#include "run/merge_reports.h"
#include "schedule/random.h"

namespace sooth {
namespace {

namespace fs = std::filesystem;

// A file that goes away with this object, unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { (void)::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) {
      (void)::close(number_);
    }
  }
  int number() const { return number_; }

 private:
  int number_;
};

// Of what the tool said on the way to no report, the last sentence.
std::string last_sentence(const std::string& log) {
  const Result<std::string> text = read_whole_file(log);
  const std::string mark = "sooth: ";
  const std::size_t at = text.ok() ? text->rfind(mark) : std::string::npos;
  if (at == std::string::npos) {
    return "sooth run left no report; " + log + " has what it printed";
  }
  const std::size_t begin = at + mark.size();
  return text->substr(begin, text->find('\n', begin) - begin);
}

std::vector<std::string> unit_command(const SuiteFolder& folder, std::uint64_t number, const std::string& tool,
                                      std::uint32_t jobs, const std::string& report) {
  const SuiteUnit unit = folder.plan().unit(number);
  std::vector<std::string> words = {tool,
                                    "run",
                                    "--no-times",
                                    "--fail-on",
                                    "never",
                                    "--schedule",
                                    unit.schedule.schedule,
                                    "--seed",
                                    std::to_string(unit.schedule.seed),
                                    "--jobs",
                                    std::to_string(jobs),
                                    "--store",
                                    report};
  words.insert(words.end(), folder.plan().options.begin(), folder.plan().options.end());
  words.push_back("--");
  words.insert(words.end(), unit.test.words.begin(), unit.test.words.end());
  return words;
}

// Nothing of the worker's own: a longer environment already moves the stack, and with it addresses in the report.
std::vector<std::string> environment_of(const SuitePlan& plan, const SuiteTest& test) {
  std::vector<std::string> environment = plan.environment;
  for (const std::string& setting : test.environment) {
    set_variable(setting, environment);
  }
  return environment;
}

std::string missing_sentence(const SuiteFolder& folder, const std::vector<std::uint64_t>& missing) {
  return std::to_string(missing.size()) + " of " + std::to_string(folder.plan().units()) +
         (missing.size() == 1 ? " units has" : " units have") + " no result: " + number_ranges(missing) + ".";
}

}  // namespace

Result<SuiteFolder> SuiteFolder::create(const std::string& folder, SuitePlan plan) {
  std::error_code error;
  fs::create_directories(fs::path(folder) / "units", error);
  if (error) {
    return Status::bad_input(folder + ": cannot make the folder: " + error.message());
  }
  const std::string path = fs::path(folder) / "plan.json";
  if (fs::exists(path, error)) {
    Result<SuiteFolder> old = open(folder);
    if (!old.ok() || old->plan() != plan) {
      return Status::bad_input(folder + " has another plan: name a new folder, or delete this one");
    }
    return old;
  }
  SOOTH_RETURN_IF_ERROR(write_whole_file(path, print_plan(plan)));
  return SuiteFolder(fs::absolute(folder, error).string(), std::move(plan));
}

Result<SuiteFolder> SuiteFolder::open(const std::string& folder) {
  const std::string path = fs::path(folder) / "plan.json";
  const Result<std::string> text = read_whole_file(path);
  if (!text.ok()) {
    return text.status();
  }
  Result<SuitePlan> plan = parse_plan(*text, path);
  if (!plan.ok()) {
    return std::move(plan).status();
  }
  std::error_code error;
  return SuiteFolder(fs::absolute(folder, error).string(), std::move(*plan));
}

std::string SuiteFolder::report_path(std::uint64_t unit) const {
  return folder_ + "/units/" + std::to_string(unit) + ".json";
}

std::string SuiteFolder::log_path(std::uint64_t unit) const {
  return folder_ + "/units/" + std::to_string(unit) + ".log";
}

bool SuiteFolder::is_done(std::uint64_t unit) const {
  std::error_code error;
  return fs::exists(report_path(unit), error);
}

std::vector<std::uint64_t> SuiteFolder::missing() const {
  std::vector<std::uint64_t> units;
  for (std::uint64_t unit = 1; unit <= plan_.units(); ++unit) {
    if (!is_done(unit)) {
      units.push_back(unit);
    }
  }
  return units;
}

UnitEnd do_unit(const SuiteFolder& folder, std::uint64_t unit, const std::string& tool, std::uint32_t jobs) {
  const SuiteTest& test = folder.plan().unit(unit).test;
  // Two workers may be at the same unit: each has names of its own until it renames.
  const std::string mine = "." + std::to_string(::getpid());
  const TemporaryFile report(folder.report_path(unit) + mine), log(folder.log_path(unit) + mine);
  const Descriptor input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Descriptor output(::open(log.path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (input.number() < 0 || output.number() < 0) {
    return {.failed = log.path() + ": cannot be written: " + std::strerror(errno)};
  }
  if (::chdir(test.directory.c_str()) != 0) {
    return {.failed = test.directory + ": " + std::strerror(errno)};
  }
  SpawnOptions options;
  options.own_group = true;        // a worker that is killed leaves nothing running
  options.fixed_addresses = true;  // the recorded run has the addresses that it has elsewhere
  options.input = input.number();
  options.output = options.errors = output.number();
  Result<ChildProcess> child = ChildProcess::start(unit_command(folder, unit, tool, jobs, report.path()),
                                                   environment_of(folder.plan(), test), options);
  if (!child.ok()) {
    return {.failed = child.status().message()};
  }
  (void)child->wait([] {});  // the program's status says nothing about ours
  const bool interrupted = child->interrupted();
  take_signals_again();
  if (interrupted) {
    return {.interrupted = true, .failed = "a signal ended it"};
  }
  if (const Result<Report> made = read_report(report.path()); !made.ok()) {
    (void)::rename(log.path().c_str(), folder.log_path(unit).c_str());
    return {.failed = last_sentence(folder.log_path(unit))};
  }
  if (::rename(report.path().c_str(), folder.report_path(unit).c_str()) != 0) {
    return {.failed = folder.report_path(unit) + ": " + std::strerror(errno)};
  }
  (void)::unlink(folder.log_path(unit).c_str());  // of an earlier try
  return {};
}

std::vector<std::uint64_t> from_a_place_of_ones_own(std::vector<std::uint64_t> units, std::uint64_t worker) {
  if (!units.empty()) {
    const auto first = static_cast<std::ptrdiff_t>(SeededRandom(worker).below(units.size()));
    std::rotate(units.begin(), units.begin() + first, units.end());
  }
  return units;
}

Result<Report> merge_units(const SuiteFolder& folder) {
  std::vector<Report> reports;
  std::vector<std::uint64_t> missing;
  for (std::uint64_t unit = 1; unit <= folder.plan().units(); ++unit) {
    if (!folder.is_done(unit)) {
      missing.push_back(unit);
      continue;
    }
    Result<Report> report = read_report(folder.report_path(unit));
    if (!report.ok()) {
      return std::move(report).status();
    }
    name_replays(*report, folder.report_path(unit));  // it had another name while it was written
    for (Finding& finding : report->findings) {
      finding.reports = {folder.plan().unit(unit).name()};
    }
    reports.push_back(std::move(*report));
  }
  if (reports.empty()) {
    return Status::bad_input("no unit has a result yet: `sooth campaign work` makes them");
  }
  Report merged = merge_reports(std::move(reports));
  if (!missing.empty()) {
    merged.add_gap(GapKind::kRecording, missing_sentence(folder, missing));
  }
  return merged;
}

}  // namespace sooth
