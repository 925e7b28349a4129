#include "trace/recording/deep_file.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstring>

#include "trace/recording/stream_format.h"

namespace sooth {
namespace {

template <typename T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string module_bytes(std::uint32_t number, std::vector<std::uint64_t> addresses, const std::string& bitcode) {
  std::string out;
  put(out, stream::DeepModule{stream::kDeepModuleMagic, number, addresses.size(), bitcode.size()});
  for (const std::uint64_t address : addresses) {
    put(out, address);
  }
  return out + bitcode;
}

std::string sealed(const std::string& body) {
  std::string out;
  put(out, stream::DeepSeal{stream::kDeepSealMagic, body.size(), XXH3_64bits(body.data(), body.size())});
  return out + body;
}

TEST(DeepFile, KeepsCodeAndAddresses) {
  const auto file = DeepFile::parse(sealed(module_bytes(0, {16, 32}, "BC12") + module_bytes(1, {}, "BCx")), "deep");
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_EQ(file->modules().size(), 2u);
  EXPECT_EQ(file->modules()[0].addresses, (std::vector<std::uint64_t>{16, 32}));
  EXPECT_EQ(file->modules()[0].bitcode, "BC12");
  EXPECT_EQ(file->modules()[1].bitcode, "BCx");
}

TEST(DeepFile, RefusesWhatIsNotSealedOrNotWhole) {
  const std::string body = module_bytes(0, {16, 32}, "BC12");
  EXPECT_FALSE(DeepFile::parse(std::string(24, '\0') + body, "deep").ok());
  EXPECT_FALSE(DeepFile::parse("", "deep").ok());
  EXPECT_FALSE(DeepFile::parse(sealed(module_bytes(1, {}, "BC")), "deep").ok());
  EXPECT_FALSE(DeepFile::parse(sealed(body.substr(0, body.size() - 1)), "deep").ok());
  EXPECT_FALSE(DeepFile::parse(sealed(body + "x"), "deep").ok());
  std::string huge = body;
  const stream::DeepModule header{stream::kDeepModuleMagic, 0, ~std::uint64_t{0} / 8, 4};
  std::memcpy(huge.data(), &header, sizeof header);
  EXPECT_FALSE(DeepFile::parse(sealed(huge), "deep").ok());
}

TEST(DeepFile, SealsWhatIsWhole) {
  const std::string body = module_bytes(0, {16, 32}, "BC12") + module_bytes(1, {7}, "BCx");
  const std::string unsealed = std::string(24, '\0') + body;
  EXPECT_EQ(seal_deep_file(unsealed), sealed(body));
  EXPECT_EQ(seal_deep_file(unsealed.substr(0, unsealed.size() - 1)), sealed(module_bytes(0, {16, 32}, "BC12")));
  EXPECT_EQ(seal_deep_file(""), sealed(""));
}

TEST(DeepFile, NoticesEveryChangedByte) {
  const std::string whole = sealed(module_bytes(0, {16, 32}, "BC12") + module_bytes(1, {7}, "BCx"));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x20);
    EXPECT_FALSE(DeepFile::parse(changed, "deep").ok()) << "byte " << i;
  }
}

}  // namespace
}  // namespace sooth
