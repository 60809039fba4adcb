#include "tools/audit/inspect/bundle_redactor.h"

#include <gtest/gtest.h>

#include <fstream>

#include "common/core/crypto.h"
#include "tests/support/temporary_directory.h"

namespace league::tools::auditor {
namespace {

const std::string kOperatorKey = "op_abcdefghijklmnopqrstuvwxyz234567";
const std::string kLogKey(64, 'a');
const std::string kAgentKey(64, 'b');
const std::string kToken = "a-foreign-token-of-no-known-form";

/// A data directory with a secret in every file that holds one.
class BundleRedactorTest : public ::testing::Test {
 protected:
  BundleRedactorTest() {
    std::filesystem::create_directories(data_ / "agents");
    std::ofstream(data_ / "operator.key") << kOperatorKey << '\n';
    std::ofstream(data_ / "log.key") << kLogKey;
    std::ofstream(data_ / "secret.key") << std::string(32, '\x7f');
    std::ofstream(data_ / "agents" / "player_a.log.key") << kAgentKey;
    std::ofstream(data_ / "agents" / "player_a.json")
        << R"({"auth_token":")" << kToken << R"(","league_id":"league_2025_even_odd"})";
  }

  std::string redacted(const std::string& text) {
    auto redactor = BundleRedactor::for_data(data_);
    EXPECT_TRUE(redactor.has_value());
    return redactor ? redactor->redacted(text) : "";
  }

  const league::testing::TemporaryDirectory temporary_;
  std::filesystem::path data_ = temporary_.path();
};

TEST_F(BundleRedactorTest, TakesOutEverySecretOfTheLeague) {
  std::string key(32, '\x7f');
  for (const std::string& secret :
       {kOperatorKey, kLogKey, kAgentKey, kToken, core::to_hex(core::as_bytes(key)),
        core::to_base32(core::as_bytes(key)), std::string("tok_p01_abcdefghijklmnop")}) {
    for (const char* around : {"{\"text\":\"@\"}", "x=@,y", "(@)", "@"}) {
      std::string text = around;
      text.replace(text.find('@'), 1, secret);
      std::string clean = redacted(text);
      EXPECT_EQ(clean.find(secret), std::string::npos) << text;
      EXPECT_NE(clean.find(secret.substr(0, 4)), std::string::npos) << clean;
    }
  }
}

TEST_F(BundleRedactorTest, FindsTheManagersKeysInsideOfWords) {
  EXPECT_EQ(redacted("\\n" + kOperatorKey + "n").find(kOperatorKey), std::string::npos);
  EXPECT_EQ(redacted("00" + kLogKey + "00").find(kLogKey), std::string::npos);
}

TEST_F(BundleRedactorTest, LeavesWhatIsNoSecret) {
  for (std::string text :
       {R"({"league_id":"league_2025_even_odd","auth_token":"tok_p01_..."})",
        R"({"hash":"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"})", "",
        "P01"}) {
    EXPECT_EQ(redacted(text), text);
  }
}

TEST_F(BundleRedactorTest, KnowsThatARecordMayHoldAPieceOfABody) {
  std::string piece = R"({"seq":7,"raw_ref":3,"raw_keep":[9,9],"raw":"{\"auth_token\":\"tok_p0"})";
  EXPECT_EQ(redacted(piece), piece);
  piece.insert(piece.size() - 2, "1_abcdefghijklmnop");
  EXPECT_EQ(redacted(piece).find("abcdefgh"), std::string::npos);
}

TEST_F(BundleRedactorTest, NeedsNoData) {
  auto redactor = BundleRedactor::for_data(data_ / "none");
  ASSERT_TRUE(redactor);
  EXPECT_EQ(redactor->redacted("abc"), "abc");
}

}  // namespace
}  // namespace league::tools::auditor
