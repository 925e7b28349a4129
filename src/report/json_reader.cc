#include <algorithm>
#include <charconv>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "report/describe.h"
#include "report/files.h"
#include "report/json.h"

namespace sooth {
namespace {

// Not ordered_json: that looks for duplicates linearly, and a hostile file may have a million members.
using Json = nlohmann::json;

// Keeps the first complaint, and where in the document it arose. After a failure reading goes on with defaults, so
// that the code below needs no branches; the result is thrown away.
class Reader {
 public:
  const std::string& complaint() const { return complaint_; }
  void fail(const std::string& where, const std::string& what) {
    if (complaint_.empty()) {
      complaint_ = (where.empty() ? "the document" : where) + " " + what;
    }
  }

 private:
  std::string complaint_;
};

// What was found instead, short: it may be a megabyte long.
std::string sort_of(const Json& json) {
  return std::string("is ") + (json.is_null()           ? "null"
                               : json.is_array()        ? "an array"
                               : json.is_object()       ? "an object"
                               : json.is_string()       ? "a text"
                               : json.is_boolean()      ? "true or false"
                               : json.is_number_float() ? "a number with a fraction or exponent, or too large"
                                                        : "a number");
}

// A value with its path ("findings[3].accesses[0].size"), or nothing where the document has nothing.
class Node {
 public:
  Node(const Json* json, std::string path, Reader& reader) : json_(json), path_(std::move(path)), reader_(&reader) {}

  bool present() const { return json_ != nullptr; }
  const std::string& path() const { return path_; }
  void fail(const std::string& what) const { reader_->fail(path_, what); }

  // The member `key`. Absent members are fine; asking for a member of something else than an object is not.
  Node operator[](const std::string& key) const {
    std::string path = path_.empty() ? key : path_ + "." + key;
    if (json_ == nullptr || !expect(json_->is_object(), "an object")) {
      return {nullptr, std::move(path), *reader_};
    }
    const auto it = json_->find(key);
    return {it == json_->end() ? nullptr : &*it, std::move(path), *reader_};
  }
  // The member `key`, which must be there.
  Node required(const std::string& key) const {
    Node member = (*this)[key];
    if (json_ != nullptr && !member.present()) {
      member.fail("is missing");
    }
    return member;
  }

  std::vector<Node> elements() const {
    std::vector<Node> nodes;
    if (json_ != nullptr && expect(json_->is_array(), "an array")) {
      nodes.reserve(json_->size());
      for (const Json& element : *json_) {
        nodes.push_back({&element, path_ + "[" + std::to_string(nodes.size()) + "]", *reader_});
      }
    }
    return nodes;
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> names;
    if (json_ != nullptr && expect(json_->is_object(), "an object")) {
      for (const auto& [key, value] : json_->items()) {
        names.push_back(key);
      }
    }
    return names;
  }

