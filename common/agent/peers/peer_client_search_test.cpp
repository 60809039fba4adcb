// How PeerClient finds the dialect of a peer.
#include "common/agent/peers/peer_client_testing.h"
#include "common/rpc/dialect_search.h"

namespace league::agent::peers {
namespace {

using core::ErrorCode;
using nlohmann::json;

TEST_F(PeerClientTest, SearchesForThePeersNameOfAMessageAndRemembersIt) {
  for (const char* name :
       {"GAME_INVITATION", "game_invitation", "receive_game_invitation", "handle_message"}) {
    client_.reset();
    caller_.frames.clear();
    caller_.answer = knows(name, {{"accept", true}}, kNotFound);
    EXPECT_FALSE(ask(kInvite).error) << name;
    const auto tried = caller_.frames.size();
    EXPECT_GT(tried, 1U);
    EXPECT_NE(caller_.frames[0]["id"], caller_.frames[1]["id"]);
    EXPECT_TRUE(caller_.frames.back()["id"].is_number_integer());
    EXPECT_FALSE(ask(kInvite).error);
    EXPECT_EQ(caller_.frames.size(), tried + 1);
  }
}

TEST_F(PeerClientTest, FindsToolsThatAreUnknownByText) {
  const json unknown = {{"code", -32603}, {"message", "Unknown tool"}};
  caller_.answer = [&](const json& frame) {
    auto known = knows("receive_game_invitation", {{"accept", true}}, unknown);
    return frame.value("method", json()) == "tools/call" ? known(frame)
                                                         : knows("", {}, unknown)(frame);
  };
  EXPECT_FALSE(ask(kInvite).error);
  EXPECT_EQ(client_->style_of(endpoint_), dialects::CallStyle::kToolsCall);
  EXPECT_EQ(caller_.frames.back()["params"]["name"], "receive_game_invitation");
}

TEST_F(PeerClientTest, BeginsWithTheStyleInWhichThePeerSpoke) {
  client_ = std::make_unique<PeerClient>(caller_, envelope::testing::schemas(), time_, mode_);
  client_->on_registered(endpoint_, dialects::CallStyle::kHandleMessage);
  caller_.answer = knows("handle_message", {{"accept", true}},
                         {{"code", -32000}, {"message", "Missing required fields: message"}});
  EXPECT_FALSE(ask(kInvite).error);
  EXPECT_EQ(caller_.frames.size(), 1U);
}

TEST_F(PeerClientTest, NeverSearchesAgainWhereNothingWorked) {
  caller_.answer = knows("", {}, kNotFound);
  auto first = ask(kOver);
  EXPECT_FALSE(first.error) << "that acknowledges news";
  EXPECT_TRUE(first.has_no_method);
  const auto searched = caller_.frames.size();
  (void)ask(kOver);
  (void)ask(kOver);
  EXPECT_EQ(caller_.frames.size(), searched + 2);
  auto refused = ask(kInvite);
  ASSERT_TRUE(refused.error);
  EXPECT_TRUE(refused.has_no_method);
  const auto again = caller_.frames.size();
  EXPECT_TRUE(ask(kInvite).error);
  EXPECT_EQ(caller_.frames.size(), again + 1);
  // Another program may stand there after it has registered, or that one was gone.
  client_->on_registered(endpoint_, dialects::CallStyle::kToolName);
  EXPECT_TRUE(ask(kInvite).error);
  EXPECT_GT(caller_.frames.size(), again + 2);
  caller_.answer = [](const json& /*frame*/) {
    transport::link::CallOutcome outcome;
    outcome.error = core::Error{ErrorCode::kConnectionError, "refused", ""};
    return outcome;
  };
  (void)ask(kInvite);
  caller_.answer = knows("GAME_INVITATION", {{"accept", true}}, kNotFound);
  EXPECT_FALSE(ask(kInvite).error);
}

TEST_F(PeerClientTest, BeginsTheNextCallWhereTheSearchEnded) {
  caller_.answer = knows("receive_game_invitation", {{"status", "maybe"}}, kNotFound);
  EXPECT_TRUE(ask(kInvite).error) << "that is no answer, but the bot knows the call";
  const auto searched = caller_.frames.size();
  EXPECT_TRUE(ask(kInvite).error);
  EXPECT_EQ(caller_.frames.size(), searched + 1);
}

TEST_F(PeerClientTest, ShowsWhatArrivedAndNothingElse) {
  answer_result({{"status", "maybe"}});
  EXPECT_TRUE(ask(kInvite).error->message.ends_with(R"(; received: {"status":"maybe"})"))
      << ask(kInvite).error->message;
}

TEST_F(PeerClientTest, CallsByABareBodyWhereThePeerRegisteredBySuch) {
  client_ = std::make_unique<PeerClient>(caller_, envelope::testing::schemas(), time_, mode_);
  client_->on_registered(endpoint_, dialects::CallStyle::kBareBody);
  caller_.answer = [](const json& frame) {
    transport::link::CallOutcome outcome;
    outcome.http_status = 200;
    outcome.bytes = frame.contains("jsonrpc") ? R"({"status":"ok"})" : R"({"accept":true})";
    return outcome;
  };
  EXPECT_FALSE(ask(kInvite).error);
  EXPECT_EQ(caller_.frames, std::vector<json>{json::object()});
}

TEST_F(PeerClientTest, FindsAPeerThatReadsOnlyBareBodies) {
  struct Case {
    int http_status;
    const char* refusal;
  };
  for (const auto& one : std::vector<Case>{
           {400, R"({"error":"Unknown message type"})"},
           {200, R"({"status":"error","message":"Unknown message type: None"})"},
           {200, R"({"message_type":"LEAGUE_ERROR","error_description":"Unknown message_type"})"},
       }) {
    client_.reset();
    caller_.answer = [&](const json& frame) {
      transport::link::CallOutcome outcome;
      const bool is_bare = !frame.contains("jsonrpc");
      outcome.http_status = is_bare ? 200 : one.http_status;
      outcome.bytes = is_bare ? R"({"accept":true})" : one.refusal;
      return outcome;
    };
    auto found = ask(kInvite);
    EXPECT_FALSE(found.error) << one.refusal << ": " << found.error->message;
    EXPECT_EQ(client_->style_of(endpoint_), dialects::CallStyle::kBareBody);
  }
}

TEST_F(PeerClientTest, ABareBodyThatIsNotUnderstoodIsOneWayOfMany) {
  caller_.answer = [](const json& frame) {
    if (frame.contains("jsonrpc")) return knows("", {}, kNotFound)(frame);
    transport::link::CallOutcome outcome;
    outcome.http_status = 422;
    outcome.bytes = R"({"detail":"Field required"})";
    return outcome;
  };
  auto refused = ask(kInvite);
  ASSERT_TRUE(refused.error);
  EXPECT_TRUE(refused.has_no_method);
  EXPECT_NE(refused.error->message.find("-32601"), std::string::npos) << refused.error->message;
  EXPECT_FALSE(ask(kOver).error) << "news that nobody knows";
}

TEST_F(PeerClientTest, AServerThatFailsAtABareBodyIsFoundAllTheSame) {
  for (bool hangs_up : {true, false}) {
    client_.reset();
    caller_.frames.clear();
    caller_.answer = [hangs_up](const json& frame) {
      if (frame.contains("jsonrpc")) {
        const bool is_tool = frame["method"] == "tools/call";
        return knows(is_tool ? "handle_game_invitation" : "-", {{"accept", true}},
                     kNotFound)(frame);
      }
      transport::link::CallOutcome outcome;
      outcome.sent_at = core::Clock::Steady();
      if (hangs_up) outcome.error = core::Error{ErrorCode::kConnectionError, "closed", ""};
      outcome.http_status = hangs_up ? 0 : 500;
      return outcome;
    };
    EXPECT_FALSE(ask(kInvite).error);
    EXPECT_EQ(client_->style_of(endpoint_), dialects::CallStyle::kToolsCall);
  }
}

TEST_F(PeerClientTest, ASearchIsNoFaultOfThePeer) {
  std::vector<std::shared_ptr<rpc::MessageNotes>> notes;
  caller_.answer = [&](const json& frame) {
    auto outcome = knows("GAME_INVITATION", {{"accept", true}}, kNotFound)(frame);
    notes.push_back(outcome.notes);
    return outcome;
  };
  EXPECT_FALSE(ask(kInvite).error);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_TRUE(rpc::is_search_for_dialect(notes.front()->fault));
  EXPECT_FALSE(notes.back()->verdict);
}

}  // namespace
}  // namespace league::agent::peers
