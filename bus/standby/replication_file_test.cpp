#include "bus/standby/stream_format.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_directory.h"

namespace league::league_manager::stream {
namespace {

namespace fs = std::filesystem;

class ReplicationFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path in(const std::string& data) const {
    fs::create_directories(directory_.path() / data);
    return directory_.path() / data / "replication.json";
  }
  [[nodiscard]] ReplicationFile open(const std::string& data) {
    auto opened = ReplicationFile::open(in(data), random_);
    EXPECT_TRUE(opened);
    return *opened;
  }

  testing::TemporaryDirectory directory_;
  core::CryptoRandom random_;
};

TEST_F(ReplicationFileTest, KeepsNameAndKnowledge) {
  const auto first = open("one");
  EXPECT_EQ(first.knowledge(), Knowledge{});
  const Knowledge known{3, 7, "two", {12, core::sha256("x")}, 11, {"two"}};
  ASSERT_TRUE(first.write(known));
  EXPECT_EQ(open("one").name(), first.name());
  EXPECT_EQ(open("one").knowledge(), known);
}

TEST_F(ReplicationFileTest, ACopyHasAnotherNameAndKnowsTheOriginal) {
  const auto first = open("one");
  ASSERT_TRUE(first.write({3, 7, "two", {}, 0, {"two"}}));
  fs::copy_file(in("one"), in("copy"));
  const auto copy = open("copy");
  EXPECT_NE(copy.name(), first.name());
  EXPECT_EQ(copy.knowledge().term, 7U);
  EXPECT_EQ(copy.knowledge().members.size(), 2U);
}

TEST_F(ReplicationFileTest, ADamagedFileIsRefused) {
  ASSERT_TRUE(open("one").write({}));
  std::ofstream(in("one")) << "{\"name\":";
  const auto damaged = ReplicationFile::open(in("one"), random_);
  ASSERT_FALSE(damaged);
  EXPECT_NE(damaged.error().message.find("move it away"), std::string::npos);
}

}  // namespace
}  // namespace league::league_manager::stream
