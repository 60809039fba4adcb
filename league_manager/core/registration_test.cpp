#include "league_manager/core/registration.h"

#include <gtest/gtest.h>

#include "league_manager/core/league_testing.h"

namespace league::league_manager {
namespace {

using core::ErrorCode;
using testing::at;
using testing::PlayedLeague;
using testing::player;
using testing::profile;
using testing::referee;
using testing::settings;

ErrorCode refusal(const core::Result<RegistrationDecision>& decision) {
  EXPECT_FALSE(decision) << "was accepted";
  return decision ? ErrorCode::kInternalError : decision.error().code;
}

TEST(Registration, GivesIdsInOrder) {
  PlayedLeague played(settings(3, 2));
  EXPECT_EQ(played.enter(player("a", 1))->agent.id(), "P01");
  EXPECT_EQ(played.enter(referee("r", 2))->agent.id(), "REF01");
  EXPECT_EQ(played.enter(player("b", 3))->agent.id(), "P02");
  EXPECT_EQ(played.enter(referee("s", 4))->agent.id(), "REF02");
  const events::Agent& agent = played.league.roster().agent(events::AgentRef::player(1));
  EXPECT_EQ(agent.credential, (events::Credential{"n", "hash-P02-n"}));
  EXPECT_EQ(agent.lifecycle.state(), events::AgentState::kRegistered);
}

TEST(Registration, RefusesTooManyAgents) {
  PlayedLeague played(settings(2, 1));
  ASSERT_TRUE(played.enter(player("a", 1)));
  ASSERT_TRUE(played.enter(player("b", 2)));
  EXPECT_EQ(refusal(played.enter(player("c", 3))), ErrorCode::kLeagueFull);
  ASSERT_TRUE(played.enter(referee("r", 4)));
  EXPECT_EQ(refusal(played.enter(referee("s", 5))), ErrorCode::kLeagueFull);
}

TEST(Registration, ChecksTheProfile) {
  PlayedLeague played(settings(2, 1));
  auto request = player("a", 1);
  request.profile.protocol_version = "3.0.0";
  EXPECT_EQ(refusal(played.enter(request)), ErrorCode::kProtocolVersionMismatch);
  request.profile.protocol_version = "2.1.0";
  request.profile.game_types = {"chess"};
  EXPECT_EQ(refusal(played.enter(request)), ErrorCode::kGameTypeNotSupported);
  request.profile.game_types = {"chess", "even_odd"};
  request.profile.display_name = "";
  EXPECT_EQ(refusal(played.enter(request)), ErrorCode::kInvalidFieldValue);
  request.profile.display_name = std::string(51, 'x');
  EXPECT_EQ(refusal(played.enter(request)), ErrorCode::kInvalidFieldValue);
  request.profile.display_name.clear();
  for (int i = 0; i < 50; ++i)
    request.profile.display_name += "\u00e9";  // 50 characters in 100 bytes
  EXPECT_TRUE(played.enter(request));
  auto lazy = referee("r", 2);
  lazy.profile.max_concurrent_matches = 0;
  EXPECT_EQ(refusal(played.enter(lazy)), ErrorCode::kInvalidFieldValue);
}

RegistrationRequest person(const std::string& name) {
  RegistrationRequest request = player(name, 1);
  request.profile.endpoint = "outward";
  request.profile.played_by = "person";
  return request;
}

TEST(Registration, AdmitsAsManyPeopleAsTheOperatorAllowsAndOnlyToSeats) {
  auto limited = settings(5, 1);
  limited.people = 2;
  PlayedLeague played(limited);
  auto at_home = player("Ada", 1);
  at_home.profile.played_by = "person";
  EXPECT_EQ(refusal(played.enter(at_home)), ErrorCode::kInvalidFieldValue);
  ASSERT_TRUE(played.enter(person("Ada")));
  auto chat = person("chat");
  chat.profile.played_by = "host";
  ASSERT_TRUE(played.enter(chat));
  EXPECT_EQ(played.league.roster().people(), 2);
  const auto refused = played.enter(person("Eve"));
  EXPECT_EQ(refusal(refused), ErrorCode::kLeagueFull);
  EXPECT_EQ(refused.error().field, "/player_meta/played_by");
  EXPECT_TRUE(played.enter(player("bot", 4))) << "the limit is for people";
  played.take(*played.league.decide_shut_down(events::AgentRef::player(1), events::kReasonWithdrawn,
                                              "", at(1)));
  EXPECT_TRUE(played.enter(person("Eve"), "m")) << "who leaves makes room";

  limited.people = 0;
  EXPECT_EQ(refusal(PlayedLeague(limited).enter(person("Ada"))), ErrorCode::kLeagueFull);
}

TEST(Registration, WhoPlaysIsSaidOnce) {
  PlayedLeague played(settings(3, 1));
  ASSERT_TRUE(played.enter(person("Ada"), "n1"));
  auto back = person("Ada");
  back.profile.played_by.clear();
  back.token_hash = "hash-P01-n1";
  ASSERT_TRUE(played.enter(back));
  EXPECT_TRUE(played.league.roster().is_person(0)) << "a program that it hands its token to";
  back.profile.endpoint = "http://localhost:8301/mcp";
  ASSERT_TRUE(played.enter(back));
  EXPECT_TRUE(played.league.roster().is_person(0)) << "nor by leaving its seat";
  auto bot = player("bot", 7);
  bot.profile.endpoint = "outward";
  ASSERT_TRUE(played.enter(bot, "n2"));
  bot.profile.played_by = "person";
  bot.token_hash = "hash-P02-n2";
  ASSERT_TRUE(played.enter(bot));
  EXPECT_FALSE(played.league.roster().is_person(1)) << "it gets no more time in the league";
  EXPECT_EQ(played.league.roster().people(), 1);
}

TEST(Registration, StoresNamesInFormCAndRefusesWhatBreaksLines) {
  PlayedLeague played(settings(3, 1));
  ASSERT_TRUE(played.enter(player("Jose\u0301", 1)));
  EXPECT_EQ(played.league.roster().agent(events::AgentRef::player(0)).profile.display_name,
            "Jos\u00e9");
  EXPECT_EQ(refusal(played.enter(player("JOS\u00c9", 2))), ErrorCode::kDuplicateRegistration);
  for (const std::string& name :
       {std::string("a\0b", 3), std::string("a\r\nInjected: x"), std::string("P07")}) {
    auto refused = played.enter(player(name, 2));
    EXPECT_EQ(refusal(refused), ErrorCode::kInvalidFieldValue);
    EXPECT_EQ(refused.error().field, "/player_meta/display_name");
  }
}

TEST(Registration, AFreedSeatGoesToTheNextNewAgent) {
  PlayedLeague played(settings(3, 1));
  auto first = player("a", 1);
  first.profile.code_digest = "digest";
  ASSERT_TRUE(played.enter(first));
  ASSERT_TRUE(played.enter(player("b", 2)));
  ASSERT_TRUE(played.enter(referee("r", 4)));
  const auto free = [&](events::AgentRef agent) {
    auto events = played.league.decide_shut_down(agent, events::kReasonWithdrawn, "", at(1));
    ASSERT_TRUE(events) << events.error().message;
    played.take(*events);
  };
  free(events::AgentRef::player(0));
  EXPECT_FALSE(played.league.roster().find("P01"));
  EXPECT_EQ(played.league.status().players, 1);
  EXPECT_EQ(played.league.table().size(), 1U);
  EXPECT_FALSE(played.league.decide_shut_down(events::AgentRef::player(0), "", "", at(1)));
  auto back = first;
  back.token_hash = "hash-P01-n";
  EXPECT_EQ(refusal(played.enter(back)), ErrorCode::kAuthTokenInvalid) << "its token is void";
  ASSERT_TRUE(played.enter(player("c", 3)));
  EXPECT_EQ(played.league.roster().find_by_name(events::AgentKind::kPlayer, "c")->id(), "P01");
  EXPECT_EQ(played.enter(first)->agent.id(), "P03") << "name, address and code were free";
  played.step();
  EXPECT_EQ(played.league.state(), LeagueState::kRunning);
}

TEST(Registration, AcceptsVersionsFromTwoToBelowThree) {
  for (const char* version : {"2.0.0", "2.1.0", "2.99.7", "2.1.0-rc1", "2.0.1-beta"}) {
    EXPECT_TRUE(speaks_our_protocol(version)) << version;
  }
  for (const char* version : {"1.9.9", "3.0.0", "20.0.0", "2.0.0-rc1", "", "v2.1.0", "two", "2x"}) {
    EXPECT_FALSE(speaks_our_protocol(version)) << version;
  }
}

TEST(Registration, RefusesAnEndpointThatIsTaken) {
  PlayedLeague played(settings(3, 1));
  ASSERT_TRUE(played.enter(player("a", 1)));
  EXPECT_EQ(refusal(played.enter(player("b", 1))), ErrorCode::kDuplicateRegistration);
  EXPECT_EQ(refusal(played.enter(referee("a", 1))), ErrorCode::kDuplicateRegistration);
}

TEST(Registration, KnowsAnAddressInEverySpelling) {
  PlayedLeague played(settings(3, 1));
  ASSERT_TRUE(played.enter(player("a", 1)));
  for (const char* spelling : {"http://localhost:1/mcp", "HTTP://127.0.0.1:1/mcp/",
                               "http://[::1]:1/mcp", "http://[::ffff:127.0.0.1]:1/mcp"}) {
    auto thief = player("b", 2);
    thief.profile.endpoint = spelling;
    EXPECT_EQ(refusal(played.enter(thief)), ErrorCode::kDuplicateRegistration) << spelling;
  }
  auto other_path = player("b", 2);
  other_path.profile.endpoint = "http://127.0.0.1:1/other";
  EXPECT_EQ(played.enter(other_path)->agent.id(), "P02");
}

TEST(Registration, GivesANameOnceAmongPlayersAndOnceAmongReferees) {
  PlayedLeague played(settings(3, 1));
  ASSERT_TRUE(played.enter(player("Alpha", 1)));
  for (const char* same : {"Alpha", "alpha", " ALPHA\u00a0"}) {
    auto refused = played.enter(player(same, 2));
    EXPECT_EQ(refusal(refused), ErrorCode::kDuplicateRegistration) << same;
    EXPECT_NE(refused.error().message.find("P01"), std::string::npos);
  }
  EXPECT_EQ(played.enter(referee("alpha", 3))->agent.id(), "REF01");
  EXPECT_EQ(played.enter(player("beta", 2))->agent.id(), "P02");
}

TEST(Registration, NobodyTakesANameByComingBack) {
  PlayedLeague played(settings(2, 1));
  ASSERT_TRUE(played.enter(player("a", 1)));
  ASSERT_TRUE(played.enter(player("b", 2)));
  auto back = player("A ", 2);
  back.token_hash = "hash-P02-n";
  EXPECT_EQ(refusal(played.enter(back)), ErrorCode::kDuplicateRegistration);
  back.profile.display_name = "B";
  EXPECT_TRUE(played.enter(back)) << "its own in another spelling";
  back.profile.display_name = "c";
  EXPECT_TRUE(played.enter(back));
  auto next = player("b", 2);
  next.token_hash = "hash-P02-n";
  EXPECT_TRUE(played.enter(next)) << "and the old name is free again";
}

TEST(Registration, TakesInNobodyWhoIsNotAdmittedButKnowsItsOwn) {
  PlayedLeague played(settings(3, 1));
  ASSERT_TRUE(played.enter(player("a", 1)));
  auto stranger = player("b", 2);
  stranger.not_admitted = core::Error{ErrorCode::kNotAuthorized, "no code", ""};
  EXPECT_EQ(refusal(played.enter(stranger)), ErrorCode::kNotAuthorized);
  auto takeover = player("a", 1);  // open mode gives this one a new token
  takeover.not_admitted = stranger.not_admitted;
  EXPECT_EQ(refusal(played.enter(takeover)), ErrorCode::kNotAuthorized);
  takeover.token_hash = "hash-P01-n";
  EXPECT_EQ(played.enter(takeover)->agent.id(), "P01") << "who was admitted before comes back";
  takeover.profile.display_name = "c";
  EXPECT_EQ(refusal(played.enter(takeover)), ErrorCode::kNotAuthorized)
      << "a code is good for one name";
}

RegistrationRequest with_code(const std::string& name, int port, const std::string& digest) {
  auto request = player(name, port);
  request.profile.code_digest = digest;
  return request;
}

TEST(Registration, ACodeIsGoodForOneSeat) {
  PlayedLeague played(settings(4, 1));
  ASSERT_TRUE(played.enter(with_code("a", 1, "code A"), "first"));
  auto refused = played.enter(with_code("a", 2, "code A"));
  EXPECT_EQ(refusal(refused), ErrorCode::kDuplicateRegistration);
  EXPECT_NE(refused.error().message.find("P01"), std::string::npos);
  EXPECT_EQ(refusal(played.enter(with_code("renamed", 2, "code A"))),
            ErrorCode::kDuplicateRegistration)
      << "also when the operator has renamed it";
  EXPECT_EQ(played.enter(with_code("a", 1, "code A"), "second")->agent.id(), "P01")
      << "the same one at its old address";
  EXPECT_EQ(played.enter(with_code("b", 3, "code B"))->agent.id(), "P02");
  EXPECT_EQ(refusal(played.enter(with_code("b", 1, "code B"))), ErrorCode::kDuplicateRegistration);
  EXPECT_EQ(refusal(played.enter(with_code("c", 1, "code C"))), ErrorCode::kDuplicateRegistration)
      << "another's address";
}

TEST(Registration, ASeatKeepsTheNameAndTheCodeThatTheOperatorGaveIt) {
  PlayedLeague played(settings(3, 1));
  ASSERT_TRUE(played.enter(with_code("Ann", 1, "code A")));
  ASSERT_TRUE(played.enter(with_code("Bob", 2, "code B")));
  auto back = player("my bot", 7);
  back.token_hash = "hash-P01-n";
  back.not_admitted = core::Error{ErrorCode::kNotAuthorized, "no code", ""};
  EXPECT_EQ(played.enter(back)->agent.id(), "P01") << "with its token it needs no code";
  back.not_admitted.reset();
  back.profile.display_name = "Bob";
  back.profile.code_digest = "code B";
  EXPECT_EQ(played.enter(back)->agent.id(), "P01");
  const events::AgentProfile& profile =
      played.league.roster().agent(events::AgentRef::player(0)).profile;
  EXPECT_EQ(profile.display_name, "Ann");
  EXPECT_EQ(profile.code_digest, "code A");
  EXPECT_EQ(profile.endpoint, back.profile.endpoint);
}

TEST(Registration, ASeatOfBeforeTheCodesTakesNoOthersCode) {
  PlayedLeague played(settings(3, 1));
  ASSERT_TRUE(played.enter(player("a", 1)));
  ASSERT_TRUE(played.enter(with_code("b", 2, "code B")));
  auto back = with_code("b", 1, "code B");
  back.token_hash = "hash-P01-n";
  EXPECT_EQ(refusal(played.enter(back)), ErrorCode::kDuplicateRegistration);
  back.profile.display_name = "a";
  back.profile.code_digest = "code A";
  EXPECT_TRUE(played.enter(back));
  EXPECT_EQ(refusal(played.enter(with_code("a", 5, "code A"))), ErrorCode::kDuplicateRegistration);
}

TEST(Registration, TheOperatorGivesASeatANewToken) {
  PlayedLeague played(settings(2, 1));
  auto first = player("p", 1);
  first.registration_nonce = "5f3c";
  ASSERT_TRUE(played.enter(first));
  ASSERT_TRUE(played.enter(player("q", 2)));
  ASSERT_TRUE(played.enter(referee("r", 3)));
  played.step();
  played.take(
      decide_new_token(played.league.roster(), events::AgentRef::player(0),
                       {testing::at(1), "m", [](const std::string& id, const std::string& nonce) {
                          return "hash-" + id + "-" + nonce;
                        }}));
  auto back = player("p", 777);
  back.token_hash = "hash-P01-n";
  EXPECT_EQ(refusal(played.enter(back)), ErrorCode::kAuthTokenInvalid) << "the old one is void";
  EXPECT_EQ(refusal(played.enter(first)), ErrorCode::kLateRegistration)
      << "nor does the old nonce fetch the new token";
  back.token_hash = "hash-P01-m";
  back.registration_nonce = "77aa";  // the first one after that is bound
  EXPECT_EQ(played.enter(back)->agent.id(), "P01");
  EXPECT_EQ(played.league.roster().agent(events::AgentRef::player(0)).profile.endpoint,
            back.profile.endpoint);
}

TEST(Registration, GivesTheSameEndpointAndNameANewTokenInOpenMode) {
  PlayedLeague played(settings(2, 1));
  ASSERT_TRUE(played.enter(player("a", 1), "first"));
  auto again = played.enter(player("a", 1), "second");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->agent.id(), "P01");
  EXPECT_EQ(again->token_nonce, "second");
  EXPECT_EQ(again->recognised_by, events::Recognition::kEndpointAndName);
  EXPECT_EQ(played.league.roster().find_by_token_hash("hash-P01-first"), std::nullopt)
      << "the old token is void";
  EXPECT_EQ(played.league.roster().find_by_token_hash("hash-P01-second"),
            events::AgentRef::player(0));
}

TEST(Registration, DoesNotDoSoInStrictModeOrAfterTheStart) {
  auto strict = settings(2, 1);
  strict.open_mode = false;
  PlayedLeague played(strict);
  ASSERT_TRUE(played.enter(player("a", 1)));
  EXPECT_EQ(refusal(played.enter(player("a", 1))), ErrorCode::kDuplicateRegistration);
  PlayedLeague started(settings(2, 1));
  started.enter_all(1);
  started.step();
  EXPECT_EQ(refusal(started.enter(player("p0", 10000))), ErrorCode::kLateRegistration);
}

TEST(Registration, RefusesLateAgents) {
  PlayedLeague played(settings(2, 1));
  played.enter_all(1);
  played.step();
  EXPECT_EQ(refusal(played.enter(player("late", 1))), ErrorCode::kLateRegistration);
  EXPECT_EQ(refusal(played.enter(referee("late", 1))), ErrorCode::kLateRegistration);
}

TEST(Registration, KnowsAnAgentByItsTokenEvenAtAnotherAddress) {
  PlayedLeague played(settings(2, 1));
  played.enter_all(1);
  played.step();
  auto request = player("p0 moved", 777);
  request.token_hash = "hash-P01-n";
  played.report(0, testing::report_of(played.league, {1, 1}, 0));
  auto decision = played.enter(request, "unused");
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->agent.id(), "P01");
  EXPECT_EQ(decision->token_nonce, "n") << "keeps its token";
  EXPECT_TRUE(decision->ignored.empty());
  EXPECT_EQ(played.league.roster().find_by_endpoint(request.profile.endpoint),
            events::AgentRef::player(0));
  EXPECT_EQ(played.league.roster().find_by_endpoint(profile("", 10000).endpoint), std::nullopt);
  EXPECT_TRUE(played.enter(request)->events.empty()) << "nothing new the second time";
}

