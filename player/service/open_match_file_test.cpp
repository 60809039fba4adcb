#include "player/service/open_match_file.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <algorithm>

#include <fstream>
#include <sstream>

#include "tests/support/scripted_random.h"
#include "tests/support/temporary_directory.h"

namespace league::player::service {
namespace {

namespace fs = std::filesystem;

const core::PlayerId kAlpha("P01");
const core::PlayerId kBeta("P02");

class OpenMatchFileTest : public ::testing::Test {
 protected:
  std::unique_ptr<OpenMatchFile> open(std::size_t most_bytes = 1U << 20U) {
    auto file = OpenMatchFile::open(
        {.file = path_, .most_bytes = most_bytes, .flush_interval = std::chrono::milliseconds(1)});
    EXPECT_TRUE(file) << file.error().message;
    return file ? std::move(*file) : nullptr;
  }
  OpenMatch match(int number, const core::PlayerId& player = kAlpha) {
    OpenMatch made{.player_id = player,
                   .match_id = core::MatchId("R1M" + std::to_string(number)),
                   .game_type = "even_odd",
                   .draw_commitment = "d"};
    commit(made, "even", random_);
    return made;
  }
  std::string content() {
    std::stringstream out;
    out << std::ifstream(path_, std::ios::binary).rdbuf();
    return out.str();
  }

