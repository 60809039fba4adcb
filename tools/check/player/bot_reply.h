#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/core/auth_token.h"
#include "common/core/result.h"
#include "common/envelope/message_type.h"
#include "common/rpc/id.h"
#include "game/draw.h"
#include "tools/check/wire.h"

namespace league::tools::check {

/// The identity of the bot under test, as far as it is known.
struct BotIdentity {
  std::string id = "P01";
  core::AuthToken token;  ///< empty: the bot has none, so it cannot check the senders of calls
  std::string league_id = "league_check";
  transport::link::Endpoint endpoint;
  std::string league_key = {};
  std::string receipt_key = {};  ///< empty: the checker has given it none
};

/// One match that the checker makes up.
struct TestMatch {
  std::string id;
  int round = 1;
  int attempt = 1;
  int play = 0;  ///< 1, 2, ... for replays
  std::string conversation;
  std::string opponent = "P02";
  bool is_player_a = true;
  game::Seed seed{};
  std::string draw_commitment;  ///< empty: there is no draw commitment, so players cannot commit
  std::string opponent_choice;
  std::string opponent_nonce;
};

/// A parsed answer of the bot.
struct BotReply {
  Exchange exchange;
  nlohmann::json document;  ///< discarded if the body is not JSON
  nlohmann::json message;  ///< the league message, wherever it is, also in a call of the bot's own
  nlohmann::json error;  ///< the JSON-RPC error; null: none
  std::vector<std::string> leniencies;  ///< that were needed to read the frame
  std::string place = "/result";  ///< JSON pointer of `message` in what was received
  /// Why the referee of an open league would refuse it; only for answers to invitations and calls
  /// for a choice, which PlayerBench judges.
  std::optional<core::Error> fault = std::nullopt;
  bool has_joined = false;  ///< such a referee takes it for an accepted invitation

  [[nodiscard]] bool has_answer() const { return exchange.trouble.empty(); }
  /// A text field of the message; empty if it is missing or not a text.
  [[nodiscard]] std::string text(const std::string& field) const;
  /// The code of the JSON-RPC error; 0 if there is none or it is not an integer.
  [[nodiscard]] int code() const;
};

/// Parses the answer to the request with this id.
[[nodiscard]] BotReply read_bot_reply(Exchange exchange, const rpc::Id& id);

/// What an open league would have to overlook in this answer to a call of `match`: the names of
/// the leniencies of protocol §9.
[[nodiscard]] std::set<std::string> overlooked_in(const BotReply& reply, envelope::MessageType type,
                                                  const TestMatch& match, const BotIdentity& bot);

}  // namespace league::tools::check
