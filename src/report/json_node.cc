#include "report/json_node.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "report/describe.h"

namespace sooth {
namespace {

// What was found instead, short: it may be a megabyte long.
std::string sort_of(const nlohmann::json& json) {
  return std::string("is ") + (json.is_null()           ? "null"
                               : json.is_array()        ? "an array"
                               : json.is_object()       ? "an object"
                               : json.is_string()       ? "a text"
                               : json.is_boolean()      ? "true or false"
                               : json.is_number_float() ? "a number with a fraction or exponent, or too large"
                                                        : "a number");
}

}  // namespace

void JsonComplaint::add(const std::string& where, const std::string& what) {
  if (text_.empty()) {
    text_ = (where.empty() ? "the document" : where) + " " + what;
  }
}

JsonNode JsonNode::operator[](const std::string& key) const {
  std::string path = path_.empty() ? key : path_ + "." + key;
  if (!present() || !expect(json_->is_object(), "an object")) {
    return {nullptr, std::move(path), *complaint_};
  }
  const auto it = json_->find(key);
  return {it == json_->end() ? nullptr : &*it, std::move(path), *complaint_};
}

JsonNode JsonNode::required(const std::string& key) const {
  JsonNode member = (*this)[key];
  if (present() && !member.present()) {
    member.fail("is missing");
  }
  return member;
}

std::vector<JsonNode> JsonNode::elements() const {
  std::vector<JsonNode> nodes;
  if (present() && expect(json_->is_array(), "an array")) {
    nodes.reserve(json_->size());
    for (const nlohmann::json& element : *json_) {
      nodes.push_back({&element, path_ + "[" + std::to_string(nodes.size()) + "]", *complaint_});
    }
  }
  return nodes;
}

std::vector<JsonNode> JsonNode::tuple(std::size_t size, const std::string& shape) const {
  std::vector<JsonNode> parts = elements();
  if (parts.size() != size) {
    fail("is not " + shape);
    parts.clear();
  }
  return parts;
}

std::vector<std::string> JsonNode::keys() const {
  std::vector<std::string> names;
  if (present() && expect(json_->is_object(), "an object")) {
    for (const auto& [key, value] : json_->items()) {
      names.push_back(key);
    }
  }
  return names;
}

void JsonNode::get(std::string& out) const {
  if (present() && expect(json_->is_string(), "a text")) {
    out = json_->get_ref<const std::string&>();
  }
}

void JsonNode::get(bool& out) const {
  if (present() && expect(json_->is_boolean(), "true or false")) {
    out = json_->get<bool>();
  }
}

void JsonNode::get(double& out) const {
  if (present() && expect(json_->is_number(), "a number")) {
    out = json_->get<double>();
  }
}

void JsonNode::get_number(std::uint64_t max, std::uint64_t& out) const {
  const std::string wanted = "a whole number from 0 to " + std::to_string(max);
  if (!present() || !expect(json_->is_number_unsigned(), wanted)) {
    return;
  }
  const auto number = json_->get<std::uint64_t>();
  if (number > max) {
    fail("is " + std::to_string(number) + ", not " + wanted);
    return;
  }
  out = number;
}

void JsonNode::get_address(std::uint64_t& out) const {
  if (!present() || json_->is_number_unsigned()) {
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

void JsonNode::get_address(std::optional<std::uint64_t>& out) const {
  if (present()) {
    get_address(out.emplace());
  }
}

void JsonNode::refuse(const std::string& text, const std::string& why) const {
  fail("is \"" + printable(text.substr(0, 40)) + "\"" + why);
}

bool JsonNode::is_text() const { return present() && json_->is_string(); }

bool JsonNode::expect(bool matches, const std::string& wanted) const {
  if (!matches) {
    fail(sort_of(*json_) + ", not " + wanted);
  }
  return matches;
}

}  // namespace sooth