TEST(Registration, DoesNotLetATokenTakeTheAddressOfAnotherAgent) {
  PlayedLeague played(settings(2, 1));
  played.enter_all(1);
  auto request = player("p0", 10001);
  request.token_hash = "hash-P01-n";
  EXPECT_EQ(refusal(played.enter(request)), ErrorCode::kDuplicateRegistration);
}

TEST(Registration, RefusesATokenOfNobodyAndOfTheOtherKind) {
  PlayedLeague played(settings(3, 1));
  auto request = player("a", 1);
  request.token_hash = "from an earlier league";
  EXPECT_EQ(refusal(played.enter(request)), ErrorCode::kAuthTokenInvalid);
  ASSERT_TRUE(played.enter(referee("r", 2)));
  auto thief = player("b", 3);
  thief.token_hash = "hash-REF01-n";
  EXPECT_EQ(refusal(played.enter(thief)), ErrorCode::kAuthTokenInvalid);
  EXPECT_EQ(played.league.roster().count(events::AgentKind::kPlayer), 0);
}

TEST(Registration, AnswersARepeatedNonceTheSame) {
  PlayedLeague played(settings(2, 1));
  auto request = player("a", 1);
  request.registration_nonce = "5f3c";
  auto first = played.enter(request, "first");
  auto again = played.enter(request, "second");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->agent, first->agent);
  EXPECT_EQ(again->token_nonce, "first");
  EXPECT_TRUE(again->events.empty());
  EXPECT_EQ(testing::dump(played.league).find("5f3c"), std::string::npos)
      << "only its hash is kept";
}

TEST(Registration, RefusesTheNonceOfAnotherAddress) {
  PlayedLeague played(settings(2, 1));
  auto request = player("a", 1);
  request.registration_nonce = "5f3c";
  ASSERT_TRUE(played.enter(request));
  request.profile.endpoint = profile("", 2).endpoint;
  EXPECT_EQ(refusal(played.enter(request)), ErrorCode::kDuplicateRegistration);
}

TEST(Registration, BringsASuspendedRefereeBackToWork) {
  PlayedLeague played(settings(2, 1));
  played.enter_all(1);
  played.step();
  played.take(played.league.decide_referee_lost(0, testing::at(1)));
  ASSERT_EQ(played.league.board().with_status(MatchStatus::kPending).size(), 1u);
  auto request = referee("r0", 9000);
  request.token_hash = "hash-REF01-n";
  ASSERT_TRUE(played.enter(request));
  EXPECT_EQ(played.league.board().slot({1, 1}).attempts, 2);
  EXPECT_EQ(played.league.board().slot({1, 1}).status, MatchStatus::kAssigned);
}

}  // namespace
}  // namespace league::league_manager
