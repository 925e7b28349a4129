#include "schedule/run_log.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string_view>

namespace sooth {
namespace {

using control::LogRecord;
using control::RecordKind;

RacingThread racing_thread(const LogRecord& record) {
  RacingThread thread;
  thread.thread = record.thread;
  thread.offset = record.a;
  thread.range = static_cast<std::uint32_t>(record.b);
  if (record.b >> 32 != 0) {
    thread.variable = static_cast<std::uint32_t>((record.b >> 32) - 1);
  }
  thread.bytes = static_cast<std::uint32_t>(record.c);
  thread.kinds = static_cast<std::uint32_t>(record.c >> 32 & 0xff);
  thread.first = (record.c >> 40 & 1) != 0;
  return thread;
}

// False: no library writes such a record.
bool add_stretch(const LogRecord& record, ProcessLog& process) {
  const std::uint64_t end = record.c & 0xff;
  if (end >= control::kStretchEndCount) {
    return false;
  }
  process.stretches.push_back({record.thread, static_cast<control::StretchEnd>(end), record.a, record.b,
                               static_cast<std::uint32_t>(record.c >> 32),
                               static_cast<std::uint32_t>(record.c >> 8 & 1)});
  return true;
}

bool add_blocked(const LogRecord& record, std::vector<BlockedThread>& threads) {
  if (record.a > static_cast<std::uint64_t>(control::BlockedOn::kFutex)) {
    return false;
  }
  threads.push_back({record.thread, static_cast<control::BlockedOn>(record.a), static_cast<std::uint32_t>(record.b),
                     record.c & ~control::kInLibrary, (record.c & control::kInLibrary) == 0});
  if (record.b >> 32 != 0) {
    threads.back().variable = static_cast<std::uint32_t>((record.b >> 32) - 1);
  }
  return true;
}

bool add_divergence(const LogRecord& record, ProcessLog& process) {
  if (record.b > static_cast<std::uint64_t>(control::Divergence::kOtherHash)) {
    return false;
  }
  process.divergences.push_back({record.thread, record.a, static_cast<control::Divergence>(record.b), record.c});
  return true;
}

void add_older(const LogRecord& record, ProcessLog& process) {
  OlderSeen seen;
  seen.choice = {static_cast<std::uint32_t>(record.a >> 32), static_cast<std::uint32_t>(record.a >> 16 & 0xff)};
  seen.thread = record.thread;
  seen.op = static_cast<Op>(record.a & 0xff);
  seen.offset = record.b;
  if (record.c != 0) {
    seen.variable = static_cast<std::uint32_t>(record.c - 1);
  }
  process.older.push_back(seen);
}

void add_stores(const LogRecord& record, OlderSeen& seen) {
  const auto word = [&](unsigned shift) { return static_cast<std::uint32_t>(record.c >> shift & 0xffff); };
  seen.seen = {record.a, word(0), word(32), 0};
  seen.newest = {record.b, word(16), word(48), 0};
}

// What has been read of a process so far, for records that need it.
struct Reading {
  RecordKind before = RecordKind::kNothing;
  RecordKind about = RecordKind::kNothing;       // what kBlockedThread and kFrame records tell of
  std::map<std::uint32_t, std::string> modules;  // paths, as far as they are known
  std::set<std::uint32_t> whole;                 // those that are
};

// Whom kBlockedThread records belong to; nullptr: nobody.
std::vector<BlockedThread>* told_of(const Reading& reading, ProcessLog& process) {
  return reading.about == RecordKind::kDeadlock  ? &process.deadlock
         : reading.about == RecordKind::kStopped ? &process.stopped
                                                 : nullptr;
}

// Paths come in parts.
void add_module(const LogRecord& record, Reading& reading) {
  char part[3 * sizeof(std::uint64_t)];
  std::memcpy(part, &record.a, sizeof part);
  const std::string_view text(part, sizeof part);
  std::string& path = reading.modules[record.thread];
  if (reading.whole.erase(record.thread) != 0) {
    path.clear();
  }
  path += text.substr(0, text.find('\0'));
  if (text.find('\0') != std::string_view::npos) {
    reading.whole.insert(record.thread);
  }
}

// The stack that a frame belongs to; nullptr: of nobody.
std::vector<LoggedPlace>* stack_of(std::uint32_t thread, const Reading& reading, ProcessLog& process) {
  if (reading.about == RecordKind::kCrash) {
    return process.crash->thread == thread ? &process.crash->stack : nullptr;
  }
  std::vector<BlockedThread>* const threads = told_of(reading, process);
  const bool has = threads != nullptr && !threads->empty() && threads->back().thread == thread;
  return has ? &threads->back().stack : nullptr;
}

bool add_frame(const LogRecord& record, Reading& reading, ProcessLog& process) {
  std::vector<LoggedPlace>* const stack = stack_of(record.thread, reading, process);
  if (stack == nullptr) {
    return false;
  }
  const auto number = static_cast<std::uint32_t>(record.b);
  if (number != control::kNone && reading.whole.contains(number)) {
    stack->push_back({reading.modules[number], record.a});
  }
  return true;
}

bool add_record(const LogRecord& record, Reading& reading, RunLog& log) {
  ProcessLog& process = log.processes[record.process];
  const RecordKind before = reading.before;
  switch (record.kind) {
    case RecordKind::kNothing: return true;
    case RecordKind::kThread:
      process.threads.push_back(
          {record.thread, static_cast<std::uint32_t>(record.a), static_cast<std::uint32_t>(record.b), 0});
      return true;
    case RecordKind::kStretch: return add_stretch(record, process);
    case RecordKind::kRace:
      process.races.push_back({process.stretches.size(), racing_thread(record), {}, process.longest_delay});
      return true;
    case RecordKind::kRaceWith:
      if (before != RecordKind::kRace && before != RecordKind::kRaceWith) {
        return false;
      }
      process.races.back().others.push_back(racing_thread(record));
      return true;
    case RecordKind::kLetGo: ++(record.a == 0 ? process.let_go : process.impatient); return true;
    case RecordKind::kTurnTaken: ++process.turns_taken; return true;
    case RecordKind::kSpin: ++process.spins; return true;
    case RecordKind::kDeadlock:
    case RecordKind::kStopped: reading.about = record.kind; return true;
    case RecordKind::kBlockedThread: {
      std::vector<BlockedThread>* const threads = told_of(reading, process);
      return threads != nullptr && add_blocked(record, *threads);
    }
    case RecordKind::kFrame: return add_frame(record, reading, process);
    case RecordKind::kDiverged: return add_divergence(record, process);
    case RecordKind::kModule: add_module(record, reading); [[fallthrough]];
    case RecordKind::kPoint:
    case RecordKind::kStep:
    case RecordKind::kStepAt:
      if (record.process == 0) {
        log.points.push_back(record);
      }
      return true;
    case RecordKind::kExternal: ++process.external; return true;
    case RecordKind::kWake:
      process.woken.push_back({{static_cast<std::uint16_t>(record.thread), static_cast<std::uint16_t>(record.a),
                                static_cast<std::uint16_t>(record.b)},
                               record.c});
      return true;
    case RecordKind::kEvents:
      process.counts.push_back({record.thread, static_cast<std::uint32_t>(record.b), record.a});
      return true;
    case RecordKind::kOrder: {
      const auto first_thread = static_cast<std::uint32_t>(record.c >> 32);
      (first_thread == record.thread ? process.own_orders : process.orders)
          .push_back({{record.a, record.b, record.c & 3}, first_thread, record.thread});
      return true;
    }
    case RecordKind::kMemory:
      if (record.process == 0) {
        log.points.push_back(record);
      }
      if ((record.a >> 16 & 0xff) != 0) {
        add_older(record, process);
      }
      return (record.a & 0xff) < static_cast<std::uint64_t>(kOpCount);
    case RecordKind::kMemoryStores:
      if (before != RecordKind::kMemory || process.older.empty()) {
        return false;
      }
      add_stores(record, process.older.back());
      return true;
    case RecordKind::kMemoryPlaces:
      if (before != RecordKind::kMemoryStores || process.older.empty()) {
        return false;
      }
      process.older.back().seen.offset = record.a;
      process.older.back().newest.offset = record.b;
      return true;
    case RecordKind::kEarly:
      process.longest_delay = std::max(process.longest_delay, record.a);
      if (record.process == 0) {
        log.points.push_back(record);
      }
      return true;
    case RecordKind::kCrash:
      reading.about = record.kind;
      process.crash = {record.thread, static_cast<int>(record.a & 0x7f), record.c & ~control::kInLibrary,
                       (record.c & control::kInLibrary) == 0};
      return true;
  }
  return false;
}

Result<control::LogHeader> parse_header(const std::string& bytes) {
  control::LogHeader header;
  if (bytes.size() < sizeof(header)) {
    return Status::bad_input("the log of the controlled run has " + std::to_string(bytes.size()) +
                             " bytes, less than its header");
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != control::kLogMagic) {
    return Status::bad_input("the log of the controlled run does not begin as one");
  }
  if (header.state > control::RunState::kHung) {
    return Status::bad_input("the log of the controlled run has an unknown state, " +
                             std::to_string(static_cast<std::uint32_t>(header.state)));
  }
  const std::uint64_t room = (bytes.size() - sizeof(header)) / sizeof(LogRecord);
  const std::uint64_t wanted = std::min(header.count, header.capacity);
  if (wanted > room) {
    return Status::bad_input("the log of the controlled run counts " + std::to_string(wanted) +
                             " records but has room for " + std::to_string(room));
  }
  return header;
}

}  // namespace

std::vector<control::MemoryChoice> older_choices(const ProcessLog& process) {
  std::vector<control::MemoryChoice> choices;
  for (const OlderSeen& seen : process.older) {
    choices.push_back(seen.choice);
  }
  return choices;
}

Result<RunLog> parse_run_log(const std::string& bytes) {
  const Result<control::LogHeader> header = parse_header(bytes);
  if (!header.ok()) {
    return header.status();
  }
  RunLog log;
  log.state = header->state;
  log.hook_calls = header->hook_calls;
  log.scheduling_points = header->scheduling_points;
  log.order_hash = header->order_hash;
  log.truncated = header->count > header->capacity;
  if (header->state != control::RunState::kNotStarted) {
    log.processes.resize(1);
  }
  std::vector<Reading> readings(log.processes.size());
  const std::uint64_t count = std::min(header->count, header->capacity);
  for (std::uint64_t i = 0; i < count; ++i) {
    LogRecord record;
    std::memcpy(&record, bytes.data() + sizeof(control::LogHeader) + i * sizeof(record), sizeof(record));
    if (record.kind == RecordKind::kNothing) {
      continue;
    }
    if (record.process >= log.processes.size()) {
      log.processes.resize(record.process + std::size_t{1});
      readings.resize(log.processes.size());
    }
    Reading& reading = readings[record.process];
    if (!add_record(record, reading, log)) {
      return Status::bad_input("the log of the controlled run is damaged: record " + std::to_string(i) +
                               " is not one that a program writes");
    }
    reading.before = record.kind;
  }
  for (std::size_t i = 0; i < log.processes.size(); ++i) {
    log.processes[i].modules = std::move(readings[i].modules);
  }
  for (ProcessLog& process : log.processes) {
    // Its process died between the two records: nobody knows whom it met.
    std::erase_if(process.races, [](const CreatedRace& race) { return race.others.empty(); });
  }
  return log;
}

}  // namespace sooth
