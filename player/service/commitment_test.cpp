#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <set>

#include "game/commitment.h"
#include "player/core/player_testing.h"
#include "player/service/service_testing.h"
#include "tests/support/temporary_directory.h"

namespace league::player::service {
namespace {

using nlohmann::json;

/// While it lives, no file of this process can grow.
class FullDisk {
 public:
  FullDisk() {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit none{0, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

/// A player that is invited, called and told results by one honest or lying referee.
class CommitmentTest : public testing::PlayerServiceFixture {
 protected:
  json join(const json& invitation) {
    return call("handle_game_invitation", authorised(invitation))["result"];
  }
  json join() { return join(match_.invitation()); }
  json choose() { return call("choose_parity", authorised(match_.call()))["result"]; }
  json tell(const json& game_over) { return call("notify_match_result", authorised(game_over)); }
  /// The right GAME_OVER for what the player answered.
  [[nodiscard]] json right_end(const json& chosen) const {
    std::optional<std::string> nonce;
    if (chosen.contains("choice_nonce")) nonce = chosen["choice_nonce"];
    return match_.game_over(chosen["parity_choice"], nonce);
  }
  void expect_opens(const json& chosen, const json& commitment) {
    EXPECT_EQ(match_.commitment_of("P01", chosen["parity_choice"], chosen["choice_nonce"]),
              commitment);
  }
  std::unique_ptr<OpenMatchFile> open_file() {
    auto file = OpenMatchFile::open({.file = directory_.path() / "open.jsonl"});
    EXPECT_TRUE(file);
    return std::move(*file);
  }

  testing::ScriptedMatch match_;
  league::testing::TemporaryDirectory directory_;
};

TEST_F(CommitmentTest, BindsItselfWhenItJoinsAndOpensWhenItChooses) {
  make("even");
  const auto ack = join();
  EXPECT_TRUE(envelope::testing::schemas().validate(envelope::MessageType::kGameJoinAck, ack));
  const auto chosen = choose();
  EXPECT_TRUE(
      envelope::testing::schemas().validate(envelope::MessageType::kChooseParityResponse, chosen));
  EXPECT_EQ(chosen["parity_choice"], "even");
  expect_opens(chosen, ack["choice_commitment"]);
  EXPECT_EQ(tell(right_end(chosen))["result"]["status"], "ok");
  EXPECT_EQ(service_->history().matches().size(), 1U);
}

TEST_F(CommitmentTest, RepeatedInvitationsAndCallsGetTheSame) {
  make("random");
  const auto ack = join();
  EXPECT_EQ(join()["choice_commitment"], ack["choice_commitment"]);
  const auto chosen = choose();
  EXPECT_EQ(choose()["choice_nonce"], chosen["choice_nonce"]);
  // A replay, or another attempt: both are bound.
  EXPECT_EQ(call("handle_game_invitation",
                 authorised(match_.invitation(), 2))["result"]["choice_commitment"],
            ack["choice_commitment"]);
  EXPECT_EQ(choose()["parity_choice"], chosen["parity_choice"]);
}

TEST_F(CommitmentTest, BindsItselfAnewAfterARevealToSomebodyWhoIsNotBound) {
  make("even");
  match_.their_nonce.reset();
  const auto first = join()["choice_commitment"];
  EXPECT_EQ(join()["choice_commitment"], first) << "nothing has been revealed yet";
  const auto revealed = choose();
  const auto second = join()["choice_commitment"];
  EXPECT_NE(second, first);
  const auto chosen = choose();
  EXPECT_NE(chosen["choice_nonce"], revealed["choice_nonce"]);
  expect_opens(chosen, second);
  EXPECT_TRUE(tell(right_end(revealed)).contains("error")) << "that is the play before";
  EXPECT_FALSE(tell(right_end(chosen)).contains("error"));
}

TEST_F(CommitmentTest, AnInvitationWithAnotherPromiseChangesNothing) {
  make("even");
  const auto first = join()["choice_commitment"];
  const auto promised = match_.seed;
  match_.seed.fill(8);
  const auto refused = call("handle_game_invitation", authorised(match_.invitation()));
  EXPECT_EQ(refused["error"]["data"]["error_code"], "E040");
  match_.seed = promised;
  EXPECT_EQ(join()["choice_commitment"], first);
  expect_opens(choose(), first);
}

TEST_F(CommitmentTest, DoesNotBindItselfWhereThereIsNothingToBindItTo) {
  make("even");
  auto invitation = match_.invitation();
  invitation.erase("draw_commitment");
  EXPECT_FALSE(join(invitation).contains("choice_commitment"));
  EXPECT_FALSE(choose().contains("choice_nonce"));
  make("even", true);
  EXPECT_FALSE(join().contains("choice_commitment")) << "nobody has given it an id";
  make(PlayerOptions{.display_name = "bot", .strategy = "even", .commits = false});
  EXPECT_FALSE(join().contains("choice_commitment"));
  const auto chosen = choose();
  EXPECT_FALSE(chosen.contains("choice_nonce"));
  EXPECT_FALSE(tell(right_end(chosen)).contains("error"));
}

TEST_F(CommitmentTest, NoncesDoNotComeFromTheSeedOfTheStrategy) {
  std::set<std::string> nonces;
  for (int i = 0; i < 3; ++i) {
    league::testing::ScriptedRandom same(5);
    auto made = PlayerService::create({.display_name = "bot"},
                                      {time_, time_, same, envelope::testing::schemas()});
    ASSERT_TRUE(made);
    service_ = std::move(*made);
    service_->set_identity(at_home());
    (void)join();
    nonces.insert(choose()["choice_nonce"]);
  }
  EXPECT_EQ(nonces.size(), 3U);
}

TEST_F(CommitmentTest, AfterARestartItMakesTheSameChoice) {
  json ack;
  {
    auto file = open_file();
    make({.display_name = "bot"}, file.get());
    ack = join();
  }
  json chosen;
  {
    auto file = open_file();
    make({.display_name = "bot", .strategy = "odd"}, file.get());
    EXPECT_EQ(join()["choice_commitment"], ack["choice_commitment"]);
    chosen = choose();
    expect_opens(chosen, ack["choice_commitment"]);
  }
  auto file = open_file();
  make({.display_name = "bot", .strategy = "even"}, file.get());
  EXPECT_EQ(choose()["choice_nonce"], chosen["choice_nonce"]) << "without another invitation";
  auto wrong = right_end(chosen);
  wrong["choice_commitments"]["P02"] = std::string(64, 'c');
  EXPECT_TRUE(tell(wrong).contains("error")) << "it still knows what it was handed over";
  EXPECT_FALSE(tell(right_end(chosen)).contains("error"));
  EXPECT_TRUE(file->matches_of(core::PlayerId("P01")).empty()) << "the match is over";
}

TEST_F(CommitmentTest, AfterARestartItKnowsThatItHasShownItsChoice) {
  match_.their_nonce.reset();
  json ack;
  {
    auto file = open_file();
    make({.display_name = "bot"}, file.get());
    ack = join();
    (void)choose();
  }
  auto file = open_file();
  make({.display_name = "bot"}, file.get());
  EXPECT_NE(join()["choice_commitment"], ack["choice_commitment"]);
}

TEST_F(CommitmentTest, ItsNotesAreWrittenBeforeTheAnswerLeaves) {
  auto file = open_file();
  make({.display_name = "bot"}, file.get());
  const auto ack = join();
  // Not flushed or closed: this is what a process that is killed now leaves.
  std::ifstream in(directory_.path() / "open.jsonl");
  std::string line;
  ASSERT_TRUE(std::getline(in, line));
  const auto note = open_match_from_json(json::parse(line));
  ASSERT_TRUE(note);
  EXPECT_EQ(note->commitment(), ack["choice_commitment"]);
}

TEST_F(CommitmentTest, PlaysWithoutACommitmentWhereItCannotBeKept) {
  auto file = OpenMatchFile::open({.file = directory_.path() / "open.jsonl"});
  ASSERT_TRUE(file);
  make({.display_name = "bot", .strategy = "even"}, file->get());
  {
    const FullDisk full;
    EXPECT_FALSE(join().contains("choice_commitment"));
  }
  const auto chosen = choose();
  EXPECT_FALSE(chosen.contains("choice_nonce"));
  EXPECT_FALSE(tell(right_end(chosen)).contains("error"));
}

TEST_F(CommitmentTest, ItsStateShowsNoChoiceBeforeTheEnd) {
  make("even");
  (void)join();
  (void)choose();
  const auto nonce = choose()["choice_nonce"].get<std::string>();
  const auto state = call("get_player_state", {{"auth_token", token_.reveal()}}).dump();
  EXPECT_EQ(state.find(nonce), std::string::npos);
  EXPECT_EQ(state.find("\"even\""), std::string::npos);
  EXPECT_NE(state.find("open_matches"), std::string::npos);
}

TEST_F(CommitmentTest, EachMisbehaviourSpoilsItsPart) {
  make("bad-commitment");
  EXPECT_FALSE(game::is_hex_256(join()["choice_commitment"].get<std::string>()));
  make("no-nonce");
  (void)join();
  EXPECT_FALSE(choose().contains("choice_nonce"));
  make("bad-nonce");
  auto ack = join();
  auto chosen = choose();
  EXPECT_TRUE(game::is_hex_256(chosen["choice_nonce"].get<std::string>()));
  EXPECT_NE(match_.commitment_of("P01", chosen["parity_choice"], chosen["choice_nonce"]),
            ack["choice_commitment"]);
  make("other-choice");
  ack = join();
  chosen = choose();
  const std::string other = chosen["parity_choice"] == "even" ? "odd" : "even";
  EXPECT_EQ(match_.commitment_of("P01", other, chosen["choice_nonce"]), ack["choice_commitment"]);
}

/// What the player disputes, as its program is told.
class DisputeTest : public CommitmentTest {
 protected:
  void make_player(OpenMatchFile* file = nullptr) {
    make({.display_name = "bot", .strategy = "even"}, file);
    service_->on_dispute([this](const DisputedMatch& match) { disputes_.push_back(match); });
  }

  std::vector<DisputedMatch> disputes_;
};

TEST_F(DisputeTest, AFalseEndIsRefusedAndDisputedAndDoesNotEndTheMatch) {
  make_player();
  (void)join();
  const auto chosen = choose();
  auto wrong = right_end(chosen);
  wrong["draw_proof"] = std::string(64, '1');
  const auto refused = tell(wrong)["error"];
  EXPECT_EQ(refused["code"], -32602);
  EXPECT_EQ(refused["data"]["error_code"], "E035");
  EXPECT_EQ(refused["data"]["field"], "/draw_proof");
  ASSERT_EQ(disputes_.size(), 1U);
  EXPECT_EQ(disputes_[0].match_id.str(), "R1M1");
  EXPECT_EQ(disputes_[0].opponent_id.str(), "P02");
  EXPECT_NE(disputes_[0].reason.find("/draw_proof: the revealed seed"), std::string::npos);
  EXPECT_TRUE(service_->history().matches().empty());
  wrong["choice_commitments"].erase("P01");
  EXPECT_EQ(tell(wrong)["error"]["data"]["error_code"], "E040");
  EXPECT_EQ(disputes_.size(), 1U) << "once per match";

  EXPECT_EQ(tell(right_end(chosen))["result"]["status"], "ok");
  EXPECT_EQ(service_->history().matches().size(), 1U);
  const auto state = call("get_player_state", {{"auth_token", token_.reveal()}})["result"];
  EXPECT_EQ(state["disputed"][0]["match_id"], "R1M1");
  EXPECT_EQ(state["stats"]["total_matches"], 1);
}

TEST_F(DisputeTest, TheAnnouncedSeedCounts) {
  make_player();
  auto announcement = match_.announcement();
  announcement["matches"][0]["draw_commitment"] = std::string(64, '9');
  announcement["matches"].push_back(announcement["matches"][0]);
  announcement["matches"][1]["player_A_id"] = "P03";  // of others
  announcement["matches"][1]["match_id"] = "R1M2";
  (void)join();
  const json chosen = choose();
  EXPECT_EQ(call("notify_round", authorised(announcement))["result"]["status"], "ok");
  EXPECT_EQ(tell(right_end(chosen))["error"]["data"]["field"], "/draw_proof")
      << "invited to another draw than was announced, before the announcement arrived";
  EXPECT_EQ(disputes_.size(), 1U);
}

TEST_F(DisputeTest, AnotherCommitmentOfTheOpponentIsDisputedAtOnce) {
  make_player();
  (void)join();
  const auto chosen = choose();
  const auto handed = match_.their_nonce;
  match_.their_nonce = std::string(64, 'e');
  EXPECT_EQ(choose(), chosen) << "it answers all the same";
  ASSERT_EQ(disputes_.size(), 1U);
  EXPECT_NE(disputes_[0].reason.find("handed over before"), std::string::npos);
  EXPECT_TRUE(tell(right_end(chosen)).contains("error"));
  match_.their_nonce = handed;
  EXPECT_FALSE(tell(right_end(chosen)).contains("error"));
}

TEST_F(DisputeTest, OfAMatchThatItWasNeverInvitedToItTakesWhatItCan) {
  make_player();
  EXPECT_EQ(tell(match_.technical("P02"))["result"]["status"], "ok");
  EXPECT_EQ(service_->history().tally().losses, 1);
  match_.match_id = "R2M1";
  EXPECT_EQ(tell(match_.game_over("odd", std::string(64, 'a')))["result"]["status"], "ok")
      << "perhaps this process is a younger one";
  // Where the match was announced, seed and number can be compared.
  match_.match_id = "R3M1";
  (void)call("notify_round", authorised(match_.announcement()));
  auto wrong = match_.game_over("odd", std::string(64, 'a'));
  wrong["draw_proof"] = std::string(64, '1');
  EXPECT_EQ(tell(wrong)["error"]["data"]["field"], "/draw_proof");
  EXPECT_EQ(disputes_.size(), 1U);
  // Of other people.
  match_.match_id = "R4M1";
  match_.self = "P07";
  EXPECT_EQ(tell(match_.technical("P02"))["result"]["status"], "ok");
  EXPECT_EQ(service_->history().matches().size(), 2U);
}

TEST_F(DisputeTest, IsWordedForJsonWhateverAStrangerSends) {
  make_player();
  (void)join();
  auto wrong = right_end(choose());
  wrong["game_result"]["choices"]["P02"] = "\u00e9\n" + std::string(30, 'x');
  EXPECT_TRUE(tell(wrong).contains("error"));
  ASSERT_EQ(disputes_.size(), 1U);
  EXPECT_LE(disputes_[0].reason.size(), 200U);
  EXPECT_NE(disputes_[0].reason.find("\u00e9"), std::string::npos) << "letters stay as they are";
  EXPECT_EQ(disputes_[0].reason.find('\n'), std::string::npos) << disputes_[0].reason;
}

}  // namespace
}  // namespace league::player::service
