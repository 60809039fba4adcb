// Checks of a bot that comes to the checker: its sessions and what it does when they end.
#include <algorithm>
#include <future>

#include "tools/check/player/player_checks.h"
#include "tools/check/player/player_restart.h"

namespace league::tools::check {
namespace {

using nlohmann::json;

/// How long a bot may take until it has a new session. It may hear of the end of the old one only
/// when its await_calls returns, so the checker calls it meanwhile.
constexpr milliseconds kReturns{15'000};

std::string only_outward(PlayerBench& bench) {
  return bench.is_outward() ? "" : "the bot is called at an address of its own";
}

Verdict opens_seat(PlayerBench& bench) {
  return expect(bench.seats().wait_for_session(0, milliseconds(100)), {}, "",
                "a call of open_seat with a valid proof", "none");
}

Verdict takes_calls_together(PlayerBench& bench) {
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

Verdict returns_after_restart(PlayerBench& bench) {
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

Verdict answers_again(PlayerBench& bench) {
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
  const std::string& promised = text_at(field_at(first, "result"), "choice_commitment");
  Verdict verdict = expect_accepted(reply, "its first answer was lost");
  return verdict.passed()
             ? expect_field(reply.text("choice_commitment") == promised, reply, "choice_commitment",
                            promised.empty() ? "none, as in the answer that was lost"
                                             : "that of the answer that was lost, " + promised)
             : verdict;
}

constexpr Probe<PlayerBench> kSeatProbes[] = {
    {"P-13.3/opens-seat",
     Level::kMust,
     "A bot that registers with `outward` opens its seat with a proof of its token.",
     "Call open_seat with proof = HMAC-SHA-256(auth_token, \"seat|TIMESTAMP|NONCE\") in "
     "hexadecimal.",
     &opens_seat,
     {.is_basic = true, .needs_play = false}},
    {"P-13.5/calls-at-once", Level::kMust,
     "Of two calls that come at the same time, the bot answers both within their limit.",
     "Hand in an answer as soon as it is ready, by another await_calls if one is waiting.",
     &takes_calls_together},
    {"P-13.7/new-session", Level::kRobust,
     "When the manager does not know its session any more, the bot opens a new one.",
     "After E012 or the end of the connection, call open_seat again, and register again if that "
     "is refused, too.",
     &returns_after_restart},
    {"P-13.8/same-answer-again", Level::kRobust,
     "A call whose answer was lost is offered again in the next session, and the bot answers it in "
     "the same way.",
     "After a failed await_calls open a new session, and keep your promise for each match: the "
     "same choice and nonce give the same choice_commitment.",
     &answers_again},
};

}  // namespace

void add_seat_checks(PlayerBench& bench, Checks& out) {
  add_probes(bench, kSeatProbes, out, &only_outward);
}

void add_take_over_check(PlayerBench& bench, RestartTools* tools, Checks& out) {
  const auto run = [&bench, tools]() -> Verdict {
    if (std::string why = only_outward(bench); !why.empty()) return skip(std::move(why));
    if (tools == nullptr || tools->bot == nullptr)
      return skip("the checker has not started the bot; use --start");
    if (bench.is_fast()) return skip("this has to wait; leave out --fast");
    const std::size_t before = bench.seats().sessions();
    bench.seats().take_over(bench.bot().id);
    constexpr milliseconds kWatched{4000};
    const bool has_returned = bench.seats().wait_for_session(before, kWatched);
    // A failed check is repeated.
    if (has_returned) return fail({}, "", "no further open_seat", "a new session within 4 s");
    return pass();
  };
  out.push_back({{.id = "P-13.7/stops-when-taken-over",
                  .level = Level::kRobust,
                  .text = "When another program has taken its seat, the bot does not take it back.",
                  .fix = "Stop when await_calls returns `ended`: `taken_over`, or E016, or when "
                         "notifications/seat_ended comes; otherwise two programs would take the "
                         "seat from each other for ever.",
                  .is_last = true},
                 run});
}

}  // namespace league::tools::check
