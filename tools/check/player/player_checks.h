#pragma once

#include <vector>

#include "tools/check/player/player_bench.h"
#include "tools/check/probe.h"
#include "tools/check/verdict.h"

namespace league::tools::check {

// The calls of a referee to a player.
inline constexpr envelope::MessageType kInvite = envelope::MessageType::kGameInvitation;
inline constexpr envelope::MessageType kCall = envelope::MessageType::kChooseParityCall;

/// All checks of players, in the order in which they run. `bench` outlives them; no check is run
/// here. The functions below add parts of them, one source file each.
[[nodiscard]] Checks player_checks(PlayerBench& bench);

void add_registration_checks(PlayerBench& bench, Checks& out);
/// Those that a bot needs to play a match at all; the first of the answers' checks.
void add_basic_checks(PlayerBench& bench, Checks& out);
void add_answer_checks(PlayerBench& bench, Checks& out);
void add_news_checks(PlayerBench& bench, Checks& out);
void add_rpc_checks(PlayerBench& bench, Checks& out);
void add_tolerance_checks(PlayerBench& bench, Checks& out);
void add_refusal_checks(PlayerBench& bench, Checks& out);
void add_token_checks(PlayerBench& bench, Checks& out);
void add_order_checks(PlayerBench& bench, Checks& out);
void add_commitment_checks(PlayerBench& bench, Checks& out);
void add_receipt_checks(PlayerBench& bench, Checks& out);
void add_record_checks(PlayerBench& bench, Checks& out);
void add_hostile_checks(PlayerBench& bench, Checks& out);
void add_http_checks(PlayerBench& bench, Checks& out);
void add_mcp_checks(PlayerBench& bench, Checks& out);
void add_seat_checks(PlayerBench& bench, Checks& out);
void add_endurance_checks(PlayerBench& bench, Checks& out);

/// `pass` if the bot accepts the invitation, otherwise the failure.
[[nodiscard]] Verdict expect_accepted(const BotReply& reply, const std::string& why);
/// `pass` if the bot makes a choice, otherwise the failure.
[[nodiscard]] Verdict expect_choice(const BotReply& reply, const std::string& why);
/// Expects `is_right` of a field of the message in the answer; `expected` describes its value.
[[nodiscard]] Verdict expect_field(bool is_right, const BotReply& reply, const std::string& field,
                                   std::string expected);
/// `pass` for a JSON-RPC error, whatever its code.
[[nodiscard]] Verdict expect_refused(const BotReply& reply, const std::string& why);
/// `pass` if the bot accepts an ordinary invitation now; otherwise a failure that shows `before`.
[[nodiscard]] Verdict expect_alive(PlayerBench& bench, const BotReply& before);
/// For add_probes: why a check cannot be tried with a bot that has no address of HTTP, or no token.
[[nodiscard]] std::string only_over_http(PlayerBench& bench);
[[nodiscard]] std::string only_with_token(PlayerBench& bench);
/// Why a check of receipts is skipped.
inline constexpr const char* kNoReceipts =
    "the bot does not declare receipts (player_meta.receipts) at this checker";
/// For add_probes: empty if the bot gives receipts.
[[nodiscard]] std::string only_with_receipts(PlayerBench& bench);
/// Announces `match` to the bot, with the commitment to its seed.
void announce(PlayerBench& bench, const TestMatch& match);
/// `pass` if the receipts in both answers of `game` are right, otherwise the failure.
[[nodiscard]] Verdict expect_receipts(PlayerBench& bench, const PlayedGame& game);
inline constexpr const char* kOnlyHttpHasNoIds =
    "this can be checked over HTTP only, because other transports find the answer by its id";
/// Sends `bytes` over HTTP as they are, then expects the bot to play on; skipped for a bot without
/// HTTP. `id`: of the request in `bytes`.
[[nodiscard]] Verdict survive_bytes(PlayerBench& bench, const std::string& bytes,
                                    const rpc::Id& id = rpc::Id(1));
/// A call to the checker, as evidence; null: there was none.
[[nodiscard]] Exchange seen_call(const InboundCall* call);
/// `"abc"`, `7`, `missing`; at most 80 characters.
[[nodiscard]] std::string shown_value(const nlohmann::json& object, const std::string& field);
/// The value of `field` in an answer; if there is none, a description of the answer.
[[nodiscard]] std::string shown_field(const BotReply& reply, const std::string& field);
/// Why a league refuses an answer; if it gives no reason, as shown_field.
[[nodiscard]] std::string shown_fault(const BotReply& reply, const std::string& field);
/// The first 120 characters of an answer, or the reason why there is none.
[[nodiscard]] std::string shown_answer(const BotReply& reply);

}  // namespace league::tools::check
