#include "trace/format/names_codec.h"

#include <string>
#include <utility>

namespace sooth {
namespace {

// Rows start with one of these.
enum class Row : std::uint8_t {
  kThread = 1,
  kSite = 2,
  kStack = 3,
  kName = 4,
  kRange = 5,
  kType = 6,
  kTypedRange = 7,
  kAllocates = 8,
  kLayout = 9,
  kFrame = 10,
  kFrameEnd = 11
};

// A block takes no further row once it is this large.
constexpr std::size_t kEnough = 1u << 20;

// Offsets and sizes of variables in bytes: no sum of two of them overflows.
constexpr std::uint64_t kLargestFrame = std::uint64_t{1} << 48;

void put_site(ByteWriter& out, const Site& site) {
  out.put_string(site.label);
  out.put_string(site.file);
  out.put_string(site.function);
  out.put_string(site.module);
  out.put_varint(site.offset);
  out.put_varint(site.line);
  out.put_varint(site.column);
}

void put_type(ByteWriter& out, const TypeLayout& type) {
  out.put_string(type.name);
  out.put_varint(type.size);
  out.put_varint((type.is_union ? 1u : 0u) | (type.opaque ? 2u : 0u));
  out.put_varint(raw(type.element));
  out.put_varint(type.count);
  out.put_varint(type.members.size());
  for (const TypeMember& member : type.members) {
    out.put_string(member.name);
    out.put_varint(member.offset);
    out.put_varint(member.size << 1 | (member.is_bit_field ? 1 : 0));
    out.put_varint(raw(member.type));
  }
}

Status malformed() { return Status::bad_input("its names are damaged"); }

Status decode_site(ByteReader& in, Tables& tables) {
  Site site;
  site.label = in.get_string();
  site.file = in.get_string();
  site.function = in.get_string();
  site.module = in.get_string();
  site.offset = in.get_varint();
  const std::uint64_t line = in.get_varint();
  const std::uint64_t column = in.get_varint();
  if (!in.ok() || line > 0xffffffff || column > 0xffffffff) {
    return malformed();
  }
  site.line = static_cast<std::uint32_t>(line);
  site.column = static_cast<std::uint32_t>(column);
  tables.add_site(std::move(site));
  return {};
}

Status decode_stack(ByteReader& in, Tables& tables) {
  const std::uint64_t parent = in.get_varint();
  const std::uint64_t call = in.get_varint();
  if (!in.ok() || parent >= tables.stack_count() || call >= tables.site_count()) {
    return malformed();
  }
  const std::size_t before = tables.stack_count();
  (void)tables.intern_stack(StackId(parent), SiteId(call));
  return tables.stack_count() == before + 1 ? Status() : malformed();  // a duplicate would shift all later ids
}

// Only types that came before.
bool get_type(ByteReader& in, const Tables& tables, TypeId& type) {
  const std::uint64_t number = in.get_varint();
  type = in.ok() && number < tables.variables().types().size() ? TypeId(static_cast<std::uint32_t>(number)) : kNoType;
  return raw(type) == number;
}

Status decode_type(ByteReader& in, Tables& tables) {
  TypeLayout type;
  type.name = in.get_string();
  type.size = in.get_varint();
  const std::uint64_t bits = in.get_varint();
  type.is_union = (bits & 1) != 0;
  type.opaque = (bits & 2) != 0;
  bool good = bits < 4 && get_type(in, tables, type.element);
  type.count = in.get_varint();
  const std::uint64_t members = in.get_varint();
  good = good && in.ok() && members <= in.remaining();
  for (std::uint64_t i = 0; good && i < members; ++i) {
    TypeMember& member = type.members.emplace_back();
    member.name = in.get_string();
    member.offset = in.get_varint();
    const std::uint64_t size = in.get_varint();
    member.size = size >> 1;
    member.is_bit_field = (size & 1) != 0;
    good = get_type(in, tables, member.type) && in.ok() && member.offset + member.size >= member.offset;
  }
  if (!good) {
    return malformed();
  }
  (void)tables.variables().add_type(std::move(type));
  return {};
}

Status decode_name(ByteReader& in, bool range, bool typed, Tables& tables) {
  const auto kind = in.get<std::uint8_t>();
  const std::uint64_t object = in.get_varint();
  const std::uint64_t length = range ? in.get_varint() : 0;
  std::string name(in.get_string());
  TypeId type{};
  if (typed && !get_type(in, tables, type)) {
    return malformed();
  }
  if (!in.ok() || kind >= kObjectKindCount || (range && (length == 0 || object + (length - 1) < object))) {
    return malformed();
  }
  if (range) {
    tables.name_range(ObjectKind(kind), object, length, std::move(name), type);
    return {};
  }
  tables.name_object(ObjectKind(kind), object, std::move(name));
  return {};
}

void put_layout(ByteWriter& out, const std::vector<ShortLived>& variables) {
  out.put_varint(variables.size());
  for (const ShortLived& variable : variables) {
    out.put_string(variable.name);
    out.put_string(variable.function);
    out.put_varint(static_cast<std::uint64_t>(variable.offset) << 1 ^ (variable.offset < 0 ? ~std::uint64_t{0} : 0));
    out.put_varint(variable.size);
    out.put_varint(raw(variable.type));
  }
}

Status decode_layout(ByteReader& in, Tables& tables) {
  const std::uint64_t count = in.get_varint();
  std::vector<ShortLived> variables;
  bool good = in.ok() && count <= in.remaining();
  for (std::uint64_t i = 0; good && i < count; ++i) {
    ShortLived& variable = variables.emplace_back();
    variable.name = in.get_string();
    variable.function = in.get_string();
    const std::uint64_t offset = in.get_varint();
    variable.offset = static_cast<std::int64_t>(offset >> 1 ^ (~(offset & 1) + 1));
    variable.size = in.get_varint();
    good = get_type(in, tables, variable.type) && in.ok() && variable.size != 0 && variable.size <= kLargestFrame &&
           offset >> 1 <= kLargestFrame;
  }
  if (!good) {
    return malformed();
  }
  (void)tables.variables().add_layout(std::move(variables));
  return {};
}

Status decode_allocates(ByteReader& in, Tables& tables) {
  const std::uint64_t site = in.get_varint();
  TypeId type{};
  if (!get_type(in, tables, type) || !in.ok() || site >= tables.site_count()) {
    return malformed();
  }
  tables.variables().set_allocated(SiteId(static_cast<std::uint32_t>(site)), type);
  return {};
}

Status decode_frame(ByteReader& in, Tables& tables) {
  const std::uint64_t layout = in.get_varint();
  const std::uint64_t thread = in.get_varint();
  const std::uint64_t base = in.get_varint();
  const EventId since{in.get_varint()};
  if (!in.ok() || layout >= tables.variables().layouts().size() || thread >= tables.thread_count()) {
    return malformed();
  }
  (void)tables.variables().place(static_cast<std::uint32_t>(layout), ThreadId(static_cast<std::uint32_t>(thread)), base,
                                 since);
  return {};
}

Status decode_frame_end(ByteReader& in, Tables& tables) {
  const std::uint64_t frame = in.get_varint();
  const EventId until{in.get_varint()};
  if (!in.ok() || frame >= tables.variables().frames().size()) {
    return malformed();
  }
  tables.variables().end(static_cast<std::uint32_t>(frame), until);
  return {};
}

// Of what variables() holds, types first: others name them.
std::uint32_t encode_variables(const VariableTable& variables, TablesCursor& cursor, Bytes& out) {
  ByteWriter writer(out);
  std::uint32_t rows = 0;
  for (; cursor.types < variables.types().size() && out.size() < kEnough; ++cursor.types, ++rows) {
    writer.put(Row::kType);
    put_type(writer, variables.types()[cursor.types]);
  }
  for (; cursor.allocations < variables.allocations().size() && out.size() < kEnough; ++cursor.allocations, ++rows) {
    writer.put(Row::kAllocates);
    writer.put_varint(raw(variables.allocations()[cursor.allocations].first));
    writer.put_varint(raw(variables.allocations()[cursor.allocations].second));
  }
  for (; cursor.layouts < variables.layouts().size() && out.size() < kEnough; ++cursor.layouts, ++rows) {
    writer.put(Row::kLayout);
    put_layout(writer, variables.layouts()[cursor.layouts].variables);
  }
  for (; cursor.frames < variables.frames().size() && out.size() < kEnough; ++cursor.frames, ++rows) {
    const VariableTable::Frame& frame = variables.frames()[cursor.frames];
    writer.put(Row::kFrame);
    writer.put_varint(frame.layout);
    writer.put_varint(raw(frame.thread));
    writer.put_varint(frame.base);
    writer.put_varint(raw(frame.since));
  }
  for (; cursor.ends < variables.ends().size() && out.size() < kEnough; ++cursor.ends, ++rows) {
    writer.put(Row::kFrameEnd);
    writer.put_varint(variables.ends()[cursor.ends].first);
    writer.put_varint(raw(variables.ends()[cursor.ends].second));
  }
  return rows;
}

}  // namespace

std::uint32_t encode_names(const Tables& tables, TablesCursor& cursor, Bytes& out) {
  ByteWriter writer(out);
  std::uint32_t rows = 0;
  // Stacks refer to sites, so sites come first; nothing refers forward.
  for (; cursor.threads < tables.thread_count() && out.size() < kEnough; ++cursor.threads, ++rows) {
    writer.put(Row::kThread);
    writer.put_string(tables.thread_name(ThreadId(cursor.threads)));
  }
  for (; cursor.sites < tables.sites().size() && out.size() < kEnough; ++cursor.sites, ++rows) {
    writer.put(Row::kSite);
    put_site(writer, tables.sites()[cursor.sites]);
  }
  for (; cursor.stacks < tables.stacks().size() && out.size() < kEnough; ++cursor.stacks, ++rows) {
    writer.put(Row::kStack);
    writer.put_varint(raw(tables.stacks()[cursor.stacks].parent));
    writer.put_varint(raw(tables.stacks()[cursor.stacks].call));
  }
  rows += encode_variables(tables.variables(), cursor, out);
  for (; cursor.names < tables.names().size() && out.size() < kEnough; ++cursor.names, ++rows) {
    const ObjectName& name = tables.names()[cursor.names];
    writer.put(name.length == 0 ? Row::kName : name.type == kNoType ? Row::kRange : Row::kTypedRange);
    writer.put(name.kind);
    writer.put_varint(name.object);
    if (name.length != 0) {
      writer.put_varint(name.length);
    }
    writer.put_string(name.name);
    if (name.length != 0 && name.type != kNoType) {
      writer.put_varint(raw(name.type));
    }
  }
  return rows;
}

Status decode_names(const Bytes& payload, std::uint32_t rows, Tables& tables) {
  ByteReader in(payload.data(), payload.size());
  for (std::uint32_t i = 0; i < rows; ++i) {
    Status status;
    switch (in.get<Row>()) {
      case Row::kThread: tables.add_thread(std::string(in.get_string())); break;
      case Row::kSite: status = decode_site(in, tables); break;
      case Row::kStack: status = decode_stack(in, tables); break;
      case Row::kName: status = decode_name(in, false, false, tables); break;
      case Row::kRange: status = decode_name(in, true, false, tables); break;
      case Row::kType: status = decode_type(in, tables); break;
      case Row::kTypedRange: status = decode_name(in, true, true, tables); break;
      case Row::kAllocates: status = decode_allocates(in, tables); break;
      case Row::kLayout: status = decode_layout(in, tables); break;
      case Row::kFrame: status = decode_frame(in, tables); break;
      case Row::kFrameEnd: status = decode_frame_end(in, tables); break;
      default: status = malformed();
    }
    SOOTH_RETURN_IF_ERROR(std::move(status));
    if (!in.ok()) {
      return malformed();
    }
  }
  return in.at_end() ? Status() : malformed();
}

}  // namespace sooth
