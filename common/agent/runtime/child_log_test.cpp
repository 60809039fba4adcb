#include "common/agent/runtime/child_log.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/support/temporary_directory.h"

namespace league::agent::runtime {
namespace {

std::string contents(const std::filesystem::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST(ChildLog, EachCommandHasAFileThatSaysWhichItIs) {
  auto one = child_log_file("/logs/children", "python3 bots/a.py --name x").string();
  auto other = child_log_file("/logs/children", "python3 bots/a.py --name y").string();
  EXPECT_TRUE(one.starts_with("/logs/children/python3-bots-a.py-name-x-")) << one;
  EXPECT_NE(one, other);
  auto hostile = child_log_file("/logs/children", "../../etc/passwd").filename().string();
  EXPECT_EQ(hostile.find('/'), std::string::npos);
}

TEST(ChildLog, KeepsLinesInOrder) {
  testing::TemporaryDirectory directory;
  {
    auto log = child_log(directory.path() / "children");
    log("bot", "first");
    log("bot", "second");
  }  // lets go of the writer, which ends its work first
  auto text = contents(child_log_file(directory.path() / "children", "bot"));
  auto first = text.find("] first\n");
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_NE(text.find("] second\n", first), std::string::npos) << text;
}

TEST(ChildLog, StopsAtALimit) {
  testing::TemporaryDirectory directory;
  auto file = child_log_file(directory.path(), "bot");
  std::ofstream(file) << "x";
  std::filesystem::resize_file(file, kMostOfChildLog + 1);
  child_log(directory.path())("bot", "more");
  EXPECT_EQ(std::filesystem::file_size(file), kMostOfChildLog + 1);
}

}  // namespace
}  // namespace league::agent::runtime
