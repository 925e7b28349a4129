// A JSON document that somebody hands us, read member by member. What is absent keeps its default; what is of the wrong
// kind becomes a complaint that names the place, "findings[3].accesses[0].size is a text, not a whole number from 0 to
// ...".
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/event.h"

namespace sooth {

// The first thing that is wrong with a document. After a complaint reading goes on with defaults, so that readers need
// no branches; whoever started it looks here at the end and throws the result away.
class JsonComplaint {
 public:
  const std::string& text() const { return text_; }  // empty: there is none
  void add(const std::string& where, const std::string& what);

 private:
  std::string text_;
};

class JsonNode;

// What somebody has written a function for: void read_json(const JsonNode&, Value&).
template <typename Value>
concept ReadFromJson = requires(const JsonNode& node, Value& out) {
  read_json(node, out);
};

// A value with its path, or nothing where the document has nothing. Borrows document and complaint.
class JsonNode {
 public:
  JsonNode(const nlohmann::json* json, std::string path, JsonComplaint& complaint)
      : json_(json), path_(std::move(path)), complaint_(&complaint) {}

  bool present() const { return json_ != nullptr; }
  void fail(const std::string& what) const { complaint_->add(path_, what); }

  // The member `key`. Absent members are fine; asking for a member of something else than an object is not.
  JsonNode operator[](const std::string& key) const;
  // The member `key`, which must be there.
  JsonNode required(const std::string& key) const;

  std::vector<JsonNode> elements() const;
  // The elements of an array that has `size` of them; none where it has another number. `shape` names them: "[x, y]".
  std::vector<JsonNode> tuple(std::size_t size, const std::string& shape) const;
  std::vector<std::string> keys() const;

  // get(out) reads the value as what `out` is: a text, a truth value, a number that fits, an id, each of an array, ...
  void get(std::string& out) const;
  void get(bool& out) const;
  void get(double& out) const;
  template <std::unsigned_integral Number>
    requires(!std::same_as<Number, bool>)
  void get(Number& out) const {
    std::uint64_t number = out;
    get_number(std::numeric_limits<Number>::max(), number);
    out = static_cast<Number>(number);
  }
  template <typename Id>
    requires(std::same_as<Id, EventId> || std::same_as<Id, ThreadId>)
  void get(Id& out) const {
    auto number = raw(out);
    get(number);
    out = Id{number};
  }
  template <typename Value>
  void get(std::optional<Value>& out) const {
    if (present()) {
      get(out.emplace());
    }
  }
  template <typename Value>
  void get(std::vector<Value>& out) const {
    for (const JsonNode& element : elements()) {
      element.get(out.emplace_back());
    }
  }
  // ... or whatever there is a function read_json for.
  template <ReadFromJson Value>
  void get(Value& out) const {
    read_json(*this, out);
  }
  // The same for a member that may be absent.
  template <typename Value>
  void get(const std::string& key, Value& out) const {
    (*this)[key].get(out);
  }

  // "0x1f" as the writer writes it, or a plain number.
  void get_address(std::uint64_t& out) const;
  void get_address(std::optional<std::uint64_t>& out) const;
  // One of a set of names; `from_name` returns an optional. `what` is for "is no ...".
  template <typename Value, typename FromName>
  void get_name(Value& out, FromName from_name, const std::string& what) const {
    std::string name;
    get(name);
    if (!is_text()) {
      return;
    }
    if (const auto value = from_name(name)) {
      out = *value;
    } else {
      refuse(name, ", which is no " + what);
    }
  }
  // Complains about a text: is "TEXT", and why that will not do.
  void refuse(const std::string& text, const std::string& why) const;

 private:
  bool is_text() const;
  void get_number(std::uint64_t max, std::uint64_t& out) const;
  bool expect(bool matches, const std::string& wanted) const;

  const nlohmann::json* json_;
  std::string path_;
  JsonComplaint* complaint_;
};

}  // namespace sooth
