#include "common/mcp/client/negotiation.h"

#include <gtest/gtest.h>

namespace league::mcp::client {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;
using Family = Negotiation::Family;

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

std::string method_of(const Negotiation::Step& step) {
  const auto* ask = std::get_if<Negotiation::Ask>(&step);
  return ask != nullptr ? ask->method : "none";
}

const Error* failure_of(const Negotiation::Step& step) {
  const auto* failed = std::get_if<Negotiation::Failed>(&step);
  return failed != nullptr ? &failed->error : nullptr;
}

TEST(Negotiation, AModernServerIsAskedOnce) {
  Negotiation negotiation({.family = Family::kHttp});
  auto step = negotiation.begin();
  ASSERT_EQ(method_of(step), "server/discover");
  const auto& ask = std::get<Negotiation::Ask>(step);
  EXPECT_TRUE(ask.is_probe);
  EXPECT_EQ(ask.headers.front(),
            (std::pair<std::string, std::string>{"MCP-Protocol-Version", "2026-07-28"}));
  auto meta = json::parse(ask.params)["_meta"];
  EXPECT_EQ(meta[std::string(kVersionKey)], "2026-07-28");
  EXPECT_TRUE(meta[std::string(kClientCapabilitiesKey)].is_object());
  step = negotiation.on_reply(
      result({{"supportedVersions", {"2026-07-28"}},
              {"capabilities", {{"tools", json::object()}}},
              {"_meta", {{std::string(kServerInfoKey), {{"name", "new"}, {"version", "1"}}}}}}));
  ASSERT_TRUE(std::holds_alternative<Negotiation::Done>(step));
  const auto& negotiated = std::get<Negotiation::Done>(step).negotiated;
  EXPECT_TRUE(negotiated.is_modern);
  EXPECT_EQ(negotiated.server_name, "new");
  EXPECT_TRUE(negotiated.capabilities.contains("tools"));
}

TEST(Negotiation, AnOlderServerGetsTheHandshake) {
  // Each of these is how some server of the field answers a request that it does not know.
  for (const auto& answer :
       {error(-32601), error(-32602), error(-32600, 400), error(-32000, 400), refused(400),
        refused(404), refused(405), refused(406), result(json::object())}) {
    Negotiation negotiation({.family = Family::kHttp});
    (void)negotiation.begin();
    ASSERT_EQ(method_of(negotiation.on_reply(answer)), "initialize");
    auto accepted = result(initialized("2025-06-18"));
    accepted.session_id = "s-1";
    ASSERT_TRUE(std::holds_alternative<Negotiation::Confirm>(negotiation.on_reply(accepted)));
    auto step = negotiation.on_confirmed();
    const auto& negotiated = std::get<Negotiation::Done>(step).negotiated;
    EXPECT_EQ(negotiated.revision, "2025-06-18") << "the server's answer decides";
    EXPECT_EQ(negotiated.session_id, "s-1");
    EXPECT_EQ(negotiated.server_version, "3");
  }
}

TEST(Negotiation, OffersWhatTheServerSaysItSpeaks) {
  Negotiation negotiation({.family = Family::kHttp});
  (void)negotiation.begin();
  auto step =
      negotiation.on_reply(error(-32022, 400, {{"supported", {"2024-11-05", "2025-03-26"}}}));
  ASSERT_EQ(method_of(step), "initialize");
  EXPECT_EQ(json::parse(std::get<Negotiation::Ask>(step).params)["protocolVersion"], "2025-03-26");
  Negotiation newer({.family = Family::kHttp});
  (void)newer.begin();
  EXPECT_NE(failure_of(newer.on_reply(error(-32022, 400, {{"supported", {"2031-01-01"}}}))),
            nullptr);
}

TEST(Negotiation, WhoDeniesIsNotAskedInAnotherWay) {
  for (int status : {401, 403, 500, 503}) {
    Negotiation negotiation({.family = Family::kHttp});
    (void)negotiation.begin();
    EXPECT_NE(failure_of(negotiation.on_reply(refused(status))), nullptr) << status;
    Negotiation later({.family = Family::kHttp});
    (void)later.begin();
    (void)later.on_reply(refused(404));
    EXPECT_NE(failure_of(later.on_reply(refused(status))), nullptr) << status;
  }
}

TEST(Negotiation, FallsBackToTheTransportOf2024OnlyWhereNothingModernSpeaks) {
  for (int status : {400, 404, 405}) {
    Negotiation negotiation({.family = Family::kHttp});
    (void)negotiation.begin();
    (void)negotiation.on_reply(refused(status));
    auto step = negotiation.on_reply(refused(status));
    ASSERT_TRUE(std::holds_alternative<Negotiation::Reconnect>(step)) << status;
    EXPECT_TRUE(std::get<Negotiation::Reconnect>(step).to_legacy_sse);
    EXPECT_EQ(method_of(negotiation.begin()), "initialize") << "no discovery there";
    EXPECT_NE(failure_of(negotiation.on_reply(refused(status))), nullptr) << "once";
  }
  Negotiation modern({.family = Family::kHttp});
  (void)modern.begin();
  (void)modern.on_reply(error(-32601, 404));
  EXPECT_NE(failure_of(modern.on_reply(error(-32020, 400))), nullptr);
  Negotiation other({.family = Family::kHttp});
  (void)other.begin();
  (void)other.on_reply(refused(406));
  EXPECT_NE(failure_of(other.on_reply(refused(406))), nullptr);
  Negotiation forbidden({.family = Family::kHttp, .may_fall_back_to_sse = false});
  (void)forbidden.begin();
  (void)forbidden.on_reply(refused(404));
  EXPECT_NE(failure_of(forbidden.on_reply(refused(404))), nullptr);
}

TEST(Negotiation, ASilentProbeIsFollowedByTheHandshake) {
  Negotiation negotiation({.family = Family::kConnection});
  (void)negotiation.begin();
  EXPECT_EQ(method_of(negotiation.on_silence()), "initialize");
  EXPECT_EQ(failure_of(negotiation.on_silence())->code, ErrorCode::kTimeout);
}

TEST(Negotiation, AModernServerThatWasSlowIsAskedOnceMore) {
  const json discovered = {{"supportedVersions", {"2026-07-28"}}, {"capabilities", json::object()}};
  // Each of these is how a server of 2026-07-28 alone may refuse the handshake.
  for (const auto& refusal : {error(-32022, 400, {{"supported", {"2026-07-28"}}}),
                              error(-32020, 400), error(-32601, 404), error(-32602, 400)}) {
    for (Family family : {Family::kHttp, Family::kConnection}) {
      Negotiation negotiation({.family = family});
      (void)negotiation.begin();
      ASSERT_EQ(method_of(negotiation.on_silence()), "initialize");
      auto step = negotiation.on_reply(refusal);
      ASSERT_EQ(method_of(step), "server/discover");
      EXPECT_FALSE(std::get<Negotiation::Ask>(step).is_probe) << "it may take its time now";
      step = negotiation.on_reply(result(discovered));
      ASSERT_TRUE(std::holds_alternative<Negotiation::Done>(step));
      EXPECT_TRUE(std::get<Negotiation::Done>(step).negotiated.is_modern);
    }
  }
}

TEST(Negotiation, AServerThatOffersWhatItRefusedIsAskedOnceMore) {
  const auto refusal = error(-32022, 400, {{"supported", {"2026-07-28"}}});
  Negotiation negotiation({.family = Family::kHttp});
  (void)negotiation.begin();
  ASSERT_EQ(method_of(negotiation.on_reply(refusal)), "server/discover");
  EXPECT_NE(failure_of(negotiation.on_reply(refusal)), nullptr) << "not for ever";
}

TEST(Negotiation, AModernServerInTheOldOnesPlaceIsFound) {
  Negotiation negotiation({.family = Family::kHttp, .skips_discovery = true});
  ASSERT_EQ(method_of(negotiation.begin()), "initialize");
  EXPECT_EQ(method_of(negotiation.on_reply(error(-32601, 404))), "server/discover");
}

TEST(Negotiation, AServerThatRefusesBothIsNotAskedForEver) {
  Negotiation negotiation({.family = Family::kConnection});
  (void)negotiation.begin();
  (void)negotiation.on_silence();
  ASSERT_EQ(method_of(negotiation.on_reply(error(-32601))), "server/discover");
  ASSERT_EQ(method_of(negotiation.on_reply(error(-32601))), "initialize");
  EXPECT_NE(failure_of(negotiation.on_reply(error(-32601))), nullptr);
  // Who denies us is not asked again in another way.
  Negotiation denied({.family = Family::kHttp});
  (void)denied.begin();
  (void)denied.on_silence();
  EXPECT_NE(failure_of(denied.on_reply(error(-32001, 401))), nullptr);
}

TEST(Negotiation, AServerThatEndsAtTheProbeIsBegunAgainWithoutIt) {
  const Error ended{ErrorCode::kConnectionError, "the child ended", ""};
  Negotiation negotiation({.family = Family::kConnection});
  (void)negotiation.begin();
  auto step = negotiation.on_closed(ended);
  ASSERT_TRUE(std::holds_alternative<Negotiation::Reconnect>(step));
  EXPECT_FALSE(std::get<Negotiation::Reconnect>(step).to_legacy_sse);
  EXPECT_EQ(method_of(negotiation.begin()), "initialize");
  EXPECT_EQ(failure_of(negotiation.on_closed(ended))->message, "the child ended");
  Negotiation http({.family = Family::kHttp});
  (void)http.begin();
  EXPECT_NE(failure_of(http.on_closed(ended)), nullptr) << "nobody listens there";
}

TEST(Negotiation, RefusesRevisionsThatItDoesNotSpeak) {
  for (const json& answer :
       {initialized("2019-01-01"), json::object(), json("text"), json(nullptr)}) {
    Negotiation negotiation({.family = Family::kLegacySse});
    ASSERT_EQ(method_of(negotiation.begin()), "initialize");
    EXPECT_EQ(failure_of(negotiation.on_reply(result(answer)))->code,
              ErrorCode::kProtocolVersionMismatch);
  }
}

}  // namespace
}  // namespace league::mcp::client
