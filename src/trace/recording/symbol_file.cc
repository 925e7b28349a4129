#include "trace/recording/symbol_file.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "trace/format/byte_io.h"
#include "trace/format/small_file.h"

namespace sooth {
namespace {

constexpr std::uint64_t kMagic = 0x334d595348544f53;          // "SOTHSYM3"
constexpr std::uint64_t kTypelessMagic = 0x324d595348544f53;  // "SOTHSYM2", which ends behind the variables
constexpr std::uint64_t kOldMagic = 0x314d595348544f53;       // "SOTHSYM1", which does not say what it belongs to
// Of the stack or of a thread, in bytes: no sum of two of them overflows.
constexpr std::uint64_t kLargestVariable = std::uint64_t{1} << 48;
constexpr std::size_t kHeaderBytes = 24;  // magic, mark of the recording, checksum of what follows

// Strings repeat: each is stored once, and named by its number.
class StringPool {
 public:
  std::uint64_t add(const std::string& text) {
    const auto [it, added] = index_.try_emplace(text, strings_.size());
    if (added) {
      strings_.push_back(&it->first);
    }
    return it->second;
  }
  void put(ByteWriter& out) const {
    out.put_varint(strings_.size());
    for (const std::string* text : strings_) {
      out.put_string(*text);
    }
  }

 private:
  std::unordered_map<std::string, std::uint64_t> index_;
  std::vector<const std::string*> strings_;
};

class SymbolParser {
 public:
  SymbolParser(const std::uint8_t* begin, std::size_t size) : in_(begin, size) {}

  bool parse(RecordingSymbols& out, bool has_types) {
    for (std::uint64_t n = count(1); n > 0; --n) {
      strings_.push_back(in_.get_string());
    }
    out.sites.resize(count(3));
    for (SiteSymbols& site : out.sites) {
      site.module = text();
      site.offset = in_.get_varint();
      site.frames.resize(count(4));
      for (SiteFrame& frame : site.frames) {
        frame.file = text();
        frame.function = text();
        frame.line = small();
        frame.column = small();
      }
    }
    out.globals.resize(count(5));
    for (GlobalSymbol& global : out.globals) {
      global.begin = in_.get_varint();
      const std::uint64_t length = in_.get_varint();
      global.end = global.begin + length;
      good_ = good_ && length != 0 && global.end > global.begin;
      global.name = text();
      global.file = text();
      global.line = small();
    }
    if (has_types) {
      parse_types(out);
    }
    return good_ && in_.ok() && in_.at_end();
  }

 private:
  void parse_types(RecordingSymbols& out) {
    out.types.resize(count(5));
    types_ = out.types.size() + 1;
    for (TypeLayout& type : out.types) {
      type.name = text();
      type.size = in_.get_varint();
      const std::uint64_t bits = in_.get_varint();
      good_ = good_ && bits < 4;
      type.is_union = (bits & 1) != 0;
      type.opaque = (bits & 2) != 0;
      type.element = type_id();
      type.count = in_.get_varint();
      type.members.resize(count(5));
      for (TypeMember& member : type.members) {
        member.name = text();
        member.offset = in_.get_varint();
        const std::uint64_t size = in_.get_varint();
        member.is_bit_field = (size & 1) != 0;
        member.size = size >> 1;
        member.type = type_id();
        good_ = good_ && member.offset + member.size >= member.offset;
      }
    }
    for (GlobalSymbol& global : out.globals) {
      global.type = type_id();
    }
    for (std::uint64_t n = count(2); n > 0; --n) {
      const std::uint64_t row = in_.get_varint();
      const TypeId type = type_id();
      good_ = good_ && row < out.sites.size();
      if (good_) {
        out.sites[row].allocates = type;
      }
    }
    for (std::uint64_t n = count(2); n > 0; --n) {
      const std::uint64_t row = in_.get_varint();
      good_ = good_ && row < out.sites.size();
      if (!good_) {
        return;
      }
      parse_variables(out.sites[row].locals);
    }
    parse_variables(out.thread_locals);
  }
  void parse_variables(std::vector<ShortLived>& variables) {
    variables.resize(count(5));
    for (ShortLived& variable : variables) {
      variable.name = text();
      variable.function = text();
      const std::uint64_t offset = in_.get_varint();
      variable.offset = static_cast<std::int64_t>(offset >> 1 ^ (~(offset & 1) + 1));
      variable.size = in_.get_varint();
      variable.type = type_id();
      good_ = good_ && variable.size != 0 && variable.size <= kLargestVariable && offset >> 1 <= kLargestVariable;
    }
  }
  TypeId type_id() {
    const std::uint64_t number = in_.get_varint();
    good_ = good_ && in_.ok() && number < types_;
    return good_ ? TypeId(static_cast<std::uint32_t>(number)) : kNoType;
  }
  // Of things that take at least `bytes` each: more than fit are none, so nothing is allocated for them.
  std::uint64_t count(std::uint64_t bytes) {
    const std::uint64_t n = in_.get_varint();
    good_ = good_ && in_.ok() && n <= in_.remaining() / bytes;
    return good_ ? n : 0;
  }
  std::string text() {
    const std::uint64_t index = in_.get_varint();
    good_ = good_ && in_.ok() && index < strings_.size();
    return good_ ? std::string(strings_[index]) : std::string();
  }
  std::uint32_t small() {
    const std::uint64_t value = in_.get_varint();
    good_ = good_ && value <= 0xffffffff;
    return static_cast<std::uint32_t>(value);
  }

