#include "common/core/error_code.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <set>
#include <string>

namespace league::core {
namespace {

TEST(ErrorTable, WireCodesAreTheNumbersAndStandInOrder) {
  int last = 0;
  for (const auto& row : all_errors()) {
    std::array<char, 16> expected{};
    std::snprintf(expected.data(), expected.size(), "E%03d", static_cast<int>(row.code));
    EXPECT_EQ(row.wire_code, expected.data());
    EXPECT_LT(last, static_cast<int>(row.code));
    last = static_cast<int>(row.code);
  }
}

TEST(ErrorTable, NamesAreDistinctAndInUpperCase) {
  std::set<std::string_view> names;
  for (const auto& row : all_errors()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(row.name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_"), std::string_view::npos)
        << row.name;
    EXPECT_FALSE(row.description.empty());
  }
}

TEST(ErrorTable, HoldsTheCodesOfTheProtocol) {
  struct Row {
    const char* wire;
    const char* name;
  };
  for (const Row& row : {Row{"E001", "TIMEOUT_ERROR"}, Row{"E003", "MISSING_REQUIRED_FIELD"},
                         Row{"E004", "INVALID_PARITY_CHOICE"}, Row{"E005", "PLAYER_NOT_REGISTERED"},
                         Row{"E009", "CONNECTION_ERROR"}, Row{"E011", "AUTH_TOKEN_MISSING"},
                         Row{"E012", "AUTH_TOKEN_INVALID"}, Row{"E013", "REFEREE_NOT_REGISTERED"},
                         Row{"E015", "MATCH_ID_MISMATCH"}, Row{"E018", "PROTOCOL_VERSION_MISMATCH"},
                         Row{"E019", "LATE_REGISTRATION"}, Row{"E021", "INVALID_TIMESTAMP"}}) {
    auto code = parse_error_code(row.wire);
    ASSERT_TRUE(code) << row.wire;
    EXPECT_EQ(error_info(*code).name, row.name);
    EXPECT_EQ(wire_code(*code), row.wire);
  }
}

TEST(ErrorTable, OnlyTimeoutAndConnectionMayBeRetried) {
  for (const auto& row : all_errors()) {
    bool is_transient = row.code == ErrorCode::kTimeout || row.code == ErrorCode::kConnectionError;
    EXPECT_EQ(row.retryable, is_transient) << row.name;
  }
}

TEST(ErrorTable, UnknownCodesAreNothing) {
  for (const char* wire : {"", "E", "E999", "e001", "E01", "E0011"})
    EXPECT_FALSE(parse_error_code(wire)) << wire;
}

}  // namespace
}  // namespace league::core
