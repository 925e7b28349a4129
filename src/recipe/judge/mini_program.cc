#include "recipe/judge/mini_program.h"

#include <algorithm>
#include <utility>

namespace sooth::mini {
namespace {

using Kind = Statement::Kind;

// Writes one function; counts its instructions.
class Printer {
 public:
  std::string text;

  void statements(std::vector<Statement>& list) {
    for (Statement& statement : list) {
      print(statement);
    }
  }
  void line(const std::string& instruction) {
    text += "  " + instruction + "\n";
    ++count_;
  }

 private:
  static std::string reg(int number) { return "%r" + std::to_string(number); }
  static std::string word(std::int64_t number) { return std::to_string(number); }

  void last(Statement& statement) { statement.instruction = count_ - 1; }

  void print(Statement& s) {
    const std::string variable = "@v" + std::to_string(s.variable);
    switch (s.kind) {
      case Kind::kLoad: line(reg(s.target) + " = load i64, ptr " + variable); break;
      case Kind::kStore:
        line("store i64 " + (s.source < 0 ? word(s.number) : reg(s.source)) + ", ptr " + variable);
        break;
      case Kind::kLoadAt:
        line("%p" + std::to_string(count_) + " = inttoptr i64 " + reg(s.source) + " to ptr");
        line(reg(s.target) + " = load i64, ptr %p" + std::to_string(count_ - 1));
        break;
      case Kind::kCompute: {
        const char* name = s.operation == '+'   ? "add"
                           : s.operation == '-' ? "sub"
                           : s.operation == '*' ? "mul"
                           : s.operation == '&' ? "and"
                                                : "xor";
        line(reg(s.target) + " = " + name + " i64 " + reg(s.source) + ", " + word(s.number));
        break;
      }
      case Kind::kLock:
      case Kind::kUnlock:
        line("%c" + std::to_string(count_) + " = call i32 @pthread_mutex_" +
             (s.kind == Kind::kLock ? "lock" : "unlock") + "(ptr @m" + std::to_string(s.variable) + ")");
        break;
      case Kind::kPrint: line("call void @print(i64 " + reg(s.source) + ")"); break;
      case Kind::kIf: print_if(s); return;
    }
    last(s);
  }

  void print_if(Statement& s) {
    const std::string id = std::to_string(count_);
    line("%b" + id + " = icmp sgt i64 " + reg(s.source) + ", " + word(s.number));
    line("br i1 %b" + id + ", label %then" + id + ", label %else" + id);
    last(s);
    text += "then" + id + ":\n";
    statements(s.then);
    line("br label %end" + id);
    text += "else" + id + ":\n";
    statements(s.otherwise);
    line("br label %end" + id);
    text += "end" + id + ":\n";
  }

  std::uint32_t count_ = 0;
};

std::int64_t calculate(char operation, std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a);
  const auto y = static_cast<std::uint64_t>(b);
  switch (operation) {
    case '+': return static_cast<std::int64_t>(x + y);
    case '-': return static_cast<std::int64_t>(x - y);
    case '*': return static_cast<std::int64_t>(x * y);
    case '&': return static_cast<std::int64_t>(x & y);
    default: return static_cast<std::int64_t>(x ^ y);
  }
}

}  // namespace

DeepModuleText Program::finish() {
  DeepModuleText module;
  module.text =
      "declare i32 @pthread_mutex_lock(ptr)\ndeclare i32 @pthread_mutex_unlock(ptr)\ndeclare void @print(i64) "
      "memory(inaccessiblemem: readwrite)\n";
  for (std::uint32_t v = 0; v < initial.size(); ++v) {
    module.text += "@v" + std::to_string(v) + " = global i64 " + std::to_string(initial[v]) + "\n";
    module.addresses.emplace_back("v" + std::to_string(v), address_of(v));
  }
  for (std::uint32_t l = 0; l < locks; ++l) {
    module.text += "@m" + std::to_string(l) + " = global [40 x i8] zeroinitializer\n";
    module.addresses.emplace_back("m" + std::to_string(l), address_of_lock(l));
  }
  for (std::size_t t = 0; t < threads.size(); ++t) {
    Printer printer;
    printer.statements(threads[t]);
    printer.line("ret void");
    module.text += "define void @t" + std::to_string(t) + "() {\n" + printer.text + "}\n";
  }
  return module;
}

