#include <gtest/gtest.h>

#include <functional>

#include "common/envelope/codec.h"
#include "player/core/game_over.h"
#include "player/core/player_testing.h"

namespace league::player {
namespace {

using nlohmann::json;
using testing::ScriptedMatch;

const std::string kNonce(64, 'a');

/// What P01 knows of a match in which it chose `even` and was handed the opponent's commitment.
KnownMatch known_of(const ScriptedMatch& match, const std::optional<std::string>& nonce = kNonce) {
  KnownMatch known;
  known.notes = {.player_id = core::PlayerId(match.self),
                 .match_id = core::MatchId(match.match_id),
                 .game_type = "even_odd",
                 .opponent_id = core::PlayerId(match.opponent),
                 .draw_commitment = match.draw_commitment(),
                 .choice = "even",
                 .nonce = nonce.value_or(""),
                 .is_revealed = true,
                 .opponent_commitment = match.their_commitment()};
  known.was_invited = true;
  known.draw_commitment = match.draw_commitment();
  return known;
}

std::optional<core::Error> check(const KnownMatch& known, const json& message) {
  const auto decoded = envelope::decode<envelope::GameOver>(message);
  EXPECT_TRUE(decoded) << decoded.error().message;
  if (!decoded) return std::nullopt;
  return check_game_over(ScriptedMatch{}.rules, known, *decoded);
}

void expect_right(const KnownMatch& known, const json& message) {
  const auto fault = check(known, message);
  EXPECT_FALSE(fault) << fault->field << ": " << fault->message << "\n" << message.dump(1);
}

struct Falsehood {
  const char* name;
  std::function<void(json&)> tell;
  const char* code;
  const char* field;
};

const std::vector<Falsehood>& falsehoods() {
  static const std::vector<Falsehood> all = {
      {"another choice of ours", [](json& m) { m["game_result"]["choices"]["P01"] = "odd"; },
       "E040", "/game_result/choices"},
      {"another commitment of ours",
       [](json& m) { m["choice_commitments"]["P01"] = std::string(64, 'c'); }, "E040",
       "/choice_commitments"},
      {"no commitment of ours", [](json& m) { m["choice_commitments"].erase("P01"); }, "E040",
       "/choice_commitments"},
      {"another commitment of the opponent",
       [](json& m) { m["choice_commitments"]["P02"] = std::string(64, 'c'); }, "E040",
       "/choice_commitments"},
      {"no commitment of the opponent", [](json& m) { m["choice_commitments"].erase("P02"); },
       "E040", "/choice_commitments"},
      {"another nonce of ours", [](json& m) { m["choice_nonces"]["P01"] = std::string(64, 'd'); },
       "E040", "/choice_nonces"},
      {"no nonce of ours", [](json& m) { m["choice_nonces"].erase("P01"); }, "E040",
       "/choice_nonces"},
      {"another nonce of the opponent",
       [](json& m) { m["choice_nonces"]["P02"] = std::string(64, 'd'); }, "E040", "/choice_nonces"},
      {"another choice of the opponent",
       [](json& m) { m["game_result"]["choices"]["P02"] = "even"; }, "E040", "/choice_nonces"},
      {"another seed", [](json& m) { m["draw_proof"] = std::string(64, '1'); }, "E035",
       "/draw_proof"},
      {"no seed", [](json& m) { m.erase("draw_proof"); }, "E035", "/draw_proof"},
      {"the other version of the draw", [](json& m) { m["draw_version"] = 1; }, "E035",
       "/draw_version"},
      {"another number",
       [](json& m) {
         auto& number = m["game_result"]["drawn_number"];
         number = number.get<int>() > 2 ? number.get<int>() - 2 : number.get<int>() + 2;
       },
       "E035", "/game_result/drawn_number"},
      {"another kind of number",
       [](json& m) {
         auto& kind = m["game_result"]["number_parity"];
         kind = kind == "even" ? "odd" : "even";
       },
       "E035", "/game_result/number_parity"},
      {"another winner",
       [](json& m) {
         auto& winner = m["game_result"]["winner_player_id"];
         winner = winner == "P01" ? "P02" : "P01";
       },
       "E035", "/game_result/winner_player_id"},
      {"a winner from elsewhere", [](json& m) { m["game_result"]["winner_player_id"] = "P09"; },
       "E035", "/game_result/winner_player_id"},
      {"a draw with a winner", [](json& m) { m["game_result"]["status"] = "DRAW"; }, "E035",
       "/game_result/winner_player_id"},
      {"a win without a winner", [](json& m) { m["game_result"]["winner_player_id"] = nullptr; },
       "E035", "/game_result/winner_player_id"},
      {"a draw that was none",
       [](json& m) {
         m["game_result"]["status"] = "DRAW";
         m["game_result"]["winner_player_id"] = nullptr;
       },
       "E035", "/game_result/winner_player_id"},
      {"a third player", [](json& m) { m["game_result"]["choices"]["P09"] = "even"; }, "E035",
       "/game_result/choices"},
      {"another game", [](json& m) { m["game_type"] = "chess"; }, "E035", "/game_type"},
      {"a technical loss with a number",
       [](json& m) { m["game_result"]["status"] = "TECHNICAL_LOSS"; }, "E035",
       "/game_result/drawn_number"},
  };
  return all;
}

TEST(CheckGameOver, TakesWhatIsRight) {
  ScriptedMatch match;
  expect_right(known_of(match), match.game_over("even", kNonce));
}

TEST(CheckGameOver, FindsEachFalsehood) {
  const ScriptedMatch match;
  const KnownMatch known = known_of(match);
  for (const Falsehood& falsehood : falsehoods()) {
    auto message = match.game_over("even", kNonce);
    falsehood.tell(message);
    const auto fault = check(known, message);
    ASSERT_TRUE(fault) << falsehood.name;
    EXPECT_EQ(core::wire_code(fault->code), falsehood.code) << falsehood.name;
    EXPECT_EQ(fault->field, falsehood.field) << falsehood.name << ": " << fault->message;
    EXPECT_LT(fault->message.size(), 200U) << falsehood.name;
  }
}

TEST(CheckGameOver, AGuestJudgesNoOtherLeaguesRules) {
  const ScriptedMatch match;
  KnownMatch known = known_of(match);
  known.is_guest = true;
  json message = match.game_over("even", kNonce);
  message["game_result"]["drawn_number"] = 77;
  message["game_type"] = "another_game";
  expect_right(known, message);
  message["game_result"]["choices"]["P01"] = "odd";
  EXPECT_TRUE(check(known, message)) << "but it knows what it said";
}

TEST(CheckGameOver, ACommitmentThatAppearsOnlyThereIsFalse) {
  const ScriptedMatch match;
  KnownMatch known = known_of(match);
  known.notes.opponent_commitment = std::nullopt;  // handed over: none
  const auto fault = check(known, match.game_over("even", kNonce));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->field, "/choice_commitments");
  EXPECT_NE(fault->message.find("never handed over"), std::string::npos);
}

TEST(CheckGameOver, AChoiceThatWasNeverMadeIsFalse) {
  const ScriptedMatch match;
  KnownMatch known = known_of(match);
  known.notes.is_revealed = false;
  const auto fault = check(known, match.game_over("even", kNonce));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->field, "/game_result/choices");
}

