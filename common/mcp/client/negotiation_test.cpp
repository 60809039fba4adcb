#include "common/mcp/client/negotiation.h"

#include <gtest/gtest.h>

namespace league::mcp::client {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;
using Family = NegotiationOptions::Family;

NegotiationReply result(const json& value, int status = 200) {
  NegotiationReply reply;
  reply.http_status = status;
  reply.response = rpc::make_result(rpc::Id(1), value);
  return reply;
}

NegotiationReply error(int code, int status = 200, json data = nullptr) {
  NegotiationReply reply;
  reply.http_status = status;
  reply.response = rpc::make_error(rpc::Id(1), {code, "no", std::move(data)});
  return reply;
}

NegotiationReply refused(int status) {
  NegotiationReply reply;
  reply.http_status = status;
  reply.error = Error{ErrorCode::kInvalidReply, "status " + std::to_string(status), ""};
  return reply;
}

json initialized(const char* revision) {
  return {{"protocolVersion", revision},
          {"capabilities", {{"tools", json::object()}}},
          {"serverInfo", {{"name", "bot"}, {"version", "3"}}}};
}

/// The peer is silent until the time is over.
NegotiationReply silence() {
  NegotiationReply reply;
  reply.error = Error{ErrorCode::kTimeout, "the peer did not answer in time", ""};
  return reply;
}

NegotiationReply gone() {
  NegotiationReply reply;
  reply.error = Error{ErrorCode::kConnectionError, "the child ended", ""};
  return reply;
}

const json kDiscovered = {{"supportedVersions", {"2026-07-28"}}, {"capabilities", json::object()}};

using Done = std::vector<std::string>;

/// A peer that gives these replies, one after the other.
class ScriptedPeer final : public NegotiationPeer {
 public:
  explicit ScriptedPeer(std::vector<NegotiationReply> replies) : replies_(std::move(replies)) {}

  task::Task<core::Result<void>> reconnect(bool to_legacy_sse) override {
    done.emplace_back(to_legacy_sse ? "reconnect to sse" : "reconnect");
    co_return core::Result<void>();
  }
  task::Task<NegotiationReply> send_request(NegotiationRequest request) override {
    done.push_back(request.method);
    requests.push_back(std::move(request));
    EXPECT_LE(requests.size(), replies_.size()) << "it asks for ever";
    co_return requests.size() > replies_.size() ? gone() : replies_[requests.size() - 1];
  }
  task::Task<core::Result<void>> send_initialized(Negotiated /*agreed*/) override {
    done.emplace_back("initialized");
    co_return core::Result<void>();
  }

  Done done;
  std::vector<NegotiationRequest> requests;

