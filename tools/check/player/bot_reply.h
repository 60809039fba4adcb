#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/core/auth_token.h"
#include "common/envelope/message_type.h"
#include "common/rpc/id.h"
#include "game/draw.h"
#include "tools/check/wire.h"

namespace league::tools::check {

/// Who the bot under test is, as far as the checker knows.
struct BotIdentity {
  std::string id = "P01";
  core::AuthToken token;  ///< empty: the bot has none, so it cannot check whom it obeys
  std::string league_id = "league_check";
  transport::Endpoint endpoint;
};

/// One match that the checker makes up.
struct TestMatch {
  std::string id;
  int round = 1;
  std::string conversation;
  std::string opponent = "P02";
  bool is_player_a = true;
  game::Seed seed{};
  std::string draw_commitment;  ///< empty: no seed was promised, so nobody commits
  std::string opponent_choice;
  std::string opponent_nonce;
};

/// An answer of the bot, taken apart.
struct BotReply {
  Exchange exchange;
  nlohmann::json document;  ///< discarded where the body is no JSON
  nlohmann::json message;  ///< the league message wherever it sits, also in a call of the bot's own
  nlohmann::json error;  ///< the JSON-RPC error; null where there is none
  std::vector<std::string> leniencies;  ///< that reading the frame needed
  std::string place = "/result";  ///< JSON pointer of `message` in what was received

  [[nodiscard]] bool has_answer() const { return exchange.trouble.empty(); }
  /// A text field of the message; empty where it is missing or no text.
  [[nodiscard]] std::string text(const std::string& field) const;
  /// The code of the JSON-RPC error; 0 where there is none, or it is no integer.
  [[nodiscard]] int code() const;
};

/// Takes apart what came back for the request with this id.
[[nodiscard]] BotReply read_bot_reply(Exchange exchange, const rpc::Id& id);

/// What an open league would have to overlook in this answer to a call of `match`: the names of
/// the leniencies of protocol §9.
[[nodiscard]] std::set<std::string> overlooked_in(const BotReply& reply, envelope::MessageType type,
                                                  const TestMatch& match, const BotIdentity& bot);

}  // namespace league::tools::check
