#include "trace/tools/copy.h"

namespace sooth {

Status TableCopier::copy_new(const Tables& from, Tables& to) {
  if (to.thread_count() != threads_ || to.site_count() != sites_ || to.stack_count() != stacks_) {
    return Status::internal("the tables of the copy were changed by somebody else");
  }
  for (; threads_ < from.thread_count(); ++threads_) {
    to.add_thread(from.thread_name(ThreadId(threads_)));
  }
  for (; sites_ < from.site_count(); ++sites_) {
    to.add_site(from.sites()[sites_]);
  }
  for (; stacks_ < from.stack_count(); ++stacks_) {
    const StackNode& node = from.stacks()[stacks_];
    if (raw(to.intern_stack(node.parent, node.call)) != stacks_) {
      return Status::bad_input("stack " + std::to_string(stacks_) + " is in the trace twice");
    }
  }
  // Not where functions had their variables: the copy may number its events anew.
  const VariableTable& variables = from.variables();
  for (; types_ < variables.types().size(); ++types_) {
    (void)to.variables().add_type(variables.types()[types_]);
  }
  for (; allocations_ < variables.allocations().size(); ++allocations_) {
    const auto& [site, type] = variables.allocations()[allocations_];
    to.variables().set_allocated(site, type);
  }
  for (; names_ < from.names().size(); ++names_) {
    const ObjectName& name = from.names()[names_];
    if (name.length == 0) {
      to.name_object(name.kind, name.object, name.name);
    } else {
      to.name_range(name.kind, name.object, name.length, name.name, name.type);
    }
  }
  return {};
}

Status copy_trace(TraceReader& reader, TraceWriter& writer, const CopyTransform& transform) {
  TableCopier tables;
  for (;;) {
    const Result<Batch> batch = reader.next();
    if (!batch.ok()) {
      return batch.status();
    }
    SOOTH_RETURN_IF_ERROR(tables.copy_new(reader.tables(), writer.tables()));
    if (batch->empty()) {
      return {};
    }
    const Result<CopyStep> step = transform(*batch, reader.tables());
    if (!step.ok()) {
      return step.status();
    }
    if (!step->batch.empty()) {
      SOOTH_RETURN_IF_ERROR(writer.append(step->batch));
    }
    if (step->stop) {
      return {};
    }
  }
}

Status copy_trace(TraceReader& reader, TraceWriter& writer) {
  return copy_trace(reader, writer, [](const Batch& batch, const Tables&) -> Result<CopyStep> {
    return CopyStep{batch, false};
  });
}

}  // namespace sooth