Statement load(int target, std::uint32_t variable) {
  return {.kind = Kind::kLoad, .target = target, .variable = variable};
}
Statement store(std::uint32_t variable, std::int64_t number) {
  return {.kind = Kind::kStore, .variable = variable, .number = number};
}
Statement store_register(std::uint32_t variable, int source) {
  return {.kind = Kind::kStore, .source = source, .variable = variable};
}
Statement load_at(int target, int source) { return {.kind = Kind::kLoadAt, .target = target, .source = source}; }
Statement compute(int target, int source, char operation, std::int64_t number) {
  return {.kind = Kind::kCompute, .target = target, .source = source, .number = number, .operation = operation};
}
Statement branch(int source, std::int64_t number, std::vector<Statement> then, std::vector<Statement> otherwise) {
  return {.kind = Kind::kIf,
          .source = source,
          .number = number,
          .then = std::move(then),
          .otherwise = std::move(otherwise)};
}
Statement lock(std::uint32_t lock) { return {.kind = Kind::kLock, .variable = lock}; }
Statement unlock(std::uint32_t lock) { return {.kind = Kind::kUnlock, .variable = lock}; }
Statement print(int source) { return {.kind = Kind::kPrint, .source = source}; }

Machine::Machine(const Program& program) : threads_(program.threads.size()) {
  for (std::uint32_t v = 0; v < program.initial.size(); ++v) {
    memory_[address_of(v)] = program.initial[v];
  }
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    threads_[t].stack.emplace_back(&program.threads[t], 0);
  }
}

std::optional<Action> Machine::next(std::uint32_t number, std::vector<Local>& locals) {
  Thread& thread = threads_[number];
  while (thread.at == nullptr) {
    while (!thread.stack.empty() && thread.stack.back().second == thread.stack.back().first->size()) {
      thread.stack.pop_back();
    }
    if (thread.stack.empty()) {
      return std::nullopt;
    }
    const Statement& s = (*thread.stack.back().first)[thread.stack.back().second++];
    if (s.kind == Kind::kCompute) {
      thread.registers[s.target] = calculate(s.operation, thread.registers[s.source], s.number);
    } else if (s.kind == Kind::kIf) {
      const bool taken = thread.registers[s.source] > s.number;
      locals.push_back({true, taken ? 0 : 1, s.instruction});
      thread.stack.emplace_back(taken ? &s.then : &s.otherwise, 0);
    } else if (s.kind == Kind::kPrint) {
      locals.push_back({false, thread.registers[s.source], s.instruction});
    } else {
      thread.at = &s;
    }
  }
  const Statement& s = *thread.at;
  switch (s.kind) {
    case Kind::kLoad: return Action{Op::kRead, address_of(s.variable), s.instruction};
    case Kind::kLoadAt: return Action{Op::kRead, static_cast<std::uint64_t>(thread.registers[s.source]), s.instruction};
    case Kind::kStore: return Action{Op::kWrite, address_of(s.variable), s.instruction};
    case Kind::kLock: return Action{Op::kAcquire, address_of_lock(s.variable), s.instruction};
    default: return Action{Op::kRelease, address_of_lock(s.variable), s.instruction};
  }
}

bool Machine::is_enabled(std::uint32_t number) const {
  const Statement& s = *threads_[number].at;
  return s.kind != Kind::kLock || !holders_.contains(address_of_lock(s.variable));
}

