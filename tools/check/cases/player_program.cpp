// The program of a bot: what it does after a restart, and the sessions of one that comes to the
// checker.
#include <algorithm>
#include <future>

#include "tools/check/cases/cases.h"
#include "tools/check/cases/conversation.h"

namespace league::tools::check {
namespace {

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
  auto endpoint = place_of(call->meta_text("contact_endpoint"), bench.bot().id);
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

// ---- Restarts.

struct Restart {
  PlayerBench& bench;
  RestartTools& tools;

  /// Restarts the bot; nothing: it did not register again.
  [[nodiscard]] std::optional<InboundCall> again(std::size_t skip_first = 0) const {
    return restarted(bench, tools, patience(bench, tools), skip_first);
  }
};

/// A case that restarts the bot.
struct RestartCase {
  const char* id;
  Level level;
  const char* text;
  const char* fix;
  Verdict (*run)(const Restart&);
};

Verdict has_not_returned() { return fail({}, "", "a second LEAGUE_REGISTER_REQUEST", kNone); }

Verdict returns_with_token(const Restart& with) {
  const auto call = with.again();
  if (!call) return has_not_returned();
  const std::string token = call->text("auth_token");
  const bool is_there = !value_at(call->message, "auth_token").is_null();
  return expect(!token.empty() && with.bench.bot().token.matches(token), seen_call(&*call),
                "/params/auth_token", "the token that the bot had",
                is_there ? "another token" : "nothing");
}

Verdict returns_with_nonce(const Restart& with) {
  if (!with.bench.gives_receipts()) return skip(kNoReceipts);
  const auto call = returned(with.bench, with.tools);
  if (!call) return has_not_returned();
  const auto nonce = with.bench.registration->text("registration_nonce");
  return expect(!nonce.empty() && call->text("registration_nonce") == nonce, seen_call(&*call),
                "/params/registration_nonce", "the nonce of the first registration",
                shown_value(call->message, "registration_nonce"));
}

Verdict signs_alike(const Restart& with) {
  if (!with.bench.gives_receipts()) return skip(kNoReceipts);
  if (!returned(with.bench, with.tools)) return has_not_returned();
  return expect_receipts(with.bench, with.bench.play(with.bench.new_match(), true));
}

Verdict keeps_commitment(const Restart& with) {
  PlayerBench& bench = with.bench;
  if (!bench.commits()) return skip("the bot does not commit to its choices");
  const TestMatch match = bench.new_match();
  const BotReply first = bench.ask(kInvite, bench.invitation(match));
  if (!with.again()) return fail(first.exchange, "", "a registration after the restart", kNone);
  return expect_same_commitment(first, bench.ask(kInvite, bench.invitation(match)),
                                "the commitment from before the restart, ");
}

Verdict repeats_registration(const Restart& with) {
  if (with.bench.is_fast())
    return skip("this has to wait for the bot's own delay; leave out --fast");
  with.tools.manager.refuse_registrations(1);
  const auto call = with.again(1);
  with.tools.manager.refuse_registrations(0);
  return expect(call.has_value(), {}, "", "another LEAGUE_REGISTER_REQUEST", kNone);
}

const RestartCase kRestarts[] = {
    {"P-8/returns-with-token", kRobust,
     "After a restart, the bot registers with the token that it had.",
     "Store auth_token in a file, and send it in LEAGUE_REGISTER_REQUEST after a restart.",
     returns_with_token},
    {"P-6/plays-after-restart", kRobust, "After a restart, the bot plays.",
     "After a restart, register and answer calls as before.",
     [](const Restart& with) {
       return expect_choice(hold(with.bench, "invite call").last(), "the bot was restarted");
     }},
    {"P-8.15/returns-with-nonce", kShould,
     "After a restart, a bot that declares receipts repeats its `registration_nonce`.",
     "Store registration_nonce beside the token and send both: only then the manager sends "
     "receipt_key again, and believes a new address during a match.",
     returns_with_nonce},
    {"P-7.61/receipt-after-restart", kRobust, "After a restart, the bot makes the same receipts.",
     "Store receipt_key and league_key in the file of the token.", signs_alike},
    {"P-7.28/commitment-survives-restart", kRobust,
     "After a restart during a match, the bot still has its commitment.",
     "Write the choice and the nonce to a file before you send GAME_JOIN_ACK, and read the file at "
     "the start.",
     keeps_commitment},
    {"P-6/registration-retried", kRobust,
     "The bot repeats a registration that failed with HTTP 503.",
     "Repeat the same registration every two seconds until the manager answers.",
     repeats_registration},
};

// ---- Sessions of a bot that comes to the checker.

/// How long a bot may take until it has a new session. It may hear of the end of the old one only
/// when its await_calls returns, so the checker calls it meanwhile.
constexpr milliseconds kReturns{15'000};

std::string only_outward(PlayerBench& bench) {
  return bench.is_outward() ? "" : "the bot is called at an address of its own";
}

Verdict opens_seat(const Talk& talk) {
  return expect(talk.bench.seats().wait_for_session(0, milliseconds(100)), {}, "",
                "a call of open_seat with a valid proof", "none");
}

Verdict takes_calls_together(const Talk& talk) {
  PlayerBench& bench = talk.bench;
  const TestMatch first = bench.new_match();
  const TestMatch second = bench.new_match();
  auto other =
      std::async(std::launch::async, [&] { return bench.ask(kInvite, bench.invitation(first)); });
  const BotReply here = bench.ask(kInvite, bench.invitation(second));
  const BotReply there = other.get();
  Verdict verdict = expect_accepted(there, "another call had come just before or after it");
  return verdict.passed() ? expect_accepted(here, "another call had come just before or after it")
                          : verdict;
}

Verdict returns_after_restart(const Talk& talk) {
  PlayerBench& bench = talk.bench;
  const std::size_t before = bench.seats().sessions();
  bench.seats().forget_sessions();
  const auto until = std::chrono::steady_clock::now() + kReturns;
  BotReply reply;
  do {
    reply = bench.ask(kInvite, bench.invitation(bench.new_match()));
  } while (!PlayerBench::accepts(reply) && std::chrono::steady_clock::now() < until);
  if (!bench.seats().wait_for_session(before, milliseconds(0))) {
    return fail(reply.exchange, "", "a new call of open_seat, since the old session got E012",
                "none within 15 s");
  }
  return expect_accepted(reply, "it came at a new session");
}

Verdict answers_again(const Talk& talk) {
  PlayerBench& bench = talk.bench;
  const std::size_t before = bench.seats().sessions();
  bench.seats().lose_next_answer();
  const TestMatch match = bench.new_match();
  BotReply reply = bench.ask(kInvite, bench.invitation(match));
  const auto lost = bench.seats().lost_answer();
  if (!lost) return fail(reply.exchange, "", "an answer", "none");
  if (!bench.seats().wait_for_session(before, kReturns))
    return fail(reply.exchange, "", "a new session after a failed await_calls", "none within 15 s");
  // A bot that waits before it returns has its time over, but it must still know its promise.
  if (!reply.has_answer()) reply = bench.ask(kInvite, bench.invitation(match));
  const json first = json::parse(*lost, nullptr, false);
  const std::string& promised = text_at(value_at(first, "result"), "choice_commitment");
  Verdict verdict = expect_accepted(reply, "its first answer was lost");
  return verdict.passed()
             ? expect_field(reply.text("choice_commitment") == promised, reply, "choice_commitment",
                            promised.empty() ? "none, as in the answer that was lost"
                                             : "that of the answer that was lost, " + promised)
             : verdict;
}

const Conversation kSeats[] = {
    {"P-13.3/opens-seat", kMust,
     "A bot that registers with `outward` opens its seat with a proof of its token.",
     "Call open_seat with proof = HMAC-SHA-256(auth_token, \"seat|TIMESTAMP|NONCE\") in "
     "hexadecimal.",
     "", opens_seat, "", kBasic | kAlways},
    {"P-13.5/calls-at-once", kMust,
     "Of two calls that come at the same time, the bot answers both within their limit.",
     "Hand in an answer as soon as it is ready, by another await_calls if one is waiting.", "",
     takes_calls_together},
    {"P-13.7/new-session", kRobust,
     "When the manager does not know its session any more, the bot opens a new one.",
     "After E012 or the end of the connection, call open_seat again, and register again if that "
     "is refused, too.",
     "", returns_after_restart},
    {"P-13.8/same-answer-again", kRobust,
     "A call whose answer was lost is offered again in the next session, and the bot answers it in "
     "the same way.",
     "After a failed await_calls open a new session, and keep your promise for each match: the "
     "same choice and nonce give the same choice_commitment.",
     "", answers_again},
};

Verdict stays_away(const Restart& with) {
  PlayerBench& bench = with.bench;
  if (bench.is_fast()) return skip("this has to wait; leave out --fast");
  const std::size_t before = bench.seats().sessions();
  bench.seats().take_over(bench.bot().id);
  constexpr milliseconds kWatched{4000};
  const bool has_returned = bench.seats().wait_for_session(before, kWatched);
  // A failed check is repeated.
  if (has_returned) return fail({}, "", "no further open_seat", "a new session within 4 s");
  return pass();
}

const RestartCase kTakeOver = {
    "P-13.7/stops-when-taken-over", kRobust,
    "When another program has taken its seat, the bot does not take it back.",
    "Stop when await_calls returns `ended`: `taken_over`, or E016, or when "
    "notifications/seat_ended comes; otherwise two programs would take the seat from each other "
    "for "
    "ever.",
    stays_away};

void add_restart(PlayerBench& bench, RestartTools* tools, const RestartCase& row, Checks& out,
                 Obstacle<PlayerBench> obstacle = nullptr) {
  out.push_back(
      {case_info(row.id, row.level, row.text, row.fix, kLast), [&bench, tools, &row, obstacle] {
         std::string why = obstacle == nullptr ? std::string() : obstacle(bench);
         if (!why.empty()) return skip(std::move(why));
         if (tools == nullptr || tools->bot == nullptr)
           return skip("the checker has not started the bot; use --start");
         return row.run({bench, *tools});
       }});
}

}  // namespace

bool start_again(PlayerBench& bench, RestartTools& tools) {
  return tools.bot != nullptr && Restart{bench, tools}.again().has_value();
}

void add_restart_cases(PlayerBench& bench, RestartTools* tools, Checks& out) {
  for (const RestartCase& row : kRestarts) add_restart(bench, tools, row, out);
}

void add_take_over_case(PlayerBench& bench, RestartTools* tools, Checks& out) {
  add_restart(bench, tools, kTakeOver, out, &only_outward);
}

void add_seat_cases(PlayerBench& bench, Checks& out) {
  add_conversations(bench, kSeats, out, &only_outward);
}

}  // namespace league::tools::check
