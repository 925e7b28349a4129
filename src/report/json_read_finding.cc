// A finding: its accesses, what the trace knows of the things in it, and its replay. The witness has a file of its own.
#include "base/names.h"
#include "report/json_read.h"

namespace sooth {

void read_json(const JsonNode& node, Op& op) {
  node.get_name(
      op, [](std::string_view name) { return named(name, 0, kOpCount, op_name); }, "operation");
}

void read_json(const JsonNode& node, Site& site) {
  node.get("label", site.label);
  node.get("file", site.file);
  node.get("line", site.line);
  node.get("column", site.column);
  node.get("function", site.function);
  node.get("module", site.module);
  node["offset"].get_address(site.offset);
}

static std::optional<MemoryOrder> memory_order_from_name(std::string_view name) {
  return named(name, 0, kMemoryOrderCount, memory_order_name);
}

static void read_json(const JsonNode& node, Access& access) {
  node.required("op").get(access.op);
  node["order"].get_name(access.order, memory_order_from_name, "memory order");
  node.get("shared", access.shared);
  node.get("size", access.size);
  node["address"].get_address(access.address);
  node.get("variable", access.variable);
  node.get("thread", access.thread);
  node.get("executed", access.executed);
  if (access.executed) {
    node.get("event", access.event);
  }
  node.get("reached_when", access.when);
  node.required("site").get(access.site);
  node.get("stack", access.stack);
  node.get("frame", access.frame);
  node.get("code", access.code);
  node.get("locks", access.locks);
}

static void read_json(const JsonNode& node, Origin& origin) {
  node.get("thread", origin.thread);
  node.get("event", origin.event);
  node.get("site", origin.site);
  node.get("stack", origin.stack);
  node.get("frame", origin.frame);
}

static void read_json(const JsonNode& node, MemoryContext& memory) {
  node.required("kind").get_name(memory.kind, memory_kind_from_name, "kind of memory");
  node["address"].get_address(memory.address);
  node.get("size", memory.size);
  node.get("offset", memory.offset);
  node.get("name", memory.name);
  node.get("thread", memory.thread);
  node.get("member", memory.member);
  node.get("function", memory.function);
  node.get("type", memory.type);
  node.get("allocated", memory.allocated);
}

static void read_json(const JsonNode& node, ThreadContext& thread) {
  node.get("thread", thread.thread);
  node.get("created", thread.created);
}

static void read_json(const JsonNode& node, LockContext& lock) {
  node.get("lock", lock.lock);
  node["address"].get_address(lock.address);
  node.get("first_acquired", lock.first_acquired);
}

static void read_json(const JsonNode& node, LockHabit& habit) {
  node.get("lock", habit.lock);
  node.get("holding", habit.holding);
  node.get("accesses", habit.accesses);
}

static void read_json(const JsonNode& node, FindingContext& context) {
  node.get("habit", context.habit);
  node.get("memory", context.memory);
  node.get("threads", context.threads);
  node.get("locks", context.locks);
}

static void read_json(const JsonNode& node, ReplaySummary& replay) {
  node.get("command", replay.command);
  node.get("seed", replay.seed);
  node.get("probability", replay.probability);
  node.get("strategy", replay.strategy);
  node.get("trials", replay.trials);
  node.get("hits", replay.hits);
  node.get("witness_followed", replay.witness_followed);
  node.get("witness_repeats", replay.witness_repeats);
  node.get("diverged", replay.diverged);
  node.get("outcome", replay.outcome);
  node.get("failures", replay.failures);
  node.get("order_matters", replay.order_matters);
  node.get("baseline_runs", replay.baseline_runs);
  node.get("baseline_failures", replay.baseline_failures);
  node.get("missed_failures", replay.missed_failures);
  node.get("by_delay", replay.by_delay);
  node.get("chance", replay.chance);
  node.get("schedule", replay.schedule);
  node.get("preemptions", replay.preemptions);
  node.get("older_values", replay.older_values);
}

static void read_json(const JsonNode& node, FailureSummary& failure) {
  node.get("outcome", failure.outcome);
  node.get("signal", failure.signal);
  node.get("status", failure.status);
  node.get("message", failure.message);
  node.get("recorded", failure.recorded);
  node.get("by_delay", failure.by_delay);
  node.get("after", failure.after);
}

static std::optional<bool> pointer_from_name(std::string_view name) {
  return name == "pointer" || name == "value" ? std::optional(name == "pointer") : std::nullopt;
}

static void read_json(const JsonNode& node, HandOver& hand_over) {
  node.required("verdict").get_name(hand_over.verdict, hand_over_verdict_from_name, "verdict on a hand-over");
  node.get("pairs", hand_over.pairs);
  if (hand_over.verdict == HandOverVerdict::kRecognised) {
    node.required("by").get_name(hand_over.by_pointer, pointer_from_name, "way to hand something over");
    node.get("write", hand_over.write);
    node.get("read", hand_over.read);
    node.get("variable", hand_over.variable);
    node.get("lock", hand_over.lock);
  }
}

// A race has two accesses, a violation of atomicity three, a misuse the forbidden call (behind the free, of a use after free), a deadlock one acquire for each thread.
static bool right_number_of_accesses(const Finding& finding) {
  switch (finding.kind) {
    case FindingKind::kRace: return finding.accesses.size() == 2;
    case FindingKind::kDeadlock:
    case FindingKind::kCrash:
    case FindingKind::kHang: return !finding.accesses.empty();
    case FindingKind::kAtomicity: return finding.accesses.size() == 3;
    case FindingKind::kMisuse: return finding.accesses.size() == 1 || finding.accesses.size() == 2;
  }
  return false;
}

void read_json(const JsonNode& node, OtherPair& pair) {
  node.required("rung").get_name(pair.rung, rung_from_name, "rung");
  node.get("found_by", pair.found_by);
  node.get("sites", pair.sites);
}

void read_json(const JsonNode& node, Finding& finding) {
  node.get("id", finding.id);
  node.required("kind").get_name(finding.kind, finding_kind_from_name, "kind of finding");
  node.required("rung").get_name(finding.rung, rung_from_name, "rung");
  node.get("found_by", finding.found_by);
  node.get("dynamic_pairs", finding.dynamic_pairs);
  node.get("distance", finding.distance);
  node.get("observed", finding.observed);
  node.get("exact", finding.exact);
  node.get("known", finding.known);
  node.get("conflicts", finding.conflicts);
  node.get("vptr", finding.on_vptr);
  node.get("declared", finding.declared);
  node.get("follows", finding.follows);
  node.get("others", finding.others);
  node.get("may_be_atomic", finding.may_be_atomic);
  node.get("uninstrumented", finding.uninstrumented);
  node.get("recording", finding.recorded_under);
  node.get("witness", finding.witness);
  node.get("hand_over", finding.hand_over);
  const JsonNode accesses = node.required("accesses");
  accesses.get(finding.accesses);
  if (!right_number_of_accesses(finding)) {
    accesses.fail(
        "does not have the two accesses of a race, the three of a violation of atomicity, the one for each thread of a "
        "deadlock or failure, or the one of a "
        "misuse");
  }
  if (finding.kind == FindingKind::kMisuse) {
    node.required("misuse").get_name(finding.misuse.emplace(), misuse_kind_from_name, "kind of misuse");
  }
  node.get("failure", finding.failure);
  node.get("context", finding.context);
  node.get("replay", finding.replay);
  node.get("reports", finding.reports);
}

}  // namespace sooth