  void get(std::string& out) const {
    if (json_ != nullptr && expect(json_->is_string(), "a text")) {
      out = json_->get_ref<const std::string&>();
    }
  }
  void get(bool& out) const {
    if (json_ != nullptr && expect(json_->is_boolean(), "true or false")) {
      out = json_->get<bool>();
    }
  }
  void get(double& out) const {
    if (json_ != nullptr && expect(json_->is_number(), "a number")) {
      out = json_->get<double>();
    }
  }
  template <std::unsigned_integral Number>
    requires(!std::same_as<Number, bool>)
  void get(Number& out) const {
    constexpr Number kMax = std::numeric_limits<Number>::max();
    const std::string wanted = "a whole number from 0 to " + std::to_string(kMax);
    if (json_ == nullptr || !expect(json_->is_number_unsigned(), wanted)) {
      return;
    }
    const auto number = json_->get<std::uint64_t>();
    if (number > kMax) {
      fail("is " + std::to_string(number) + ", not " + wanted);
      return;
    }
    out = static_cast<Number>(number);
  }
  template <typename Id>
    requires std::is_enum_v<Id>
  void get_id(Id& out) const {
    auto number = raw(out);
    get(number);
    out = Id{number};
  }
  // "0x1f" as the writer writes it, or a plain number.
  void get_address(std::uint64_t& out) const {
    if (json_ == nullptr || json_->is_number_unsigned()) {
      get(out);
      return;
    }
    std::string text;
    get(text);
    const char* end = text.data() + text.size();
    std::uint64_t number = 0;
    if (text.size() > 2 && text.starts_with("0x")) {
      const auto [stop, error] = std::from_chars(text.data() + 2, end, number, 16);
      if (error == std::errc() && stop == end) {
        out = number;
        return;
      }
    }
    fail("is no address: expected a text like \"0x1f\"");
  }
  // One of a set of names; `from_name` returns an optional.
  template <typename Value, typename FromName>
  void get_name(Value& out, FromName from_name, const char* what) const {
    std::string name;
    get(name);
    if (json_ == nullptr || !json_->is_string()) {
      return;
    }
    if (const auto value = from_name(name)) {
      out = *value;
    } else {
      fail("is \"" + printable(name.substr(0, 40)) + "\", which is no " + what);
    }
  }
  void get(std::vector<std::string>& out) const {
    for (const Node& element : elements()) {
      element.get(out.emplace_back());
    }
  }

 private:
  bool expect(bool matches, const std::string& wanted) const {
    if (!matches) {
      fail(sort_of(*json_) + ", not " + wanted);
    }
    return matches;
  }

