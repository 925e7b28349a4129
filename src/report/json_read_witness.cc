// The witness of a finding: the order, what reads see along it, and how to draw it.
#include "report/json_read.h"
#include "report/shared_runs.h"

namespace sooth {

static void read_json(const JsonNode& node, SectionStart& section) {
  node.get("thread", section.thread);
  node.get("acquire", section.acquire);
  node.get("site", section.site);
}

static void read_json(const JsonNode& node, SectionSwap& swap) {
  node.get("lock", swap.lock);
  node.get("now_first", swap.now_first);
  node.get("now_second", swap.now_second);
}

static void read_json(const JsonNode& node, WitnessStep& step) {
  node.get("thread", step.thread);
  node.get("first", step.first);
  node.get("last", step.last);
  node.get("from", step.from);
  node.get("to", step.to);
}

static void read_json(const JsonNode& node, WitnessSummary::Run& run) {
  if (const auto parts = node.tuple(3, "[thread, first event, last event]"); !parts.empty()) {
    parts[0].get(run.thread);
    parts[1].get(run.first);
    parts[2].get(run.last);
  }
}

static void read_json(const JsonNode& node, CodePlace& place) {
  if (const auto parts = node.tuple(3, "[module, function, instruction]"); !parts.empty()) {
    parts[0].get(place.module);
    parts[1].get(place.function);
    parts[2].get(place.instruction);
  }
}

static void read_json(const JsonNode& node, UnexecutedStep& step) {
  node.required("thread").get(step.thread);
  node.required("code").get(step.code);
  node.required("op").get(step.op);
  node.required("address").get_address(step.address);
  node.required("size").get(step.size);
  node.get("after", step.after);
  node["value"].get_address(step.value);
  node.get("site", step.site);
}

static void read_json(const JsonNode& node, ValueSummary::Read& read) {
  node.required("event").get(read.event);
  node.required("value").get_address(read.value);
  node.get("thread", read.thread);
  node.get("variable", read.variable);
  node.get("site", read.site);
}

static void read_json(const JsonNode& node, ValueSummary::Next& next) {
  node.required("thread").get(next.thread);
  node.get("event", next.event);
  node.get("unexecuted", next.unexecuted);
  node.get("branch", next.branch);
}

static void read_json(const JsonNode& node, ValueSummary& values) {
  node.get("reads", values.reads);
  node.get("detour", values.detour);
  node.get("next", values.next);
}

static void read_json(const JsonNode& node, WitnessDrawing::Thread& thread) {
  node.get("id", thread.id);
  node.get("name", thread.name);
}

static void read_json(const JsonNode& node, WitnessDrawing::Deed& deed) {
  node.required("op").get(deed.op);
  node.get("shared", deed.shared);
}

// A row of a drawing points into its tables: it may not lead out of them.
static void read_row(const JsonNode& node, WitnessDrawing& drawing) {
  const auto parts = node.tuple(6, "[position, event, thread, deed, object, site]");
  if (parts.empty()) {
    return;
  }
  const auto get_index = [](const JsonNode& part, std::uint32_t& out, std::size_t size) {
    part.get(out);
    if (out >= size) {
      part.fail("is " + std::to_string(out) + ", and the table it points into has " + std::to_string(size) + " rows");
    }
  };
  WitnessDrawing::Row& row = drawing.rows.emplace_back();
  parts[0].get(row.position);
  parts[1].get(row.event);
  get_index(parts[2], row.thread, drawing.threads.size());
  get_index(parts[3], row.deed, drawing.deeds.size());
  get_index(parts[4], row.object, drawing.objects.size());
  get_index(parts[5], row.site, drawing.sites.size());
}

static void read_json(const JsonNode& node, WitnessDrawing& drawing) {
  node.get("length", drawing.length);
  node.get("threads", drawing.threads);
  node.get("deeds", drawing.deeds);
  node.get("objects", drawing.objects);
  node.get("sites", drawing.sites);
  for (const JsonNode& row : node["rows"].elements()) {
    read_row(row, drawing);
  }
}

static std::optional<bool> checked_from_name(std::string_view name) {
  if (name == "checked" || name == "none") {
    return name == "checked";
  }
  return std::nullopt;
}

void read_json(const JsonNode& node, WitnessSummary& witness) {
  node.required("status").get_name(witness.checked, checked_from_name, "status of a witness");
  node.get("why", witness.why);
  node.get("refuted", witness.refuted);
  node.get("order", witness.order);
  node.get("order_runs", witness.runs);
  node.get("steps", witness.steps);
  node.get("swaps", witness.swaps);
  node.get("values", witness.values);
  node.get("drawing", witness.drawing);
}

// Slices of a table of `size` rows; `total` counts those of all witnesses.
static std::vector<SharedRuns::Slice> read_slices(const JsonNode& node, std::size_t size, std::uint64_t& total) {
  std::vector<SharedRuns::Slice> slices;
  for (const JsonNode& element : node.elements()) {
    const auto parts = element.tuple(2, "[first of the shared runs, how many]");
    if (parts.empty()) {
      return {};
    }
    SharedRuns::Slice& slice = slices.emplace_back();
    parts[0].get(slice.first);
    parts[1].get(slice.count);
    if (slice.first > size || slice.count > size - slice.first) {
      element.fail("leads out of the shared runs, of which there are " + std::to_string(size));
      return {};
    }
    if (slice.count > kMaxSharedRuns - total) {
      element.fail("is too much: witnesses may share " + std::to_string(kMaxSharedRuns) + " runs");
      return {};
    }
    total += slice.count;
  }
  return slices;
}

void read_shared_runs(const JsonNode& root, std::vector<Finding>& findings) {
  std::vector<WitnessSummary::Run> table;
  root.get("shared_runs", table);
  const std::vector<JsonNode> nodes = root["findings"].elements();
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < nodes.size() && i < findings.size(); ++i) {
    if (!findings[i].witness.has_value()) {
      continue;
    }
    std::vector<WitnessSummary::Run>& runs = findings[i].witness->runs;
    for (const auto& [first, count] : read_slices(nodes[i]["witness"]["order_slices"], table.size(), total)) {
      const auto begin = table.begin() + static_cast<std::ptrdiff_t>(first);
      runs.insert(runs.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
    }
  }
}

}  // namespace sooth
