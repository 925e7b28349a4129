#include "trace/format/names_codec.h"

#include <string>
#include <utility>

namespace sooth {
namespace {

// Rows start with one of these.
enum class Row : std::uint8_t { kThread = 1, kSite = 2, kStack = 3, kName = 4, kRange = 5 };

// A block takes no further row once it is this large.
constexpr std::size_t kEnough = 1u << 20;

void put_site(ByteWriter& out, const Site& site) {
  out.put_string(site.label);
  out.put_string(site.file);
  out.put_string(site.function);
  out.put_string(site.module);
  out.put_varint(site.offset);
  out.put_varint(site.line);
  out.put_varint(site.column);
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

Status decode_name(ByteReader& in, bool range, Tables& tables) {
  const auto kind = in.get<std::uint8_t>();
  const std::uint64_t object = in.get_varint();
  const std::uint64_t length = range ? in.get_varint() : 0;
  std::string name(in.get_string());
  if (!in.ok() || kind >= kObjectKindCount || (range && (length == 0 || object + (length - 1) < object))) {
    return malformed();
  }
  if (range) {
    tables.name_range(ObjectKind(kind), object, length, std::move(name));
    return {};
  }
  tables.name_object(ObjectKind(kind), object, std::move(name));
  return {};
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
  for (; cursor.names < tables.names().size() && out.size() < kEnough; ++cursor.names, ++rows) {
    const ObjectName& name = tables.names()[cursor.names];
    writer.put(name.length == 0 ? Row::kName : Row::kRange);
    writer.put(name.kind);
    writer.put_varint(name.object);
    if (name.length != 0) {
      writer.put_varint(name.length);
    }
    writer.put_string(name.name);
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
      case Row::kName: status = decode_name(in, false, tables); break;
      case Row::kRange: status = decode_name(in, true, tables); break;
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
