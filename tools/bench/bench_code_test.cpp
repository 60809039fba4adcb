#include "tools/bench/bench_code.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "common/schema/parse_json.h"
#include "tests/support/temporary_directory.h"

namespace league::tools::bench {
namespace {

template <typename Function>
std::uint64_t address_of(Function* function) {
  return reinterpret_cast<std::uint64_t>(function);
}

TEST(BenchCode, FindsTheFunctionOfAnAddressInAProcess) {
  const std::uint64_t parse = address_of(&schema::parse_json);
  CodeMap code;
  const WorkCounts counts = code.work_of(::getpid(), {{parse, 3}, {parse + 1, 2}, {1, 4}});
  EXPECT_EQ(counts, (WorkCounts{{WorkKind::kParse, 5}, {WorkKind::kOther, 4}}));
}

TEST(BenchCode, AFileThatIsNoProgramHasNoFunctions) {
  const testing::TemporaryDirectory directory;
  EXPECT_FALSE(FunctionTable(directory.path() / "missing").function_at(0));
  EXPECT_FALSE(FunctionTable(std::string(LEAGUE_SOURCE_DIR) + "/README.md").function_at(100));
}

}  // namespace
}  // namespace league::tools::bench
