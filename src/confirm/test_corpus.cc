#include "confirm/test_corpus.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/fnv1a.h"
#include "base/text.h"
#include "trace/format/small_file.h"

namespace sooth {
namespace {

namespace fs = std::filesystem;

constexpr char kExtension[] = ".schedule";
constexpr char kFailure[] = "failure-", kOrder[] = "order-";
constexpr std::uint64_t kMostBytes = 1 << 24;  // of a schedule

constexpr std::size_t kHashDigits = 16;

std::string hash_of(std::string_view bytes) { return hex_digits(fnv1a(bytes), kHashDigits); }

bool is_failure(const std::string& path) { return fs::path(path).filename().string().starts_with(kFailure); }

// NAME-BUILD, with a BUILD as hash_of() makes it.
bool is_build_of(const std::string& folder, const std::string& name) {
  return folder.size() == name.size() + 1 + kHashDigits && folder.starts_with(name + "-");
}

Status cannot(const std::string& what, const std::string& path, const std::error_code& error) {
  return Status::bad_input("cannot " + what + " " + path + ": " + error.message());
}

}  // namespace

Result<TestCorpus> TestCorpus::open(const std::string& directory, const std::string& program) {
  const Result<std::string> code = read_required_file(program);
  if (!code.ok()) {
    return code.status();
  }
  TestCorpus corpus;
  corpus.directory_ = directory;
  corpus.name_ = fs::path(program).filename().string();
  corpus.build_ = corpus.name_ + "-" + hash_of(*code);
  std::error_code error;
  fs::create_directories(directory + "/" + corpus.build_, error);
  if (error) {
    return cannot("make the directory", directory + "/" + corpus.build_, error);
  }
  std::vector<std::pair<bool, std::string>> paths;  // whether of another build
  for (const fs::directory_entry& folder : fs::directory_iterator(directory, error)) {
    const std::string name = folder.path().filename().string();
    if (!is_build_of(name, corpus.name_)) {
      continue;
    }
    for (const fs::directory_entry& file : fs::directory_iterator(folder.path(), error)) {
      if (file.path().extension() == kExtension) {
        paths.emplace_back(name != corpus.build_, file.path().string());
      }
    }
  }
  if (error) {
    return cannot("read", directory, error);
  }
  std::sort(paths.begin(), paths.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.first, !is_failure(a.second), a.second) < std::tuple(b.first, !is_failure(b.second), b.second);
  });
  for (auto& [is_other, path] : paths) {
    const Result<std::string> text = read_required_file(path, kMostBytes);
    Result<ScheduleFile> schedule = text.ok() ? parse_schedule(*text, path) : text.status();
    if (!schedule.ok()) {
      return schedule.status();
    }
    corpus.count_ += is_other ? 0 : 1;
    corpus.kept_.push_back({std::move(path), std::move(*schedule), is_other});
  }
  const Result<std::optional<std::string>> seeds = read_small_file(directory + "/" + corpus.name_ + ".seeds", 64);
  if (!seeds.ok()) {
    return seeds.status();
  }
  const std::string digits = seeds->value_or("0");
  std::from_chars(digits.data(), digits.data() + digits.size(), corpus.seeds_);
  return corpus;
}

RunPlan TestCorpus::plan_of(const Kept& kept) {
  RunPlan plan = replay_plan(kept.schedule);
  if (kept.is_of_other_build) {
    plan.sites.clear();
    plan.plan = plan.plan == control::Plan::kDirected ? control::Plan::kStrategy : plan.plan;
    plan.strategy = plan.strategy.starts_with("rff") ? "rff" : plan.strategy;
  }
  return plan;
}

Result<bool> TestCorpus::add(const ScheduleFile& schedule, bool is_failure) {
  const std::string text = print_schedule(schedule);
  const std::string path =
      directory_ + "/" + build_ + "/" + (is_failure ? kFailure : kOrder) + hash_of(text) + kExtension;
  std::error_code error;
  if (count_ >= kMost || fs::exists(path, error)) {
    return false;
  }
  SOOTH_RETURN_IF_ERROR(replace_small_file(path, text));
  ++count_;
  return true;
}

Status TestCorpus::remove(const Kept& kept) const {
  std::error_code error;
  fs::remove(kept.path, error);
  return error ? cannot("remove", kept.path, error) : Status();
}

Status TestCorpus::finish(std::uint64_t seeds) const {
  std::error_code error;
  std::vector<fs::path> others;
  for (const fs::directory_entry& folder : fs::directory_iterator(directory_, error)) {
    const std::string name = folder.path().filename().string();
    if (name != build_ && is_build_of(name, name_)) {
      others.push_back(folder.path());
    }
  }
  for (const fs::path& folder : others) {
    fs::remove(folder, error);  // only if nothing is left in it
  }
  return replace_small_file(directory_ + "/" + name_ + ".seeds", std::to_string(seeds) + "\n");
}

}  // namespace sooth