  league::testing::TemporaryDirectory directory_;
  league::testing::ScriptedRandom random_;
  const fs::path path_ = directory_.path() / "agents" / "player_alpha.open_matches.jsonl";
};

TEST_F(OpenMatchFileTest, WhatIsKeptIsThereForTheNextProcess) {
  const OpenMatch first = match(1);
  OpenMatch second = match(2);
  {
    auto file = open();
    ASSERT_TRUE(file->keep(first));
    ASSERT_TRUE(file->keep(second));
    second.is_revealed = true;
    ASSERT_TRUE(file->keep(second));
    ASSERT_TRUE(file->keep(match(1, kBeta)));
    // A process that is killed now closes nothing.
    EXPECT_NE(content().find(second.nonce), std::string::npos);
  }
  EXPECT_EQ(open()->matches_of(kAlpha), (std::vector{first, second}));
}

TEST_F(OpenMatchFileTest, AChangeIsWrittenOnceAndBriefly) {
  OpenMatch kept = match(1);
  {
    auto file = open();
    ASSERT_TRUE(file->keep(kept));
    ASSERT_TRUE(file->keep(kept)) << "an invitation that is repeated";
    kept.is_revealed = true;
    kept.opponent_commitment = "theirs";
    ASSERT_TRUE(file->keep(kept));
    ASSERT_TRUE(file->keep(kept)) << "a call that is repeated";
    EXPECT_EQ(std::ranges::count(content(), '\n'), 2);
  }
  EXPECT_EQ(open()->matches_of(kAlpha), std::vector{kept});
}

TEST_F(OpenMatchFileTest, AChoiceMadeAnewReplacesTheOldOne) {
  OpenMatch kept = match(1);
  {
    auto file = open();
    kept.is_revealed = true;
    ASSERT_TRUE(file->keep(kept));
    kept = match(1);
    ASSERT_TRUE(file->keep(kept));
  }
  EXPECT_EQ(open()->matches_of(kAlpha), std::vector{kept});
}

TEST_F(OpenMatchFileTest, WhatForeignRefereesShowIsKeptUntilTheMatchIsOver) {
  const core::MatchId first("R1M1");
  const core::MatchId second("R1M2");
  {
    auto file = open();
    ASSERT_TRUE(file->keep_credential(kAlpha, first, "token:aa"));
    ASSERT_TRUE(file->keep_credential(kAlpha, second, "none"));
    const auto size = content().size();
    ASSERT_TRUE(file->keep_credential(kAlpha, second, "none"));
    ASSERT_TRUE(file->keep_credential(kBeta, first, "match"));
    EXPECT_EQ(content().size(), size) << "nothing is new";
    ASSERT_TRUE(file->keep(match(1)));
  }
  {
    auto file = open();
    EXPECT_EQ(file->credentials_of(kAlpha),
              (RefereeCredentials{{first, "token:aa"}, {second, "none"}}));
    EXPECT_EQ(file->matches_of(kAlpha).size(), 1U);
    file->forget(kAlpha, first);
    ASSERT_TRUE(file->keep_credential(kAlpha, second, "match"));
  }
  auto file = open();
  EXPECT_TRUE(file->credentials_of(kAlpha).empty());
  ASSERT_TRUE(file->keep_credential(kAlpha, second, "none"));
  file->forget_all(kAlpha);
  EXPECT_TRUE(file->credentials_of(kAlpha).empty());
}

TEST_F(OpenMatchFileTest, WhatIsOverIsGone) {
  const OpenMatch kept = match(2);
  {
    auto file = open();
    ASSERT_TRUE(file->keep(match(1)));
    ASSERT_TRUE(file->keep(kept));
    ASSERT_TRUE(file->keep(match(1, kBeta)));
    file->forget(kAlpha, core::MatchId("R1M1"));
    file->forget(kAlpha, core::MatchId("R9M9"));
    file->forget_all(kBeta);
  }
  auto file = open();
  EXPECT_EQ(file->matches_of(kAlpha), std::vector{kept});
  EXPECT_TRUE(file->matches_of(kBeta).empty());
  EXPECT_EQ(std::ranges::count(content(), '\n'), 1) << "it begins with what is open only";
}

TEST_F(OpenMatchFileTest, NobodyElseMayReadIt) {
  auto file = open();
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(OpenMatchFileTest, DamagedLinesCostNoOthers) {
  const OpenMatch first = match(1);
  const OpenMatch last = match(2);
  {
    auto file = open();
    ASSERT_TRUE(file->keep(first));
  }
  for (const char* bad :
       {R"({"player_id":"P01","match_id":"R1M1","asked_for":7})",
        R"({"player_id":"P01","match_id":"R1M9","asked_for":true})", "{\"half\":", "[]", "7", "{}",
        "{\"over\":true}", "\xff\xfe", "", "{\"over\":true,\"player_id\":1,\"match_id\":2}"}) {
    std::ofstream(path_, std::ios::app) << bad << '\n';
  }
  std::ofstream(path_, std::ios::app) << open_match_to_text(last) << "\n{\"player_id\":\"P0";
  EXPECT_EQ(open()->matches_of(kAlpha), (std::vector{first, last}));
}

TEST_F(OpenMatchFileTest, IsWrittenAnewBeforeItIsLarge) {
  const OpenMatch kept = match(0);
  auto file = open(10'000);
  ASSERT_TRUE(file->keep(kept));
  std::size_t longest = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  // As many matches as it takes until the flushing thread has come by.
  for (int i = 1; std::chrono::steady_clock::now() < end; ++i) {
    ASSERT_TRUE(file->keep(match(i)));
    file->forget(kAlpha, core::MatchId("R1M" + std::to_string(i)));
    const std::size_t size = fs::file_size(path_);
    if (size < longest) break;
    longest = size;
  }
  EXPECT_LT(fs::file_size(path_), longest);
  file.reset();
  EXPECT_EQ(open()->matches_of(kAlpha), std::vector{kept});
}

TEST_F(OpenMatchFileTest, ProcessesOfOnePlayerShareTheirOpenMatches) {
  auto shared = [this] {
    auto file = OpenMatchFile::open(
        {.file = path_, .flush_interval = std::chrono::milliseconds(1), .is_shared = true});
    EXPECT_TRUE(file) << file.error().message;
    return std::move(*file);
  };
  auto mine = shared();
  auto other = shared();
  const OpenMatch first = match(1);
  OpenMatch second = match(2);
  EXPECT_FALSE(other->find_shared(kAlpha, first.match_id));
  ASSERT_TRUE(mine->keep(first));
  ASSERT_TRUE(other->keep(second));
  EXPECT_EQ(other->find_shared(kAlpha, first.match_id), first);
  EXPECT_EQ(mine->find_shared(kAlpha, second.match_id), second);
  second.is_revealed = true;
  ASSERT_TRUE(other->keep(second));
  EXPECT_EQ(mine->find_shared(kAlpha, second.match_id), second) << "with what became of it";
  EXPECT_FALSE(mine->find_shared(kBeta, first.match_id));
  EXPECT_EQ(shared()->matches_of(kAlpha), (std::vector{first, second})) << "a third sees both";
  auto own = open();
  EXPECT_FALSE(own->find_shared(kAlpha, first.match_id)) << "a file of one process is read once";
}

TEST_F(OpenMatchFileTest, SaysBeforehandThatItCannotWrite) {
  std::ofstream(directory_.path() / "agents") << "in the way";
  auto file = OpenMatchFile::open({.file = path_});
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("open_matches"), std::string::npos);
}

}  // namespace
}  // namespace league::player::service
