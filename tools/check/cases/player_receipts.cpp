// Receipts: with them a player signs its answers, so that no referee can report what it has not
// said. Skipped for bots that do not declare them.
#include <array>

#include "common/core/crypto.h"
#include "game/receipt.h"
#include "tools/check/cases/cases.h"
#include "tools/check/cases/conversation.h"

namespace league::tools::check {
namespace {

using nlohmann::json;
using TextOf = std::function<std::string(const game::ReceiptScope&)>;

constexpr const char* kReceiptFormula =
    "receipt is the HMAC-SHA-256, in lower-case hexadecimal, with receipt_key (its 64 characters, "
    "as text) as the key, of JOIN|league_key|match_id|attempt|play|draw_commitment|true|"
    "choice_commitment for GAME_JOIN_ACK, and of CHOICE|league_key|match_id|attempt|play|"
    "draw_commitment|parity_choice|choice_nonce|opponent_commitment for CHOOSE_PARITY_RESPONSE; "
    "what is absent is empty.";

game::ReceiptScope scope_of(const PlayerBench& bench, const TestMatch& match) {
  return {.league_key = bench.bot().league_key,
          .match_id = match.id,
          .attempt = match.attempt,
          .play = match.play,
          .draw_commitment = match.draw_commitment};
}

TextOf join_text(const BotReply& join) {
  return [&join](const game::ReceiptScope& scope) {
    return game::join_receipt_text(scope, true, join.text("choice_commitment"));
  };
}

TextOf choice_text(const BotReply& choice, const std::string& opponent_commitment) {
  return [&choice, &opponent_commitment](const game::ReceiptScope& scope) {
    const std::string word = PlayerBench::word_in(choice);
    const std::string nonce = choice.text("choice_nonce");
    return game::choice_receipt_text(
        scope, {.choice = word, .nonce = nonce, .opponent_commitment = opponent_commitment});
  };
}

/// What the bot has signed instead, or with what, as far as that can be guessed.
std::string found_instead(const PlayerBench& bench, const std::string& receipt,
                          const game::ReceiptScope& scope, const TextOf& text) {
  if (receipt.empty()) return "nothing";
  const std::string& key = bench.bot().receipt_key;
  const auto bytes = core::from_hex(key).value_or(std::vector<std::uint8_t>());
  if (game::is_receipt_of(std::string(bytes.begin(), bytes.end()), text(scope), receipt))
    return "a receipt made with the 32 bytes that receipt_key spells";
  if (game::is_receipt_of(bench.bot().token.reveal(), text(scope), receipt))
    return "a receipt made with auth_token";
  for (int attempt = 1; attempt <= 3; ++attempt) {
    for (int play = 0; play <= 2; ++play) {
      game::ReceiptScope other = scope;
      other.attempt = attempt;
      other.play = play;
      if (game::is_receipt_of(key, text(other), receipt))
        return "the receipt of attempt " + std::to_string(attempt) + ", play " +
               std::to_string(play);
    }
  }
  const std::array<std::pair<const char*, std::string_view>, 2> keys{
      {{"league_id", bench.bot().league_id}, {"nothing", ""}}};
  for (const auto& [name, value] : keys) {
    game::ReceiptScope other = scope;
    other.league_key = value;
    if (game::is_receipt_of(key, text(other), receipt))
      return std::string("a receipt of a text with ") + name + " in place of league_key";
  }
  return "another receipt";
}

Verdict expect_receipt(const PlayerBench& bench, const BotReply& reply, const TestMatch& match,
                       const TextOf& text) {
  const game::ReceiptScope scope = scope_of(bench, match);
  const std::string receipt = reply.text("receipt");
  return expect(game::is_receipt_of(bench.bot().receipt_key, text(scope), receipt), reply.exchange,
                reply.place + "/receipt", "the receipt of " + text(scope),
                found_instead(bench, receipt, scope, text));
}

Verdict expect_choice_receipt(const PlayerBench& bench, const BotReply& choice,
                              const TestMatch& match, const std::string& opponent_commitment) {
  return expect_receipt(bench, choice, match, choice_text(choice, opponent_commitment));
}

Verdict expect_join_receipt(const Talk& talk, const BotReply& join) {
  return expect_receipt(talk.bench, join, talk.match, join_text(join));
}

Verdict signs_both(const Talk& talk) { return expect_receipts(talk.bench, talk.game); }

/// The last answer is an error, or has the receipt of the one at `first`.
Verdict signs_nothing_else(const Talk& talk, std::size_t first) {
  const std::string receipt = talk.last().text("receipt");
  return expect(receipt.empty() || receipt == talk.replies[first].text("receipt"),
                talk.last().exchange, talk.last().place + "/receipt",
                "an error, or the receipt of the first answer", "a second receipt");
}

Verdict keeps_key(const Talk& talk) {
  PlayerBench& bench = talk.bench;
  const std::string& key = bench.bot().receipt_key;
  for (const BotReply* reply : {&bench.sample().join, &bench.sample().choice}) {
    Verdict verdict =
        expect_untold(*reply, key, "", "no receipt_key in the answer", "the bot's receipt_key");
    if (!verdict.passed()) return verdict;
  }
  const auto calls = bench.server->calls();
  for (const InboundCall& call : calls) {
    if (call.bytes.find(key) != std::string::npos)
      return fail(seen_call(&call), "", "no receipt_key in the call", "the bot's receipt_key");
  }
  return pass();
}

const Conversation kReceipts[] = {
    {"P-7.61/join-receipt", kMust, "GAME_JOIN_ACK has the right receipt.", kReceiptFormula, "",
     [](const Talk& talk) {
       const PlayedGame& game = talk.bench.sample();
       return expect_receipt(talk.bench, game.join, game.match, join_text(game.join));
     }},
    {"P-7.61/choice-receipt", kMust, "CHOOSE_PARITY_RESPONSE has the right receipt.",
     kReceiptFormula, "",
     [](const Talk& talk) {
       const PlayedGame& game = talk.bench.sample();
       return expect_choice_receipt(talk.bench, game.choice, game.match,
                                    talk.bench.opponent_commitment(game.match));
     }},
    {"P-7.62/receipt-of-attempt", kRobust,
     "The receipts of a later attempt at a match name that attempt.",
     "Put context.attempt of the call into the text; make a new receipt for each attempt.",
     "invite call attempt2 invite call", signs_both},
    {"P-7.62/receipt-of-play", kRobust, "The receipts of a replay name that replay.",
     "Put context.play of the call into the text; make a new receipt for each replay.",
     "invite call replay invite call", signs_both},
    {"P-7.61/receipt-without-seed", kShould,
     "A receipt of a match without `draw_commitment` has empty parts for it and the commitment.",
     kReceiptFormula, "unbound invite",
     [](const Talk& talk) { return expect_join_receipt(talk, talk.last()); }},
    {"P-7.61/receipt-of-lone-choice", kRobust,
     "The receipt of a choice for an opponent without a commitment ends with an empty part.",
     kReceiptFormula, R"(invite call {"context/opponent_commitment": "$gone"})",
     [](const Talk& talk) {
       return expect_choice_receipt(talk.bench, talk.last(), talk.match, "");
     }},
    {"P-7.63/one-choice-receipt", kRobust,
     "A bot makes no second receipt of a choice if the call is repeated with another "
     "`opponent_commitment`.",
     "Store the opponent_commitment with which you have answered, and refuse another one for the "
     "same attempt and play with E040.",
     R"(invite call call {"context/opponent_commitment": "$e*64"})",
     [](const Talk& talk) { return signs_nothing_else(talk, 1); }},
    {"P-7.63/no-earlier-attempt", kRobust,
     "A bot that has joined a later attempt makes no second receipt of a choice in the earlier "
     "one.",
     "Store the attempt and play of the last invitation, and refuse calls of an earlier one.",
     R"(invite call {"context/opponent_commitment": "$gone"}
        attempt2 invite attempt1 call {"context/opponent_commitment": "$gone"})",
     [](const Talk& talk) { return signs_nothing_else(talk, 1); }},
    {"P-7.63/announced-seed", kRobust,
     "The bot refuses an invitation with another `draw_commitment` than the announced one, and "
     "that "
     "changes nothing.",
     "Store the draw_commitment of each match of yours in ROUND_ANNOUNCEMENT, and refuse another "
     "one with E040.",
     R"(announce invite {"draw_commitment": "$d*64"} invite)",
     [](const Talk& talk) {
       Verdict verdict = expect_refused(talk.replies[0], "another seed was announced");
       if (verdict.passed()) verdict = accepts(talk);
       return verdict.passed() ? expect_join_receipt(talk, talk.last()) : verdict;
     },
     "only an invitation with another seed came before"},
    {"P-8.15/receipt-key-kept", kRobust, "The bot sends its `receipt_key` to nobody.",
     "Store receipt_key beside the token, but leave it out of every message.", "", keeps_key},
};

}  // namespace

void announce(PlayerBench& bench, const TestMatch& match) {
  json news = bench.news(envelope::MessageType::kRoundAnnouncement);
  change(news,
         {{"round_id", match.round},
          {"matches/0/match_id", match.id},
          {"matches/0/player_B_id", match.opponent},
          {"matches/0/draw_commitment", match.draw_commitment}},
         {});
  (void)bench.ask(envelope::MessageType::kRoundAnnouncement, news);
}

std::string only_with_receipts(PlayerBench& bench) {
  return bench.gives_receipts() ? "" : kNoReceipts;
}

Verdict expect_receipts(PlayerBench& bench, const PlayedGame& game) {
  if (!PlayerBench::accepts(game.join)) return expect_accepted(game.join, "it is invited");
  Verdict join = expect_receipt(bench, game.join, game.match, join_text(game.join));
  if (!join.passed()) return join;
  return expect_choice_receipt(bench, game.choice, game.match,
                               bench.opponent_commitment(game.match));
}

void add_receipt_cases(PlayerBench& bench, Checks& out) {
  add_conversations(bench, kReceipts, out, &only_with_receipts);
}

}  // namespace league::tools::check