  const Json* json_;
  std::string path_;
  Reader* reader_;
};

std::optional<Op> op_from_name(std::string_view name) {
  for (int i = 0; i < kOpCount; ++i) {
    if (op_name(Op(i)) == name) {
      return Op(i);
    }
  }
  return std::nullopt;
}

std::optional<MemoryOrder> memory_order_from_name(std::string_view name) {
  for (int i = 0; i < kMemoryOrderCount; ++i) {
    if (memory_order_name(MemoryOrder(i)) == name) {
      return MemoryOrder(i);
    }
  }
  return std::nullopt;
}

std::optional<bool> checked_from_name(std::string_view name) {
  if (name == "checked" || name == "none") {
    return name == "checked";
  }
  return std::nullopt;
}

Site read_site(const Node& node) {
  Site site;
  node["label"].get(site.label);
  node["file"].get(site.file);
  node["line"].get(site.line);
  node["column"].get(site.column);
  node["function"].get(site.function);
  node["module"].get(site.module);
  node["offset"].get_address(site.offset);
  return site;
}

void read_stack(const Node& node, std::vector<Site>& stack) {
  for (const Node& call : node.elements()) {
    stack.push_back(read_site(call));
  }
}

Access read_access(const Node& node) {
  Access access;
  node.required("op").get_name(access.op, op_from_name, "operation");
  node["order"].get_name(access.order, memory_order_from_name, "memory order");
  node["shared"].get(access.shared);
  node["size"].get(access.size);
  node["address"].get_address(access.address);
  node["variable"].get(access.variable);
  node["thread"].get(access.thread);
  node["executed"].get(access.executed);
  if (access.executed) {
    node["event"].get_id(access.event);
  }
  node["reached_when"].get(access.when);
  access.site = read_site(node.required("site"));
  read_stack(node["stack"], access.stack);
  node["locks"].get(access.locks);
  return access;
}

SectionStart read_section(const Node& node) {
  SectionStart section;
  node["thread"].get(section.thread);
  node["acquire"].get_id(section.acquire);
  section.site = read_site(node["site"]);
  return section;
}

CodePlace read_code(const Node& node) {
  CodePlace place;
  const std::vector<Node> parts = node.elements();
  if (parts.size() != 3) {
    node.fail("is not [module, function, instruction]");
    return place;
  }
  parts[0].get(place.module);
  parts[1].get(place.function);
  parts[2].get(place.instruction);
  return place;
}

UnexecutedStep read_unexecuted(const Node& node) {
  UnexecutedStep step;
  node.required("thread").get_id(step.thread);
  step.code = read_code(node.required("code"));
  node.required("op").get_name(step.op, op_from_name, "operation");
  node.required("address").get_address(step.address);
  node.required("size").get(step.size);
  node["after"].get(step.after);
  if (const Node value = node["value"]; value.present()) {
    value.get_address(step.value.emplace());
  }
  step.site = read_site(node["site"]);
  return step;
}

ValueSummary read_values(const Node& node) {
  ValueSummary values;
  for (const Node& element : node["reads"].elements()) {
    ValueSummary::Read& read = values.reads.emplace_back();
    element.required("event").get_id(read.event);
    element.required("value").get_address(read.value);
    element["thread"].get(read.thread);
    element["variable"].get(read.variable);
    read.site = read_site(element["site"]);
  }
  for (const Node& element : node["detour"].elements()) {
    values.detour.push_back(read_unexecuted(element));
  }
  for (const Node& element : node["next"].elements()) {
    ValueSummary::Next& next = values.next.emplace_back();
    element.required("thread").get_id(next.thread);
    if (const Node event = element["event"]; event.present()) {
      event.get_id(next.event.emplace());
    }
    if (const Node step = element["unexecuted"]; step.present()) {
      next.unexecuted = read_unexecuted(step);
    }
    if (const Node branch = element["branch"]; branch.present()) {
      next.branch = read_code(branch);
    }
  }
  return values;
}

// The rows of a drawing point into its tables: none may lead out of them.
void read_rows(const Node& node, WitnessDrawing& drawing) {
  for (const Node& tuple : node.elements()) {
    const std::vector<Node> parts = tuple.elements();
    if (parts.size() != 6) {
      tuple.fail("is not [position, event, thread, deed, object, site]");
      continue;
    }
    WitnessDrawing::Row& row = drawing.rows.emplace_back();
    parts[0].get(row.position);
    parts[1].get_id(row.event);
    const auto get_index = [](const Node& part, std::uint32_t& out, std::size_t size) {
      part.get(out);
      if (out >= size) {
        part.fail("is " + std::to_string(out) + ", and the table it points into has " + std::to_string(size) + " rows");
      }
    };
    get_index(parts[2], row.thread, drawing.threads.size());
    get_index(parts[3], row.deed, drawing.deeds.size());
    get_index(parts[4], row.object, drawing.objects.size());
    get_index(parts[5], row.site, drawing.sites.size());
  }
}

WitnessDrawing read_drawing(const Node& node) {
  WitnessDrawing drawing;
  node["length"].get(drawing.length);
  for (const Node& element : node["threads"].elements()) {
    WitnessDrawing::Thread& thread = drawing.threads.emplace_back();
    element["id"].get_id(thread.id);
    element["name"].get(thread.name);
  }
  for (const Node& element : node["deeds"].elements()) {
    WitnessDrawing::Deed& deed = drawing.deeds.emplace_back();
    element.required("op").get_name(deed.op, op_from_name, "operation");
    element["shared"].get(deed.shared);
  }
  node["objects"].get(drawing.objects);
  read_stack(node["sites"], drawing.sites);
  read_rows(node["rows"], drawing);
  return drawing;
}

WitnessSummary read_witness(const Node& node) {
  WitnessSummary witness;
  node.required("status").get_name(witness.checked, checked_from_name, "status of a witness");
  node["why"].get(witness.why);
  for (const Node& event : node["order"].elements()) {
    event.get_id(witness.order.emplace_back());
  }
  for (const Node& triple : node["order_runs"].elements()) {
    const std::vector<Node> parts = triple.elements();
    if (parts.size() != 3) {
      triple.fail("is not [thread, first event, last event]");
      continue;
    }
    WitnessSummary::Run& run = witness.runs.emplace_back();
    parts[0].get_id(run.thread);
    parts[1].get_id(run.first);
    parts[2].get_id(run.last);
  }
  for (const Node& element : node["steps"].elements()) {
    WitnessStep& step = witness.steps.emplace_back();
    element["thread"].get(step.thread);
    element["first"].get_id(step.first);
    element["last"].get_id(step.last);
    step.from = read_site(element["from"]);
    step.to = read_site(element["to"]);
  }
  for (const Node& element : node["swaps"].elements()) {
    SectionSwap& swap = witness.swaps.emplace_back();
    element["lock"].get(swap.lock);
    swap.now_first = read_section(element["now_first"]);
    swap.now_second = read_section(element["now_second"]);
  }
  if (const Node values = node["values"]; values.present()) {
    witness.values = read_values(values);
  }
  if (const Node drawing = node["drawing"]; drawing.present()) {
    witness.drawing = read_drawing(drawing);
  }
  return witness;
}

Origin read_origin(const Node& node) {
  Origin origin;
  node["thread"].get(origin.thread);
  node["event"].get_id(origin.event);
  origin.site = read_site(node["site"]);
  read_stack(node["stack"], origin.stack);
  return origin;
}

MemoryContext read_memory(const Node& node) {
  MemoryContext memory;
  node.required("kind").get_name(memory.kind, memory_kind_from_name, "kind of memory");
  node["address"].get_address(memory.address);
  node["size"].get(memory.size);
  node["offset"].get(memory.offset);
  node["name"].get(memory.name);
  node["thread"].get(memory.thread);
  if (const Node allocated = node["allocated"]; allocated.present()) {
    memory.allocated = read_origin(allocated);
  }
  return memory;
}

FindingContext read_context(const Node& node) {
  FindingContext context;
  if (const Node memory = node["memory"]; memory.present()) {
    context.memory = read_memory(memory);
  }
  for (const Node& element : node["threads"].elements()) {
    ThreadContext& thread = context.threads.emplace_back();
    element["thread"].get(thread.thread);
    thread.created = read_origin(element["created"]);
  }
  for (const Node& element : node["locks"].elements()) {
    LockContext& lock = context.locks.emplace_back();
    element["lock"].get(lock.lock);
    element["address"].get_address(lock.address);
    lock.first_acquired = read_origin(element["first_acquired"]);
  }
  return context;
}

// A race has two accesses, a misuse the forbidden call, a deadlock one acquire for each thread.
bool right_number_of_accesses(const Finding& finding) {
  switch (finding.kind) {
    case FindingKind::kRace: return finding.accesses.size() == 2;
    case FindingKind::kDeadlock: return !finding.accesses.empty();
    case FindingKind::kMisuse: return finding.accesses.size() == 1;
  }
  return false;
}

ReplaySummary read_replay(const Node& node) {
  ReplaySummary replay;
  node["command"].get(replay.command);
  node["seed"].get(replay.seed);
  node["probability"].get(replay.probability);
  node["strategy"].get(replay.strategy);
  node["trials"].get(replay.trials);
  node["hits"].get(replay.hits);
  node["witness_followed"].get(replay.witness_followed);
  node["diverged"].get(replay.diverged);
  node["outcome"].get(replay.outcome);
  node["failures"].get(replay.failures);
  node["order_matters"].get(replay.order_matters);
  node["baseline_runs"].get(replay.baseline_runs);
  node["baseline_failures"].get(replay.baseline_failures);
  node["schedule"].get(replay.schedule);
  return replay;
}

Finding read_finding(const Node& node) {
  Finding finding;
  node["id"].get(finding.id);
  node.required("kind").get_name(finding.kind, finding_kind_from_name, "kind of finding");
  node.required("rung").get_name(finding.rung, rung_from_name, "rung");
  node["found_by"].get(finding.found_by);
  node["dynamic_pairs"].get(finding.dynamic_pairs);
  node["distance"].get(finding.distance);
  node["observed"].get(finding.observed);
  node["exact"].get(finding.exact);
  node["known"].get(finding.known);
  node["uninstrumented"].get(finding.uninstrumented);
  if (const Node witness = node["witness"]; witness.present()) {
    finding.witness = read_witness(witness);
  }
  const Node accesses = node.required("accesses");
  for (const Node& access : accesses.elements()) {
    finding.accesses.push_back(read_access(access));
  }
  if (!right_number_of_accesses(finding)) {
    accesses.fail(
        "does not have the two accesses of a race, the one for each thread of a deadlock, or the one of a misuse");
  }
  if (finding.kind == FindingKind::kMisuse) {
    node.required("misuse").get_name(finding.misuse.emplace(), misuse_kind_from_name, "kind of misuse");
  }
  if (const Node context = node["context"]; context.present()) {
    finding.context = read_context(context);
  }
  if (const Node replay = node["replay"]; replay.present()) {
    finding.replay = read_replay(replay);
  }
  return finding;
}

AnalysisStats read_analysis(const std::string& name, const Node& node) {
  AnalysisStats analysis;
  analysis.name = name;
  node["guarantee"].get(analysis.guarantee);
  node["races"].get(analysis.races);
  node["dynamic_pairs"].get(analysis.dynamic_pairs);
  node["seconds"].get(analysis.seconds);
  if (const Node unfiltered = node["seconds_unfiltered"]; unfiltered.present()) {
    unfiltered.get(analysis.seconds_unfiltered.emplace());
  }
  for (const Node& row : node["extra"].elements()) {
    const std::vector<Node> parts = row.elements();
    if (parts.size() != 2) {
      row.fail("is not [label, figure]");
      continue;
    }
    auto& [label, figure] = analysis.extra.emplace_back();
    parts[0].get(label);
    parts[1].get(figure);
  }
  return analysis;
}

FilterStats read_filter(const Node& node) {
  FilterStats filter;
  node["name"].get(filter.name);
  node["accesses"].get(filter.accesses);
  node["hidden_intra"].get(filter.hidden_intra);
  node["hidden_inter"].get(filter.hidden_inter);
  node["locations"].get(filter.locations);
  node["memory_bytes"].get(filter.memory);
  node["seconds"].get(filter.seconds);
  return filter;
}

ReportStats read_stats(const Node& node) {
  ReportStats stats;
  node["events"].get(stats.events);
  node["threads"].get(stats.threads);
  node["locks"].get(stats.locks);
  node["variables"].get(stats.variables);
  node["sites"].get(stats.sites);
  node["seconds"].get(stats.seconds);
  node["witness_seconds"].get(stats.witness_seconds);
  for (const Node& stage : node["stages"].elements()) {
    auto& [name, seconds] = stats.stages.emplace_back();
    stage["stage"].get(name);
    stage["seconds"].get(seconds);
  }
  if (const Node filter = node["filter"]; filter.present()) {
    stats.filter = read_filter(filter);
  }
  const Node analyses = node["analyses"];
  std::vector<std::string> names;
  node["analysis_order"].get(names);
  const std::vector<std::string> keys = analyses.keys();  // those that the order does not name come last
  names.insert(names.end(), keys.begin(), keys.end());
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (const Node analysis = analyses[name]; analysis.present() && seen.insert(name).second) {
      stats.analyses.push_back(read_analysis(name, analysis));
    }
  }
  return stats;
}

RunOverview read_overview(const Node& node) {
  RunOverview overview;
  node["slice"].get(overview.slice);
  for (const Node& element : node["kinds"].elements()) {
    auto& [op, events] = overview.kinds.emplace_back();
    element.required("op").get_name(op, op_from_name, "operation");
    element["events"].get(events);
  }
  for (const Node& element : node["threads"].elements()) {
    ThreadActivity& thread = overview.threads.emplace_back();
    element["thread"].get(thread.thread);
    element["events"].get(thread.events);
    element["first"].get_id(thread.first);
    element["last"].get_id(thread.last);
    for (const Node& slice : element["activity"].elements()) {
      slice.get(thread.activity.emplace_back());
    }
  }
  node["more_threads"].get(overview.more_threads);
  for (const Node& element : node["locks"].elements()) {
    LockUse& lock = overview.locks.emplace_back();
    element["lock"].get(lock.lock);
    element["acquires"].get(lock.acquires);
    element["handovers"].get(lock.handovers);
  }
  node["more_locks"].get(overview.more_locks);
  return overview;
}

ShardOfCampaign read_shard(const Node& node) {
  ShardOfCampaign shard;
  node["index"].get(shard.index);
  node["count"].get(shard.count);
  node["campaign"].get(shard.campaign);
  node["tried"].get(shard.tried);
  if (shard.index == 0 || shard.index > shard.count) {
    node.fail("is not one of the parts that it counts");
  }
  return shard;
}

Report read_root(const Node& root) {
  Report report;
  const Node schema = root.required("schema");
  std::string version;
  schema.get(version);
  if (version != kReportSchema) {
    schema.fail("is \"" + printable(version.substr(0, 40)) + "\"; this version of sooth reads \"" +
                std::string(kReportSchema) + "\"");
    return report;
  }
  root["trace"].get(report.trace);
  root["program"].get(report.program);
  root["exact"].get(report.exact);
  root["incomplete"].get(report.incomplete);
  for (const Node& finding : root.required("findings").elements()) {
    report.findings.push_back(read_finding(finding));
  }
  root["suppressed"].get(report.suppressed);
  for (const Node& node : root["suppressions"].elements()) {
    SuppressionUse& use = report.suppressions.emplace_back();
    node["file"].get(use.file);
    node["line"].get(use.line);
    node["text"].get(use.text);
    node["hits"].get(use.hits);
  }
  root["notes"].get(report.notes);
  for (const Node& node : root["not_covered"].elements()) {
    Gap& gap = report.not_covered.emplace_back();
    node.required("kind").get_name(gap.kind, gap_kind_from_name, "kind of gap");
    node.required("text").get(gap.text);
  }
  if (const Node shard = root["shard"]; shard.present()) {
    report.shard = read_shard(shard);
  }
  report.stats = read_stats(root["stats"]);
  if (const Node overview = root["overview"]; overview.present()) {
    report.overview = read_overview(overview);
  }
  for (const Node& node : root["sources"].elements()) {
    SourceFile& source = report.sources.emplace_back();
    node["file"].get(source.file);
    node["digest"].get_address(source.digest);
  }
  return report;
}

// "line 3, column 5" of the byte at `offset` (from 0).
std::string position(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return "line " + std::to_string(line) + ", column " + std::to_string(before.size() - line_start + 1);
}

}  // namespace

Result<Report> parse_report(std::string_view text, const std::string& path) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::size_t offset = error.byte > 0 ? error.byte - 1 : 0;  // the library counts from 1
    return Status::bad_input(path + ": " + position(text, offset) + ": this is not valid JSON, so no report of sooth");
  } catch (const Json::exception&) {
    return Status::bad_input(path + ": this is no report of sooth: it has a number that is too large for any computer");
  }
  Reader reader;
  Report report = read_root(Node(&json, "", reader));
  if (!reader.complaint().empty()) {
    return Status::bad_input(path + ": this is no report of sooth that can be read: " + reader.complaint());
  }
  return report;
}

Result<Report> read_report(const std::string& path) {
  Result<std::string> text = read_whole_file(path);
  if (!text.ok()) {
    return std::move(text).status();
  }
  return parse_report(*text, path);
}

}  // namespace sooth
