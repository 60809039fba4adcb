#include "tools/check/player/player_restart.h"

#include <algorithm>

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

constexpr milliseconds kReturnsWithin{8000};
constexpr const char* kNone = "none within 8 s, nor within four times what its first start took";

/// How long it may take to come back. A busy machine delays the first start, too.
milliseconds patience(const PlayerBench& bench, const RestartTools& tools) {
  if (!bench.registration) return kReturnsWithin;
  const auto first = bench.registration->at - tools.bot->started_at();
  return std::max(kReturnsWithin, std::chrono::duration_cast<milliseconds>(4 * first));
}

bool is_registration(const InboundCall& call) { return call.type() == "LEAGUE_REGISTER_REQUEST"; }

void add_restarted(Checks& out, RestartTools* tools, CheckInfo info, std::function<Verdict()> run) {
  info.is_last = true;
  out.push_back({std::move(info), [tools, run = std::move(run)] {
                   if (tools == nullptr || tools->bot == nullptr)
                     return skip("the checker has not started the bot; use --start");
                   return run();
                 }});
}

/// Restarts the bot and uses its new address. Returns its registration request.
std::optional<InboundCall> restarted(PlayerBench& bench, RestartTools& tools, milliseconds limit,
                                     std::size_t skip_first = 0) {
  std::size_t from = tools.manager.server().count();
  if (!tools.bot->restart()) return std::nullopt;
  std::optional<InboundCall> call;
  for (std::size_t i = 0; i <= skip_first; ++i) {
    call = tools.manager.server().wait_for(is_registration, from, limit);
    if (!call) return std::nullopt;
    const auto calls = tools.manager.server().calls(from);
    for (const InboundCall& seen : calls) {
      ++from;
      if (is_registration(seen)) break;
    }
  }
  const json meta = call->message.value("player_meta", json::object());
  auto endpoint = place_of(text_at(meta, "contact_endpoint"), bench.bot().id);
  if (endpoint) {
    BotIdentity bot = bench.bot();
    bot.endpoint = *endpoint;
    bench.set_bot(std::move(bot));
    bench.settle();
  }
  return call;
}

/// The last registration, after at least one restart; nothing: the bot did not register again.
std::optional<InboundCall> returned(PlayerBench& bench, RestartTools& tools) {
  std::optional<InboundCall> last;
  int count = 0;
  const auto calls = tools.manager.server().calls();
  for (const InboundCall& call : calls) {
    if (!is_registration(call)) continue;
    last = call;
    ++count;
  }
  return count > 1 ? last : restarted(bench, tools, patience(bench, tools));
}

void add_receipt_restarts(PlayerBench& bench, RestartTools* tools, Checks& out) {
  add_restarted(
      out, tools,
      {.id = "P-8.15/returns-with-nonce",
       .level = Level::kShould,
       .text = "After a restart, a bot that declares receipts repeats its `registration_nonce`.",
       .fix =
           "Store registration_nonce beside the token and send both: only then the manager sends "
           "receipt_key again, and believes a new address during a match."},
      [&bench, tools] {
        if (!bench.gives_receipts()) return skip(kNoReceipts);
        const auto call = returned(bench, *tools);
        if (!call) return fail({}, "", "a second LEAGUE_REGISTER_REQUEST", kNone);
        const auto nonce = text_at(bench.registration->message, "registration_nonce");
        return expect(!nonce.empty() && text_at(call->message, "registration_nonce") == nonce,
                      seen_call(&*call), "/params/registration_nonce",
                      "the nonce of the first registration",
                      shown_value(call->message, "registration_nonce"));
      });
  add_restarted(out, tools,
                {.id = "P-7.61/receipt-after-restart",
                 .level = Level::kRobust,
                 .text = "After a restart, the bot makes the same receipts.",
                 .fix = "Store receipt_key and league_key in the file of the token."},
                [&bench, tools] {
                  if (!bench.gives_receipts()) return skip(kNoReceipts);
                  if (!returned(bench, *tools))
                    return fail({}, "", "a second LEAGUE_REGISTER_REQUEST", kNone);
                  return expect_receipts(bench, bench.play(bench.new_match(), true));
                });
}

}  // namespace

bool start_again(PlayerBench& bench, RestartTools& tools) {
  return tools.bot != nullptr && restarted(bench, tools, patience(bench, tools)).has_value();
}

void add_restart_checks(PlayerBench& bench, RestartTools* tools, Checks& out) {
  add_restarted(
      out, tools,
      {.id = "P-8/returns-with-token",
       .level = Level::kRobust,
       .text = "After a restart, the bot registers with the token that it had.",
       .fix =
           "Store auth_token in a file, and send it in LEAGUE_REGISTER_REQUEST after a restart."},
      [&bench, tools] {
        const auto call = restarted(bench, *tools, patience(bench, *tools));
        if (!call) return fail({}, "", "a second LEAGUE_REGISTER_REQUEST", kNone);
        const json& token = call->message.value("auth_token", json());
        return expect(token.is_string() && bench.bot().token.matches(token.get<std::string>()),
                      seen_call(&*call), "/params/auth_token", "the token that the bot had",
                      token.is_null() ? "nothing" : "another token");
      });
  add_restarted(out, tools,
                {.id = "P-6/plays-after-restart",
                 .level = Level::kRobust,
                 .text = "After a restart, the bot plays.",
                 .fix = "After a restart, register and answer calls as before."},
                [&bench] {
                  return expect_choice(bench.play(bench.new_match(), true).choice,
                                       "the bot was restarted");
                });
  add_receipt_restarts(bench, tools, out);
  add_restarted(
      out, tools,
      {.id = "P-7.28/commitment-survives-restart",
       .level = Level::kRobust,
       .text = "After a restart during a match, the bot still has its commitment.",
       .fix = "Write the choice and the nonce to a file before you send GAME_JOIN_ACK, and read "
              "the file at the start."},
      [&bench, tools] {
        if (!bench.commits()) return skip("the bot does not commit to its choices");
        const TestMatch match = bench.new_match();
        const BotReply first = bench.ask(MessageType::kGameInvitation, bench.invitation(match));
        if (!restarted(bench, *tools, patience(bench, *tools)))
          return fail(first.exchange, "", "a registration after the restart", kNone);
        const BotReply second = bench.ask(MessageType::kGameInvitation, bench.invitation(match));
        return expect_field(second.text("choice_commitment") == first.text("choice_commitment"),
                            second, "choice_commitment",
                            "the commitment from before the restart, " +
                                shown_value(first.message, "choice_commitment"));
      });
  add_restarted(
      out, tools,
      {.id = "P-6/registration-retried",
       .level = Level::kRobust,
       .text = "The bot repeats a registration that failed with HTTP 503.",
       .fix = "Repeat the same registration every two seconds until the manager answers."},
      [&bench, tools] {
        if (bench.is_fast())
          return skip("this has to wait for the bot's own delay; leave out --fast");
        tools->manager.refuse_registrations(1);
        const auto call = restarted(bench, *tools, patience(bench, *tools), 1);
        tools->manager.refuse_registrations(0);
        return expect(call.has_value(), {}, "", "another LEAGUE_REGISTER_REQUEST", kNone);
      });
}

}  // namespace league::tools::check