TEST(CheckGameOver, ACommitmentOfOursThatWeNeverGaveIsFalse) {
  const ScriptedMatch match;
  EXPECT_TRUE(check(known_of(match, std::nullopt), match.game_over("even", kNonce)));
}

TEST(CheckGameOver, TakesMatchesThatOneOrNobodyHasBound) {
  ScriptedMatch match;
  expect_right(known_of(match, std::nullopt), match.game_over("even", std::nullopt));
  match.their_nonce.reset();
  expect_right(known_of(match), match.game_over("even", kNonce));
  expect_right(known_of(match, std::nullopt), match.game_over("even", std::nullopt));
}

TEST(CheckGameOver, TheAnnouncedSeedIsTheOneThatCounts) {
  const ScriptedMatch match;
  KnownMatch known = known_of(match);
  known.draw_commitment = std::string(64, '9');
  const auto fault = check(known, match.game_over("even", kNonce));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->field, "/draw_proof");
}

TEST(CheckGameOver, TakesTechnicalLosses) {
  const ScriptedMatch match;
  KnownMatch known = known_of(match);
  expect_right(known, match.technical("P02"));
  expect_right(known, match.technical("P01"));
  // The other one failed after we had answered.
  auto late = match.technical("P01");
  late["game_result"]["choices"]["P01"] = "even";
  late["choice_commitments"] = {{"P01", *known.notes.commitment()},
                                {"P02", *match.their_commitment()}};
  late["choice_nonces"] = {{"P01", kNonce}};
  late["draw_version"] = 2;
  expect_right(known, late);
  late.erase("draw_proof");  // nothing was drawn
  expect_right(known, late);
  late["choice_commitments"]["P02"] = std::string(64, 'c');
  EXPECT_TRUE(check(known, late)) << "another commitment than was handed over";
}

TEST(CheckGameOver, ATechnicalLossInAReplayMayNameTheCommitmentOfThePlayBefore) {
  const ScriptedMatch match;
  KnownMatch known = known_of(match);
  auto message = match.technical("P02");
  message["choice_commitments"]["P01"] = *known.notes.commitment();
  message["draw_version"] = 2;
  known.notes.earlier_commitment = known.notes.commitment();
  known.notes.nonce = std::string(64, 'e');
  known.notes.is_revealed = false;
  known.notes.opponent_commitment = std::nullopt;
  expect_right(known, message);
  known.notes.earlier_commitment = std::nullopt;
  EXPECT_TRUE(check(known, message));
}

TEST(CheckGameOver, WhereNoSeedWasPromisedWhatIsLeftOutIsNotFalse) {
  ScriptedMatch match;
  match.their_nonce.reset();
  KnownMatch known = known_of(match, std::nullopt);
  known.draw_commitment = std::nullopt;
  known.notes.draw_commitment = "";
  auto message = match.game_over("even", std::nullopt);
  message.erase("draw_version");
  expect_right(known, message);
  message.erase("draw_proof");
  expect_right(known, message);
  auto wrong = message;
  wrong["game_result"]["winner_player_id"] =
      "P01" == wrong["game_result"]["winner_player_id"] ? "P02" : "P01";
  EXPECT_TRUE(check(known, wrong)) << "the winner follows from number and choices all the same";
  message["game_result"]["choices"] = json::object();
  expect_right(known, message);
  message["game_result"]["choices"] = {{"P01", "odd"}};
  EXPECT_TRUE(check(known, message)) << "we chose even";
}

TEST(CheckGameOver, OfAMatchThatWasOnlyAnnouncedItComparesSeedNumberAndWinner) {
  const ScriptedMatch match;
  KnownMatch known = known_of(match);
  known.was_invited = false;
  known.notes.choice = known.notes.nonce = "";
  known.notes.is_revealed = false;
  known.notes.opponent_commitment = std::nullopt;
  expect_right(known, match.game_over("odd", kNonce));
  auto message = match.game_over("odd", kNonce);
  message["draw_proof"] = std::string(64, '1');
  EXPECT_TRUE(check(known, message));
}

}  // namespace
}  // namespace league::player
