#include "recipe/witness_report.h"

#include <llvm/IR/Instruction.h>

#include <utility>

#include "race/witness_summary.h"

namespace sooth {
namespace {

CodePlace to_code(const InstructionRef& ref) { return {ref.module, ref.function, ref.instruction}; }
InstructionRef to_ref(const CodePlace& code) { return {code.module, code.function, code.instruction}; }

Site site_of(const InstructionRef& ref, const DeepProgram& program) {
  const llvm::Instruction* instruction = program.instruction(ref);
  return instruction == nullptr ? Site{} : program.site(*instruction);
}

UnexecutedStep to_step(const DetourEvent& event, const DeepProgram& program) {
  return {event.thread, to_code(event.at), event.op,    event.object,
          event.size,   event.after,       event.value, site_of(event.at, program)};
}
DetourEvent to_event(const UnexecutedStep& step) {
  return {step.thread, to_ref(step.code), step.op, step.address, step.size, step.after, step.value};
}

std::string name_of(std::uint64_t address, const TraceView& trace) {
  const bool named = trace.tables != nullptr && (trace.tables->object_name(ObjectKind::kMemory, address) != nullptr ||
                                                 trace.tables->named_range(ObjectKind::kMemory, address) != nullptr);
  return named ? trace.tables->describe(ObjectKind::kMemory, address) : "";
}

// Small negative numbers are more likely than huge ones.
std::string number(std::uint64_t value, std::uint32_t size) {
  const unsigned unused = size >= 8 ? 0 : 64 - 8 * size;
  const auto signed_value = static_cast<std::int64_t>(value << unused) >> unused;
  const bool negative = signed_value < 0 && signed_value > -65536;
  return negative ? std::to_string(signed_value) : std::to_string(value);
}

}  // namespace

WitnessSummary summarise(const ValueWitness& witness, const DeepProgram& program, const TraceView& trace) {
  WitnessSummary summary = summarise(Witness{FindingKind::kRace, witness.order, {}}, trace);
  ValueSummary values;
  for (const ReadValue& read : witness.reads) {
    const Event& event = trace.events[raw(read.event)];
    ValueSummary::Read& entry = values.reads.emplace_back();
    entry.event = read.event;
    entry.value = read.value;
    entry.variable = name_of(event.object, trace);
    if (trace.tables != nullptr) {
      entry.thread = trace.tables->thread_name(event.thread);
      entry.site = trace.tables->site(event.site);
    }
  }
  for (const DetourEvent& step : witness.detour) {
    values.detour.push_back(to_step(step, program));
  }
  for (const NextAccess& next : witness.next) {
    ValueSummary::Next& entry = values.next.emplace_back();
    entry.thread = next.thread;
    entry.event = next.event;
    if (next.unexecuted) {
      entry.unexecuted = to_step(*next.unexecuted, program);
    }
    if (next.branch) {
      entry.branch = to_code(*next.branch);
    }
  }
  summary.values = std::move(values);
  return summary;
}

Result<ValueWitness> restore(const WitnessSummary& summary, std::vector<EventId> order) {
  if (!summary.values.has_value() || summary.values->next.size() != 2) {
    return Status::bad_input("the witness does not name two accesses that are next");
  }
  const ValueSummary& values = *summary.values;
  ValueWitness witness;
  witness.order = std::move(order);
  for (const ValueSummary::Read& read : values.reads) {
    witness.reads.push_back({read.event, read.value});
  }
  for (const UnexecutedStep& step : values.detour) {
    witness.detour.push_back(to_event(step));
  }
  for (const int i : {0, 1}) {
    const ValueSummary::Next& next = values.next[static_cast<std::size_t>(i)];
    witness.next[i].thread = next.thread;
    witness.next[i].event = next.event;
    if (next.unexecuted) {
      witness.next[i].unexecuted = to_event(*next.unexecuted);
    }
    if (next.branch) {
      witness.next[i].branch = to_ref(*next.branch);
    }
  }
  return witness;
}

std::vector<std::string> describe(const std::vector<DecidingRead>& reads, const DeepProgram& program,
                                  const TraceView& trace) {
  std::vector<std::string> texts;
  for (const DecidingRead& read : reads) {
    std::string name = name_of(read.address, trace);
    Site site;
    if (read.event && trace.tables != nullptr) {
      site = trace.tables->site(trace.events[raw(*read.event)].site);
    } else if (read.at) {
      site = site_of(*read.at, program);
    }
    texts.push_back((name.empty() ? "what it reads" : name) + " == " + number(read.value, read.size) + " (read at " +
                    site.label + ")");
  }
  return texts;
}

}  // namespace sooth
