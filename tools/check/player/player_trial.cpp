// The first matches of a check, as a league plays them.
#include <thread>

#include "common/agent/dialects/reply_dialect.h"
#include "common/core/text.h"
#include "common/envelope/envelope.h"
#include "common/rpc/codec.h"
#include "tools/check/player/player_bench.h"

namespace league::tools::check {

using agent::dialects::CallDialect;
using agent::dialects::CallStyle;
using core::ErrorCode;
using envelope::MessageType;
using game::Side;
using nlohmann::json;

namespace {

constexpr int kTrialRounds = 2;  // the bot is player A, then player B

rpc::Id id_of(const std::string& request) {
  const json frame = json::parse(request, nullptr, false);
  return rpc::Id::from_json(field_at(frame, "id")).value_or(rpc::Id());
}

bool is_answer_of_player(const InboundCall& call) {
  const std::string type = call.type();
  return type == "GAME_JOIN_ACK" || type == "CHOOSE_PARITY_RESPONSE";
}

}  // namespace

void PlayerBench::learn(const TrialCall& call) {
  const auto type = envelope::message_type_from_wire(call.type);
  if (!type || !call.notes) return;
  std::lock_guard lock(mutex_);
  for (std::string_view name : call.notes->leniencies) leniencies_.emplace(name);
  // The checks that follow negotiate no sessions.
  if (call.notes->verdict || call.exchange.received.empty() || call.is_in_session) return;
  const json frame = json::parse(call.exchange.sent, nullptr, false);
  const std::string& method = text_at(frame, "method");
  const bool is_tool = method == "tools/call";
  const std::string name = is_tool ? text_at(field_at(frame, "params"), "name") : method;
  for (const CallDialect& way : agent::dialects::call_dialects(*type, CallStyle::kToolName)) {
    if (way.name != name || is_tool != (way.style == CallStyle::kToolsCall)) continue;
    ways_[*type] = way;
    return;
  }
}

BotTrial PlayerBench::lost_trial(const TrialMatch& match, PlayedGame& game) {
  BotTrial trial;
  trial.lost_by = match.lost_by(options_.bot.id);
  game.match.id = match.id;
  game.match.conversation = envelope::match_conversation(core::MatchId(match.id), 1).str();
  for (const TrialCall& call : match.calls) {
    if (call.endpoint != options_.bot.endpoint.url()) continue;
    const bool is_join = call.type == envelope::wire_name(kInvite);
    if (!is_join && call.type != envelope::wire_name(kCall)) continue;
    (is_join ? game.join : game.choice) = read(call.exchange, id_of(call.exchange.sent));
  }
  const TrialCall* call = match.refused_call(options_.bot.id);
  const bool is_join = call != nullptr ? call->type == envelope::wire_name(kInvite)
                                       : game.choice.exchange.sent.empty();
  trial.lost_at = is_join ? kInvite : kCall;
  trial.refused = is_join ? game.join : game.choice;
  // A match can be lost by an answer that is correct in itself, such as accept: false.
  trial.why = call != nullptr ? core::Error{*call->notes->verdict, call->notes->fault, {}}
                              : core::Error{ErrorCode::kInvalidFieldValue, match.reason, {}};
  if (trial.refused.fault) trial.why.field = trial.refused.fault->field;
  std::lock_guard lock(mutex_);
  last_sent_ = envelope::wire_name(trial.lost_at);
  return trial;
}

BotTrial PlayerBench::play_trial_round(TrialLeague& league, const game::PerSide<TrialSeat>& seats,
                                       int round) {
  const auto registered_at =
      registration ? registration->at : std::chrono::steady_clock::time_point{};
  BotTrial trial;
  for (int number = 1;; ++number) {
    league.announce(seats, round, number);
    const TrialMatch match = league.play(seats, round, number);
    for (const TrialCall& call : match.calls) learn(call);
    (void)credential(match.id);  // for the lines that repeat a request
    if (!match.lost_by(options_.bot.id)) break;
    PlayedGame game;
    trial = lost_trial(match, game);
    lost_game_ = std::move(game);
    // It may not have read the answer to its registration yet.
    const bool is_early = std::chrono::steady_clock::now() - registered_at < milliseconds(1500);
    if (!is_early || trial.lost_at != kInvite || !trial.refused.error.is_object()) break;
    std::this_thread::sleep_for(milliseconds(100));
    trial = {};
  }
  league.tell_results(seats, round);
  return trial;
}

BotTrial PlayerBench::play_trial() {
  BotTrial trial;
  TrialLeague::Options options;
  options.league_id = options_.bot.league_id;
  options.invitation_limit = options_.is_fast ? milliseconds(3000) : milliseconds(5000);
  options.choice_limit = options_.is_fast ? milliseconds(4000) : milliseconds(30'000);
  options.retry_delay = milliseconds(100);
  options.gives_up_at_timeout = true;
  if (server != nullptr) options.referee_url = server->url();
  options.bus = &wire_.seats().caller();
  auto league = TrialLeague::open(options);
  if (!league) {
    trial.trouble = league.error().message;
    return trial;
  }
  if (server != nullptr) server->forward(is_answer_of_player, &(*league)->referee());
  const TrialSeat bot{.id = options_.bot.id,
                      .endpoint = options_.bot.endpoint,
                      .token = options_.bot.token,
                      .has_receipts = gives_receipts(),
                      .dialect = registered.dialect};
  const TrialSeat other{.id = options_.bot.id == "P02" ? "P03" : "P02",
                        .endpoint = *transport::link::parse_endpoint(TrialLeague::kStandInUrl)};
  for (int round = 1; round <= kTrialRounds && !trial.lost_by; ++round) {
    game::PerSide<TrialSeat> seats;
    seats[round == 1 ? Side::kA : Side::kB] = bot;
    seats[round == 1 ? Side::kB : Side::kA] = other;
    trial = play_trial_round(**league, seats, round);
  }
  trial.limit = trial.lost_at == kInvite ? options.invitation_limit : options.choice_limit;
  for (const TrialCall& call : (*league)->manager_calls()) learn(call);
  if (server != nullptr) server->forward(nullptr, nullptr);
  last_match_ = 10 * kTrialRounds;
  return trial;
}

const BotTrial& PlayerBench::trial() {
  if (!trial_) trial_ = play_trial();
  return *trial_;
}

}  // namespace league::tools::check