std::int64_t Machine::perform(std::uint32_t number) {
  Thread& thread = threads_[number];
  const Statement& s = *std::exchange(thread.at, nullptr);
  switch (s.kind) {
    case Kind::kLoad: return thread.registers[s.target] = memory_[address_of(s.variable)];
    case Kind::kLoadAt:
      return thread.registers[s.target] = memory_[static_cast<std::uint64_t>(thread.registers[s.source])];
    case Kind::kStore: return memory_[address_of(s.variable)] = s.source < 0 ? s.number : thread.registers[s.source];
    case Kind::kLock: holders_[address_of_lock(s.variable)] = number; return 0;
    default: holders_.erase(address_of_lock(s.variable)); return 0;
  }
}

Recording record(const Program& program, const std::function<std::size_t(std::size_t)>& choose) {
  Recording recording;
  const auto count = static_cast<std::uint32_t>(program.threads.size());
  recording.events.resize(count);
  recording.locals.resize(count);
  Machine machine(program);
  MemoryTrace& trace = recording.trace;
  const auto add = [&](std::uint32_t t, DeepKind kind, std::uint32_t id, std::uint64_t value) {
    trace.deep.push_back({EventId{trace.events.size()}, ThreadId{t}, kind, 0, t, id, value});
  };
  const auto look = [&](std::uint32_t t) {
    std::vector<Local> locals;
    const std::optional<Action> action = machine.next(t, locals);
    for (const Local& local : locals) {
      recording.locals[t].emplace_back(recording.events[t].size(), local);
      add(t, local.is_branch ? DeepKind::kBranch : DeepKind::kReturn, local.instruction,
          local.is_branch ? static_cast<std::uint64_t>(local.value) : 0);
    }
    return action;
  };
  for (std::uint32_t t = 0; t < count; ++t) {
    add(t, DeepKind::kEnter, 0, 0);
  }
  for (;;) {
    std::vector<std::pair<std::uint32_t, Action>> ready;
    for (std::uint32_t t = 0; t < count; ++t) {
      if (const std::optional<Action> action = look(t); action && machine.is_enabled(t)) {
        ready.emplace_back(t, *action);
      }
    }
    if (ready.empty()) {
      return recording;
    }
    const auto [t, action] = ready[choose(ready.size())];
    const bool is_lock = action.op == Op::kAcquire || action.op == Op::kRelease;
    const std::int64_t value = machine.perform(t);
    recording.events[t].push_back(static_cast<std::uint32_t>(trace.events.size()));
    trace.events.push_back(
        {.object = action.object, .thread = ThreadId{t}, .size = is_lock ? 0u : 8u, .op = action.op});
    trace.values.push_back(is_lock ? Value{} : Value{static_cast<std::uint64_t>(value), 0, 8});
    if (is_lock) {
      add(t, DeepKind::kReturn, action.instruction, 0);
    }
  }
}

namespace {

// Acts a witness out, as its definition says.
class Referee {
 public:
  Referee(const Program& program, const Recording& recording, const ValueWitness& witness)
      : recording_(recording), witness_(witness), machine_(program), threads_(program.threads.size()) {}

  std::optional<std::string> refute() {
    std::size_t detour = 0;
    for (std::size_t i = 0; i <= witness_.order.size(); ++i) {
      for (; detour < witness_.detour.size() && witness_.detour[detour].after == i; ++detour) {
        if (auto wrong = go_beside(witness_.detour[detour], true)) {
          return wrong;
        }
      }
      if (i < witness_.order.size()) {
        if (auto wrong = go_on(witness_.order[i])) {
          return wrong;
        }
      }
    }
    if (detour != witness_.detour.size()) {
      return "steps out of order";
    }
    return check_next();
  }

 private:
  struct Thread {
    std::size_t events = 0;
    std::size_t locals = 0;
    bool left = false;
  };