 private:
  const std::vector<NegotiationReply> replies_;
};

struct Outcome {
  core::Result<Negotiated> result = Error{};
  Done done;
  std::vector<NegotiationRequest> requests;
};

task::Task<void> run(NegotiationPeer& peer, NegotiationOptions options,
                     core::Result<Negotiated>& result) {
  result = co_await negotiate(&peer, std::move(options));
}

Outcome negotiated(NegotiationOptions options, std::vector<NegotiationReply> replies) {
  ScriptedPeer peer(replies);
  Outcome outcome;
  task::Scope scope(task::Executor(), [](const std::exception_ptr&) { ADD_FAILURE() << "threw"; });
  scope.spawn(run(peer, std::move(options), outcome.result));
  EXPECT_EQ(peer.requests.size(), replies.size()) << "of the replies that were to be asked for";
  outcome.done = peer.done;
  outcome.requests = peer.requests;
  return outcome;
}

TEST(Negotiation, AModernServerIsAskedOnce) {
  const auto outcome = negotiated(
      {.family = Family::kHttp},
      {result({{"supportedVersions", {"2026-07-28"}},
               {"capabilities", {{"tools", json::object()}}},
               {"_meta", {{std::string(kServerInfoKey), {{"name", "new"}, {"version", "1"}}}}}})});
  ASSERT_EQ(outcome.done, Done{"server/discover"});
  const auto& asked = outcome.requests.front();
  EXPECT_TRUE(asked.is_probe);
  EXPECT_EQ(asked.headers.front(),
            (std::pair<std::string, std::string>{"MCP-Protocol-Version", "2026-07-28"}));
  const auto meta = json::parse(asked.params)["_meta"];
  EXPECT_EQ(meta[std::string(kVersionKey)], "2026-07-28");
  EXPECT_TRUE(meta[std::string(kClientCapabilitiesKey)].is_object());
  ASSERT_TRUE(outcome.result);
  EXPECT_TRUE(outcome.result->is_modern);
  EXPECT_EQ(outcome.result->server_name, "new");
  EXPECT_TRUE(outcome.result->capabilities.contains("tools"));
}

TEST(Negotiation, AnOlderServerGetsTheHandshake) {
  // Each of these is how some server of the field answers a request that it does not know.
  for (const auto& answer :
       {error(-32601), error(-32602), error(-32600, 400), error(-32000, 400), refused(400),
        refused(404), refused(405), refused(406), result(json::object())}) {
    auto accepted = result(initialized("2025-06-18"));
    accepted.session_id = "s-1";
    const auto outcome = negotiated({.family = Family::kHttp}, {answer, accepted});
    EXPECT_EQ(outcome.done, (Done{"server/discover", "initialize", "initialized"}));
    ASSERT_TRUE(outcome.result);
    EXPECT_EQ(outcome.result->revision, "2025-06-18") << "the server's answer decides";
    EXPECT_EQ(outcome.result->session_id, "s-1");
    EXPECT_EQ(outcome.result->server_version, "3");
  }
}

TEST(Negotiation, OffersWhatTheServerSaysItSpeaks) {
  const auto refusal = error(-32022, 400, {{"supported", {"2024-11-05", "2025-03-26"}}});
  const auto outcome =
      negotiated({.family = Family::kHttp}, {refusal, result(initialized("2025-03-26"))});
  ASSERT_EQ(outcome.done, (Done{"server/discover", "initialize", "initialized"}));
  EXPECT_EQ(json::parse(outcome.requests[1].params)["protocolVersion"], "2025-03-26");
  const auto newer =
      negotiated({.family = Family::kHttp}, {error(-32022, 400, {{"supported", {"2031-01-01"}}})});
  EXPECT_FALSE(newer.result);
}

TEST(Negotiation, WhoDeniesIsNotAskedInAnotherWay) {
  for (int status : {401, 403, 500, 503}) {
    EXPECT_FALSE(negotiated({.family = Family::kHttp}, {refused(status)}).result) << status;
    EXPECT_FALSE(negotiated({.family = Family::kHttp}, {refused(404), refused(status)}).result)
        << status;
  }
}

TEST(Negotiation, FallsBackToTheTransportOf2024OnlyWhereNothingModernSpeaks) {
  for (int status : {400, 404, 405}) {
    const auto outcome = negotiated({.family = Family::kHttp, .may_fall_back_to_sse = true},
                                    {refused(status), refused(status), refused(status)});
    EXPECT_EQ(outcome.done,
              (Done{"server/discover", "initialize", "reconnect to sse", "initialize"}))
        << "once, and without discovery there: " << status;
    EXPECT_FALSE(outcome.result);
  }
  for (const auto& replies : {std::vector{error(-32601, 404), error(-32020, 400)},
                              std::vector{refused(406), refused(406)}}) {
    const auto outcome =
        negotiated({.family = Family::kHttp, .may_fall_back_to_sse = true}, replies);
    EXPECT_EQ(outcome.done, (Done{"server/discover", "initialize"}));
    EXPECT_FALSE(outcome.result);
  }
  EXPECT_FALSE(negotiated({.family = Family::kHttp}, {refused(404), refused(404)}).result)
      << "not wanted";
}

TEST(Negotiation, ASilentProbeIsFollowedByTheHandshake) {
  const auto outcome = negotiated({.family = Family::kConnection}, {silence(), silence()});
  EXPECT_EQ(outcome.done, (Done{"server/discover", "initialize"}));
  EXPECT_EQ(outcome.result.error().code, ErrorCode::kTimeout);
}

TEST(Negotiation, AModernServerThatWasSlowIsAskedOnceMore) {
  // Each of these is how a server of 2026-07-28 alone may refuse the handshake.
  for (const auto& refusal : {error(-32022, 400, {{"supported", {"2026-07-28"}}}),
                              error(-32020, 400), error(-32601, 404), error(-32602, 400)}) {
    for (Family family : {Family::kHttp, Family::kConnection}) {
      const auto outcome =
          negotiated({.family = family}, {silence(), refusal, result(kDiscovered)});
      ASSERT_EQ(outcome.done, (Done{"server/discover", "initialize", "server/discover"}));
      EXPECT_FALSE(outcome.requests.back().is_probe) << "it may take its time now";
      ASSERT_TRUE(outcome.result);
      EXPECT_TRUE(outcome.result->is_modern);
    }
  }
}

TEST(Negotiation, AServerThatOffersWhatItRefusedIsAskedOnceMore) {
  const auto refusal = error(-32022, 400, {{"supported", {"2026-07-28"}}});
  const auto outcome = negotiated({.family = Family::kHttp}, {refusal, refusal});
  EXPECT_EQ(outcome.done, (Done{"server/discover", "server/discover"}));
  EXPECT_FALSE(outcome.result) << "not for ever";
}

TEST(Negotiation, AModernServerInTheOldOnesPlaceIsFound) {
  const auto outcome = negotiated({.family = Family::kHttp, .skips_discovery = true},
                                  {error(-32601, 404), result(kDiscovered)});
  EXPECT_EQ(outcome.done, (Done{"initialize", "server/discover"}));
  EXPECT_TRUE(outcome.result);
}

TEST(Negotiation, AServerThatRefusesBothIsNotAskedForEver) {
  const auto outcome = negotiated({.family = Family::kConnection},
                                  {silence(), error(-32601), error(-32601), error(-32601)});
  EXPECT_EQ(outcome.done, (Done{"server/discover", "initialize", "server/discover", "initialize"}));
  EXPECT_FALSE(outcome.result);
  // Who denies us is not asked again in another way.
  EXPECT_FALSE(negotiated({.family = Family::kHttp}, {silence(), error(-32001, 401)}).result);
}

TEST(Negotiation, AServerThatEndsAtTheProbeIsBegunAgainWithoutIt) {
  const auto outcome = negotiated({.family = Family::kConnection}, {gone(), gone()});
  EXPECT_EQ(outcome.done, (Done{"server/discover", "reconnect", "initialize"}));
  EXPECT_EQ(outcome.result.error().message, "the child ended");
  const auto http = negotiated({.family = Family::kHttp}, {gone()});
  EXPECT_FALSE(http.result) << "nobody listens there";
}

TEST(Negotiation, RefusesRevisionsThatItDoesNotSpeak) {
  for (const json& answer :
       {initialized("2019-01-01"), json::object(), json("text"), json(nullptr)}) {
    const auto outcome = negotiated({.family = Family::kLegacySse}, {result(answer)});
    EXPECT_EQ(outcome.done, Done{"initialize"});
    EXPECT_EQ(outcome.result.error().code, ErrorCode::kProtocolVersionMismatch);
  }
}

}  // namespace
}  // namespace league::mcp::client
