#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "common/envelope/codec.h"
#include "common/envelope/envelope_testing.h"
#include "common/envelope/leniency.h"
#include "common/envelope/read_message.h"

namespace league::envelope {
namespace {

using nlohmann::json;

json random_value() {
  static const std::vector<json> kValues = {nullptr,
                                            true,
                                            0,
                                            -1,
                                            1e300,
                                            5000000000LL,
                                            "",
                                            "R1",
                                            "even",
                                            "2025-02-30T10:30:00Z",
                                            std::string(30000, 'a'),
                                            std::string("\x01\xff", 2),
                                            json::array(),
                                            json::object(),
                                            json::array({json::object(), nullptr, 7}),
                                            json{{"P01", nullptr}},
                                            json{{"a/b~c", json::array()}}};
  return kValues[*rc::gen::inRange<std::size_t>(0, kValues.size())];
}

/// Changes, removes or renames something at a random place.
void mutate(json& value) {
  if (value.is_structured() && !value.empty() && *rc::gen::inRange(0, 4) != 0) {
    auto it = value.begin();
    std::advance(it,
                 *rc::gen::inRange<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(value.size())));
    if (*rc::gen::inRange(0, 5) == 0) {
      value.erase(it);
    } else {
      mutate(*it);
    }
    return;
  }
  if (value.is_object()) {
    for (const char* name : {"accepted", "choice", "status", "games_played", "standings"}) {
      if (*rc::gen::inRange(0, 3) == 0) value[name] = random_value();
    }
    return;
  }
  value = random_value();
}

template <typename Message>
void read(const json& wire) {
  auto message = decode<Message>(wire);
  if (!message) RC_ASSERT(!message.error().message.empty());
}

template <typename... Messages>
void read_as_each(const json& wire, MessageList<Messages...> /*unused*/) {
  (read<Messages>(wire), ...);
}

void read_as_everything(const json& wire) {
  auto envelope = decode_envelope(wire);
  if (!envelope) RC_ASSERT(!envelope.error().message.empty());
  read_as_each(wire, AllMessages{});
  read<RoundAssignment>(wire);
}

TEST(Mutation, NothingThatAPeerSendsEndsTheProcess) {
  auto all = testing::all_golden();
  EXPECT_TRUE(rc::check("validate, normalise and decode answer every mutation", [&] {
    auto it = all.begin();
    std::advance(it, *rc::gen::inRange<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(all.size())));
    json wire = it->second;
    MessageType type = *MessageSchemas::type_of(wire);
    int changes = *rc::gen::inRange(1, 5);
    for (int i = 0; i < changes; ++i) mutate(wire);
    Leniencies taken;
    auto mode = *rc::gen::element(Mode::kOpen, Mode::kStrict);
    auto normal = normalise(wire, type, mode, {.now = {}, .sender = "player:P01"}, taken);
    auto verdict = testing::schemas().validate(type, wire);
    if (!verdict) {
      RC_ASSERT(!verdict.error().message.empty());
      RC_ASSERT(verdict.error().message.size() < 1000U);
    }
    read_as_everything(wire);
    (void)normal;
  }));
}

/// Whether `wire` is exact; then the tolerant path must find nothing to rewrite in it and read the
/// same.
template <typename Message>
bool reads_the_same(const json& wire) {
  const schema::JsonTree tree(wire);
  const auto exact = read_exact<Message>(testing::schemas(), tree.root());
  if (!exact) return false;
  for (Mode mode : {Mode::kOpen, Mode::kStrict}) {
    json normal = wire;
    Leniencies taken;
    const auto done =
        normalise(normal, Message::kType, mode, {.now = {}, .sender = "player:P01"}, taken);
    RC_ASSERT(done && taken.empty() && normal == wire);
    const auto read = envelope::read<Message>(testing::schemas(), normal);
    RC_ASSERT(static_cast<bool>(read));
    RC_ASSERT(encode(exact->envelope, exact->message) == encode(read->envelope, read->message));
  }
  return true;
}

bool reads_the_same(MessageType type, const json& wire) {
  bool is_exact = false;
  const auto as = [&]<typename... Messages>() {
    ((is_exact = is_exact || (type == Messages::kType && reads_the_same<Messages>(wire))), ...);
  };
  as.operator()<RefereeRegisterRequest, RefereeRegisterResponse, LeagueRegisterRequest,
                LeagueRegisterResponse, RoundAnnouncement, GameInvitation, GameJoinAck,
                ChooseParityCall, ChooseParityResponse, GameOver, MatchResultReport,
                LeagueStandingsUpdate, RoundCompleted, LeagueCompleted, LeagueQuery,
                LeagueQueryResponse, LeagueError, GameError>();
  return is_exact;
}

TEST(Mutation, TheExactPathMeansWhatTheTolerantOneDoes) {
  auto all = testing::all_golden();
  int exact = 0;
  EXPECT_TRUE(rc::check("what is exact needs no normalising", [&] {
    auto it = all.begin();
    std::advance(it, *rc::gen::inRange<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(all.size())));
    json wire = it->second;
    MessageType type = *MessageSchemas::type_of(wire);
    if (*rc::gen::inRange(0, 4) != 0) mutate(wire);
    if (reads_the_same(type, wire)) ++exact;
  }));
  EXPECT_GT(exact, 10);
}

TEST(Mutation, AReportThatIsRewrittenForItsValuesAloneIsNotExact) {
  const json wire = testing::golden("match_result_report");
  ASSERT_TRUE(reads_the_same(MessageType::kMatchResultReport, wire));
  for (const char* change : {R"({"result":{"details":{"drawn_number":0}}})",
                             R"({"result":{"details":{"drawn_number":0.0}}})",
                             R"({"result":{"details":{"termination":null}}})"}) {
    json other = wire;
    other.merge_patch(json::parse(change));
    EXPECT_FALSE(reads_the_same(MessageType::kMatchResultReport, other)) << change;
  }
}

TEST(Mutation, EveryGoldenMessageIsExactButForRegistrations) {
  for (const auto& [name, wire] : testing::all_golden()) {
    const MessageType type = *MessageSchemas::type_of(wire);
    // Versions and addresses are left to regular expressions.
    const bool is_registration =
        type == MessageType::kRefereeRegisterRequest || type == MessageType::kLeagueRegisterRequest;
    EXPECT_EQ(reads_the_same(type, wire), !is_registration) << name;
  }
}

}  // namespace
}  // namespace league::envelope
