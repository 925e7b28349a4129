// For tests of documents that show bytes: the examples in them.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "trace/format/directory_testing.h"

namespace sooth {

// The text between the fences behind `<!-- example: NAME -->` in a document of src/trace/, e.g. "format/FORMAT.md".
inline std::string document_example(const std::string& document, const std::string& name) {
  const std::string content = file_content(std::string(SOOTH_SOURCE_DIR) + "/src/trace/" + document);
  const std::string marker = "<!-- example: " + name + " -->\n```\n";
  const std::size_t begin = content.find(marker);
  EXPECT_NE(begin, std::string::npos) << document << " has no example `" << name << "`";
  if (begin == std::string::npos) {
    return "";
  }
  const std::size_t text = begin + marker.size();
  return content.substr(text, content.find("```\n", text) - text);
}

// The bytes of an example, two digits each with a blank behind them, up to the `;` of every line.
inline std::string document_bytes(const std::string& document, const std::string& name) {
  std::istringstream lines(document_example(document, name));
  std::string all;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find(';')));
    for (std::string word; words >> word;) {
      all += word + " ";
    }
  }
  return all;
}

// Bytes as document_bytes() has them.
inline std::string hex_bytes(const void* bytes, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    char two[4];
    std::snprintf(two, sizeof two, "%02x ", static_cast<const unsigned char*>(bytes)[i]);
    text += two;
  }
  return text;
}

}  // namespace sooth
