#pragma once

#include <vector>

#include "tools/check/player/player_bench.h"
#include "tools/check/verdict.h"

namespace league::tools::check {

using Checks = std::vector<Check>;

// What a referee asks a player.
inline constexpr envelope::MessageType kInvite = envelope::MessageType::kGameInvitation;
inline constexpr envelope::MessageType kCall = envelope::MessageType::kChooseParityCall;

/// All checks of players, in the order in which they run. `bench` outlives them; nothing is called
/// before a check runs. The parts of it follow, one source file each.
[[nodiscard]] Checks player_checks(PlayerBench& bench);

void add_registration_checks(PlayerBench& bench, Checks& out);
void add_answer_checks(PlayerBench& bench, Checks& out);
void add_news_checks(PlayerBench& bench, Checks& out);
void add_rpc_checks(PlayerBench& bench, Checks& out);
void add_tolerance_checks(PlayerBench& bench, Checks& out);
void add_refusal_checks(PlayerBench& bench, Checks& out);
void add_token_checks(PlayerBench& bench, Checks& out);
void add_order_checks(PlayerBench& bench, Checks& out);
void add_commitment_checks(PlayerBench& bench, Checks& out);
void add_hostile_checks(PlayerBench& bench, Checks& out);
void add_http_checks(PlayerBench& bench, Checks& out);
void add_mcp_checks(PlayerBench& bench, Checks& out);
void add_endurance_checks(PlayerBench& bench, Checks& out);

/// `pass` where the bot accepts the invitation, else the failure.
[[nodiscard]] Verdict expect_accepted(const BotReply& reply, const std::string& why);
/// The same where it names a choice.
[[nodiscard]] Verdict expect_choice(const BotReply& reply, const std::string& why);
/// `pass` for a JSON-RPC error, whatever its code.
[[nodiscard]] Verdict expect_refused(const BotReply& reply, const std::string& why);
/// `pass` if the bot accepts an ordinary invitation now; `before` is shown where it does not.
[[nodiscard]] Verdict expect_alive(PlayerBench& bench, const BotReply& before);
/// `"abc"`, `7`, `missing`; at most 80 characters.
[[nodiscard]] std::string shown_value(const nlohmann::json& object, const std::string& field);
/// What came instead of an answer, or its first 120 characters.
[[nodiscard]] std::string shown_answer(const BotReply& reply);

}  // namespace league::tools::check