  ByteReader in_;
  std::vector<std::string_view> strings_;
  std::uint64_t types_ = 1;  // with none
  bool good_ = true;
};

void put_variables(const std::vector<ShortLived>& variables, StringPool& pool, ByteWriter& out) {
  out.put_varint(variables.size());
  for (const ShortLived& variable : variables) {
    out.put_varint(pool.add(variable.name));
    out.put_varint(pool.add(variable.function));
    const auto offset = static_cast<std::uint64_t>(variable.offset);
    out.put_varint(offset << 1 ^ (variable.offset < 0 ? ~std::uint64_t{0} : 0));
    out.put_varint(variable.size);
    out.put_varint(raw(variable.type));
  }
}

void put_types(const RecordingSymbols& symbols, StringPool& pool, ByteWriter& out) {
  out.put_varint(symbols.types.size());
  for (const TypeLayout& type : symbols.types) {
    out.put_varint(pool.add(type.name));
    out.put_varint(type.size);
    out.put_varint((type.is_union ? 1u : 0u) | (type.opaque ? 2u : 0u));
    out.put_varint(raw(type.element));
    out.put_varint(type.count);
    out.put_varint(type.members.size());
    for (const TypeMember& member : type.members) {
      out.put_varint(pool.add(member.name));
      out.put_varint(member.offset);
      out.put_varint(member.size << 1 | (member.is_bit_field ? 1 : 0));
      out.put_varint(raw(member.type));
    }
  }
  for (const GlobalSymbol& global : symbols.globals) {
    out.put_varint(raw(global.type));
  }
  const auto put_rows = [&](auto&& is_wanted, auto&& put) {
    out.put_varint(static_cast<std::uint64_t>(std::count_if(symbols.sites.begin(), symbols.sites.end(), is_wanted)));
    for (std::size_t row = 0; row < symbols.sites.size(); ++row) {
      if (is_wanted(symbols.sites[row])) {
        out.put_varint(row);
        put(symbols.sites[row]);
      }
    }
  };
  put_rows([](const SiteSymbols& site) { return site.allocates != kNoType; },
           [&](const SiteSymbols& site) { out.put_varint(raw(site.allocates)); });
  put_rows([](const SiteSymbols& site) { return !site.locals.empty(); },
           [&](const SiteSymbols& site) { put_variables(site.locals, pool, out); });
  put_variables(symbols.thread_locals, pool, out);
}

}  // namespace

std::uint64_t recording_mark(std::string_view used_sites, std::string_view process) {
  return XXH3_64bits_withSeed(process.data(), process.size(), XXH3_64bits(used_sites.data(), used_sites.size()));
}

Status write_symbol_file(const std::string& path, const RecordingSymbols& symbols, std::uint64_t recording) {
  StringPool pool;
  Bytes rows;
  ByteWriter out(rows);
  out.put_varint(symbols.sites.size());
  for (const SiteSymbols& site : symbols.sites) {
    out.put_varint(pool.add(site.module));
    out.put_varint(site.offset);
    out.put_varint(site.frames.size());
    for (const SiteFrame& frame : site.frames) {
      out.put_varint(pool.add(frame.file));
      out.put_varint(pool.add(frame.function));
      out.put_varint(frame.line);
      out.put_varint(frame.column);
    }
  }
  out.put_varint(symbols.globals.size());
  for (const GlobalSymbol& global : symbols.globals) {
    out.put_varint(global.begin);
    out.put_varint(global.end - global.begin);
    out.put_varint(pool.add(global.name));
    out.put_varint(pool.add(global.file));
    out.put_varint(global.line);
  }
  put_types(symbols, pool, out);
  Bytes body;
  ByteWriter body_out(body);
  pool.put(body_out);
  body_out.put_array(rows.data(), rows.size());
  Bytes file;
  ByteWriter file_out(file);
  file_out.put(kMagic);
  file_out.put(recording);
  file_out.put(std::uint64_t{XXH3_64bits(body.data(), body.size())});
  file_out.put_array(body.data(), body.size());
  return replace_small_file(path, {reinterpret_cast<const char*>(file.data()), file.size()});
}

Result<RecordingSymbols> read_symbol_file(const std::string& path, std::uint64_t recording) {
  const Result<std::string> text = read_required_file(path);
  if (!text.ok()) {
    return text.status();
  }
  const std::string& bytes = *text;
  std::uint64_t header[3] = {};
  std::memcpy(header, bytes.data(), std::min(bytes.size(), kHeaderBytes));
  if (bytes.size() >= sizeof kOldMagic && header[0] == kOldMagic) {
    return Status::bad_input(path +
                             ": was written by an earlier version of sooth and does not say which recording it belongs "
                             "to: record the program again, or remove this file and read addresses instead of lines");
  }
  if (bytes.size() < kHeaderBytes || (header[0] != kMagic && header[0] != kTypelessMagic)) {
    return Status::bad_input(path + ": the recording is damaged: this is no file of symbols");
  }
  if (XXH3_64bits(bytes.data() + kHeaderBytes, bytes.size() - kHeaderBytes) != header[2]) {
    return Status::bad_input(path + ": the recording is damaged: the checksum of the symbols is wrong");
  }
  if (header[1] != recording) {
    return Status::bad_input(path + ": these are the symbols of another recording, and would name the wrong lines");
  }
  RecordingSymbols symbols;
  const auto* body = reinterpret_cast<const std::uint8_t*>(bytes.data()) + kHeaderBytes;
  if (!SymbolParser(body, bytes.size() - kHeaderBytes).parse(symbols, header[0] == kMagic)) {
    return Status::bad_input(path + ": the recording is damaged: the symbols are cut or contradict themselves");
  }
  return symbols;
}

}  // namespace sooth
