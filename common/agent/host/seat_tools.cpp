#include "common/agent/host/seat_tools.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/core/crypto.h"
#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"

namespace league::agent::host {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;

constexpr std::chrono::minutes kClockDifference{5};  ///< between a player's clock and ours
constexpr std::chrono::seconds kLongestWait{25};

constexpr std::size_t kLongestText = 80;

bool is_nonce(std::string_view text) {
  constexpr std::size_t kShortest = 16;
  constexpr std::size_t kLongest = 64;
  return text.size() >= kShortest && text.size() <= kLongest &&
         std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-';
         });
}

/// The same for an unknown player, one without a seat and a wrong proof, so that it reveals
/// nothing.
Error no_seat() {
  return {ErrorCode::kAuthTokenInvalid,
          "no seat is opened by this: proof must be HMAC-SHA-256(auth_token, "
          "seat|TIMESTAMP|NONCE) of a player that registered with contact_endpoint \"outward\"",
          "/proof"};
}

}  // namespace

SeatTools::SeatTools(seats::Seats& seats, const core::Clock& clock, Rules rules)
    : seats_(seats), clock_(clock), rules_(std::move(rules)) {}

void SeatTools::bind(AgentServer& server) {
  // Its answer is a secret, and so is a proof that is refused.
  server.bind_tool(
      "open_seat", [this](ToolCall call) { open_seat(std::move(call)); }, true);
  server.bind_tool("await_calls", [this](ToolCall call) { await_calls(std::move(call)); });
}

core::Result<void> SeatTools::use_up(const std::string& player, const std::string& nonce) {
  constexpr std::size_t kMostKept = 1000;  // of one player
  const auto now = clock_.steady_now();
  const std::lock_guard lock(mutex_);
  auto& used = used_[player];
  while (!used.empty() && used.front().until < now) used.pop_front();
  if (std::ranges::any_of(used, [&](const Used& one) { return one.nonce == nonce; }))
    return no_seat();
  // Forgetting one would let it be used again.
  if (used.size() == kMostKept) {
    return Error{ErrorCode::kOverloaded,
                 "this player has opened its seat too often; try again in ten minutes", ""};
  }
  used.push_back({nonce, now + 2 * kClockDifference});
  return {};
}

core::Result<std::string> SeatTools::prove(const json& arguments) {
  const std::string& text = schema::text_at(arguments, "timestamp");
  const std::string& nonce = schema::text_at(arguments, "nonce");
  std::string player = schema::text_at(arguments, "player_id");
  if (!is_nonce(nonce) || text.size() > kLongestText || player.size() > kLongestText)
    return no_seat();
  player.erase(0, player.find(':') + 1);  // `player:P01` is accepted, too
  const auto token = rules_.token_of(player);
  if (!token) return no_seat();
  const auto proof = core::to_hex(core::hmac_sha256(core::as_bytes(token->reveal()),
                                                    core::as_bytes("seat|" + text + "|" + nonce)));
  if (!core::constant_time_equal(proof, schema::text_at(arguments, "proof"))) return no_seat();
  // Also if the time is wrong: it may be right in a moment, for somebody who has overheard this.
  if (auto used = use_up(player, nonce); !used) return used.error();
  const auto time = core::UtcTimestamp::parse(text);
  if (!time) return Error{ErrorCode::kInvalidTimestamp, time.error().message, "/timestamp"};
  const auto difference = clock_.utc_now().instant() - time->instant();
  if (difference > kClockDifference || difference < -kClockDifference) {
    return Error{ErrorCode::kInvalidTimestamp,
                 "timestamp is more than five minutes from this program's clock, which says " +
                     clock_.utc_now().to_log(),
                 "/timestamp"};
  }
  return player;
}

void SeatTools::open_seat(ToolCall call) {
  const bool is_over_connection = call.channel && call.context.transport.as_http() == nullptr;
  if (is_over_connection && seats_.is_taken(*call.channel)) {
    return call.reply.refuse({ErrorCode::kUnexpectedMessage,
                              "this connection has a seat already: open another connection", ""});
  }
  auto player = prove(call.arguments);
  if (!player) {
    if (rules_.on_refused)
      rules_.on_refused(schema::text_at(call.arguments, "player_id"), player.error());
    return call.reply.refuse(player.error());
  }
  call.notes->said_by = "player:" + *player;
  auto channel = is_over_connection ? call.channel : nullptr;
  const auto line = channel ? seats::Line::kWebSocket : seats::Line::kPoll;
  std::string session = seats_.name_session(*player);
  const json answer = {{"session", session},
                       {"player_id", *player},
                       {"wait_s", kLongestWait.count()},
                       {"connection", seats::line_name(line)}};
  if (rules_.on_seated) rules_.on_seated(*player, line);
  // A poll may come as soon as the answer is there; over a connection, calls come after the answer.
  if (!channel) {
    seats_.open(std::move(*player), std::move(session), line, nullptr);
    return call.reply.send(answer);
  }
  call.reply.send(answer,
                  [this, player = std::move(*player), session = std::move(session), line,
                   channel = std::move(channel)] { seats_.open(player, session, line, channel); });
}

void SeatTools::await_calls(ToolCall call) {
  call.notes->is_carrier = true;  // the messages in it are logged where they belong
  const auto wait = schema::number_at(call.arguments, "wait_s").value_or(kLongestWait.count());
  std::vector<std::string> answers;
  if (const json& given = schema::field_at(call.arguments, "answers"); given.is_array()) {
    constexpr std::size_t kMostAnswers = 64;
    for (std::size_t i = 0; i < std::min(given.size(), kMostAnswers); ++i)
      answers.push_back(rpc::to_json_text(given[i]));
  }
  auto reply = std::make_shared<peers::Reply>(std::move(call.reply));
  const json& leave = schema::field_at(call.arguments, "leave");
  const bool is_last = leave.is_boolean() && leave.get<bool>();
  const std::string& session = schema::text_at(call.arguments, "session");
  seats_.poll(
      session,
      std::chrono::seconds(is_last ? 0 : std::clamp<std::int64_t>(wait, 0, kLongestWait.count())),
      std::move(answers),
      [&seats = seats_, reply, is_last, session](const core::Result<seats::Polled>& polled) {
        if (!polled) return reply->refuse(polled.error());
        if (is_last) {
          seats.end(session);
          return reply->send({{"calls", json::array()}, {"ended", "left"}});
        }
        json answer = {{"calls", json::array()}};
        for (const auto& one : polled->calls) {
          auto request = schema::parse_json(one.request);
          if (!request) continue;
          answer["calls"].push_back(
              {{"request", std::move(*request)}, {"remaining_ms", one.remaining.count()}});
        }
        if (polled->is_taken_over) answer["ended"] = "taken_over";
        reply->send(answer);
      });
}

}  // namespace league::agent::host