  // The next action, when the way to it is the recorded one, or may leave it.
  std::optional<std::string> look(std::uint32_t t, bool may_leave, std::optional<Action>& action) {
    std::vector<Local> locals;
    action = machine_.next(t, locals);
    Thread& thread = threads_[t];
    for (const Local& local : locals) {
      const auto& recorded = recording_.locals[t];
      if (thread.left) {
        if (!local.is_branch) {
          return "prints beside its path";
        }
        continue;
      }
      const bool same = thread.locals < recorded.size() && recorded[thread.locals].second == local;
      if (same) {
        ++thread.locals;
      } else if (local.is_branch && may_leave) {
        thread.left = true;
      } else {
        return local.is_branch ? "branch" : "print";
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> go_on(EventId id) {
    if (raw(id) >= recording_.trace.events.size() || !used_.insert({raw(id), 0}).second) {
      return "no such event, or twice";
    }
    const Event& e = recording_.trace.events[raw(id)];
    Thread& thread = threads_[raw(e.thread)];
    const auto& own = recording_.events[raw(e.thread)];
    if (thread.left || thread.events >= own.size() || own[thread.events] != raw(id)) {
      return "not its next";
    }
    std::optional<Action> action;
    if (auto wrong = look(raw(e.thread), false, action)) {
      return wrong;
    }
    if (!action || action->op != e.op || action->object != e.object || !machine_.is_enabled(raw(e.thread))) {
      return "another action, or blocked";
    }
    const std::int64_t value = machine_.perform(raw(e.thread));
    ++thread.events;
    for (const ReadValue& read : witness_.reads) {
      if (read.event == id && static_cast<std::uint64_t>(value) != read.value) {
        return "another value";
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> go_beside(const DetourEvent& step, bool perform) {
    const std::uint32_t t = raw(step.thread);
    for (int tries = 0; tries < 100; ++tries) {
      std::optional<Action> action;
      if (auto wrong = look(t, true, action)) {
        return wrong;
      }
      if (!action || !threads_[t].left) {
        return "does not leave its path";
      }
      const bool is_lock = action->op == Op::kAcquire || action->op == Op::kRelease;
      const bool same = action->op == step.op && action->object == step.object &&
                        step.at == InstructionRef{0, t, action->instruction} && (is_lock || step.size == 8);
      if (is_lock && !same) {
        return "a lock that is not named";
      }
      if (same && !perform) {
        return std::nullopt;
      }
      if (!machine_.is_enabled(t)) {
        return "blocked";
      }
      machine_.perform(t);
      if (same) {
        return std::nullopt;
      }
    }
    return "does not come to the step";
  }

  std::optional<std::string> check_next() {
    Op ops[2] = {};
    std::uint64_t objects[2] = {};
    for (int i = 0; i < 2; ++i) {
      const NextAccess& next = witness_.next[i];
      if (next.unexecuted) {
        if (auto wrong = go_beside(*next.unexecuted, false)) {
          return wrong;
        }
        ops[i] = next.unexecuted->op;
        objects[i] = next.unexecuted->object;
        continue;
      }
      const Event& e = recording_.trace.events[raw(*next.event)];
      const auto& own = recording_.events[raw(e.thread)];
      const Thread& thread = threads_[raw(e.thread)];
      std::optional<Action> action;
      if (thread.left || thread.events >= own.size() || own[thread.events] != raw(*next.event)) {
        return "not its next";
      }
      if (auto wrong = look(raw(e.thread), false, action)) {
        return wrong;
      }
      if (!action || action->op != e.op || action->object != e.object) {
        return "another action";
      }
      ops[i] = e.op;
      objects[i] = e.object;
    }
    const bool conflict = witness_.next[0].thread != witness_.next[1].thread && is_access(ops[0]) &&
                          is_access(ops[1]) && (is_write(ops[0]) || is_write(ops[1])) && objects[0] == objects[1];
    return conflict ? std::nullopt : std::optional<std::string>("no conflict");
  }

  const Recording& recording_;
  const ValueWitness& witness_;
  Machine machine_;
  std::vector<Thread> threads_;
  std::map<std::uint64_t, int> used_;
};

}  // namespace

std::optional<std::string> refute(const Program& program, const Recording& recording, const ValueWitness& witness) {
  return Referee(program, recording, witness).refute();
}

}  // namespace sooth::mini
