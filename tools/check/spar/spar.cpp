#include "tools/check/spar/spar.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <thread>

#include "common/agent/runtime/settings.h"
#include "common/core/counted.h"
#include "common/core/own_program.h"
#include "player/core/misbehaviour.h"
#include "player/core/strategy.h"
#include "tools/check/game_truth.h"
#include "tools/check/trial/registration.h"
#include "tools/check/wire.h"

namespace league::tools::check {

namespace {

/// The round of all matches. PlayerBench::settle uses lower rounds, whose invitations a bot may
/// still remember.
constexpr int kRound = 100;

/// What a player chose and what it gets for that.
std::string told_of(const envelope::MatchResult& result, const std::string& player) {
  std::string text = ": ";
  for (const auto& [id, choice] : result.details.choices)
    if (id.str() == player && choice) text += "chose " + *choice + ", ";
  for (const auto& [id, points] : result.score)
    if (id.str() == player) text += core::counted(points, "point");
  return text;
}

}  // namespace

void Sparring::note_calls(const TrialMatch& match, SparMatch& outcome) {
  for (const TrialCall& call : match.calls) {
    const auto side = std::ranges::find(
        sides_, call.endpoint, [](const SparSide& one) { return one.seat.endpoint.url(); });
    if (side == sides_.end()) continue;
    const bool is_refused = call.notes && call.notes->verdict;
    if (call.budget == transport::link::Budget::kGame) {
      outcome.story.push_back(call.type + " to " + side->name);
      if (call.exchange.trouble.empty()) side->latencies.push_back(call.exchange.elapsed);
      if (is_refused) outcome.story.push_back(side->name + ": " + call.notes->fault);
    } else if (is_refused && call.type == "GAME_OVER") {
      outcome.story.push_back(side->name + " disputes the result: " + call.notes->fault);
    }
  }
  if (!match.reason.empty()) outcome.story.push_back(match.reason);
}

SparMatch Sparring::play() {
  first_ = 1 - first_;
  game::PerSide<TrialSeat> seats;
  seats[game::Side::kA] = sides_.at(first_).seat;
  seats[game::Side::kB] = sides_.at(1 - first_).seat;
  const TrialMatch match = league_->play(seats, kRound, ++number_);
  SparMatch outcome;
  note_calls(match, outcome);
  for (std::size_t at = 0; at < sides_.size(); ++at) {
    SparSide& side = sides_.at(at);
    if (match.result) outcome.story.push_back(side.name + told_of(*match.result, side.seat.id));
    if (match.result && match.result->winner && match.result->winner->str() == side.seat.id)
      outcome.winner = at;
    const auto lost = match.lost_by(side.seat.id);
    outcome.is_technical.at(at) = lost.has_value();
    if (!lost) continue;
    SparLosses& losses = side.losses[std::string(referee::termination_name(*lost))];
    ++losses.count;
    if (const TrialCall* call = match.refused_call(side.seat.id)) losses.last = call->notes->fault;
  }
  outcome.is_draw = !outcome.winner && !outcome.is_technical[0] && !outcome.is_technical[1];
  return outcome;
}

std::pair<double, double> wilson_interval(double points, std::size_t matches) {
  if (matches == 0) return {0.0, 1.0};
  constexpr double kZ = 1.959964;  // 97.5 % of the normal distribution lie below
  const auto n = static_cast<double>(matches);
  const double share = points / n;
  const double middle = (share + kZ * kZ / (2 * n)) / (1 + kZ * kZ / n);
  const double half =
      kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n)) / (1 + kZ * kZ / n);
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

namespace {

/// Whether the word is a strategy or a misbehaviour of our player.
bool is_strategy(const std::string& word) {
  for (std::string_view known : player::known_strategies(*tested_game())) {
    if (known == word) return true;
  }
  const auto misbehaviour = player::parse_misbehaviour(word);
  return misbehaviour && misbehaviour->has_value();
}

core::Result<StartedBot> start_player(const std::string& strategy, const std::string& game) {
  const auto folder = core::own_program().parent_path();
  const auto logs = std::filesystem::temp_directory_path() / "league_spar_logs";
  return StartedBot::start("'" + (folder / "player").string() + "' --standalone --port {port} " +
                               "--strategy " + strategy + " --logs '" + logs.string() + "'" +
                               (game.empty() ? "" : " --game '" + game + "'"),
                           "");
}

bool is_somebody_there(const transport::link::Endpoint& endpoint) {
  if (endpoint.scheme != "http") return true;
  return !raw_http(endpoint, {.pieces = {}, .limit = milliseconds(50)}).front().is_refused;
}

/// Starts the bot with `command` and waits for its registration.
core::Result<TrialSeat> start_registering(OpenedSide& opened, const std::string& command,
                                          const std::string& id, envelope::Mode mode, Wire& wire) {
  CheckerBus* const bus = wire.bus();
  constexpr milliseconds kPatience{60'000};
  auto runtime = transport::front::HttpRuntime::start();
  if (!runtime) return runtime.error();
  opened.runtime = std::move(*runtime);
  // On a bus, two managers cannot serve the same league.
  const std::string league = bus != nullptr ? std::string(kSparLeague) + "_" + id : kSparLeague;
  auto manager = MockManager::open(
      *opened.runtime, {.league_id = league, .player_id = id, .bus = bus, .seats = &wire.seats()});
  if (!manager) return manager.error();
  opened.manager = std::move(*manager);
  auto program = StartedBot::start(command, opened.manager->url());
  if (!program) return program.error();
  opened.program.emplace(std::move(*program));
  const auto is_registration = [](const InboundCall& call) {
    return call.type() == "LEAGUE_REGISTER_REQUEST";
  };
  const auto until = std::chrono::steady_clock::now() + kPatience;
  std::optional<InboundCall> call;
  while (!call && !opened.program->has_ended() && std::chrono::steady_clock::now() < until)
    call = opened.manager->server().wait_for(is_registration, 0, milliseconds(200));
  if (!call)
    return core::Error{core::ErrorCode::kTimeout,
                       std::string("the bot has ") +
                           (opened.program->has_ended() ? "ended without registering"
                                                        : "not registered within 60 s") +
                           "; the end of its output: " + opened.program->last_words(),
                       {}};
  auto schemas = envelope::MessageSchemas::load();
  if (!schemas) return schemas.error();
  const JudgedRegistration judged = judge_registration(call->bytes, *schemas, mode);
  if (judged.refusal)
    return core::Error{judged.refusal->code,
                       "a league refuses the bot's registration: " + judged.refusal->message,
                       judged.refusal->field};
  const auto meta = call->message.value("player_meta", nlohmann::json());
  auto endpoint = place_of(text_at(meta, "contact_endpoint"), id);
  if (!endpoint) return endpoint.error();
  // As a league, which begins a moment after the last registration.
  std::this_thread::sleep_for(agent::runtime::Settings().league.start_delay);
  return TrialSeat{.id = id,
                   .endpoint = *endpoint,
                   .token = opened.manager->token(),
                   .has_receipts = field_at(meta, "receipts") == nlohmann::json(true),
                   .dialect = judged.dialect};
}

}  // namespace

core::Result<OpenedSide> open_side(Wire& wire, const std::string& word, const std::string& id,
                                   envelope::Mode mode) {
  OpenedSide opened;
  opened.side.name = word;
  if (word.find("{manager}") != std::string::npos) {
    auto seat = start_registering(opened, word, id, mode, wire);
    if (!seat) return seat.error();
    opened.side.seat = std::move(*seat);
    return opened;
  }
  std::string url = word;
  if (is_strategy(word)) {
    auto program = start_player(word, file_of_tested_game());
    if (!program) return program.error();
    url = "http://127.0.0.1:" + std::to_string(program->port()) + "/mcp";
    opened.program.emplace(std::move(*program));
  }
  auto endpoint = transport::link::parse_endpoint(url);
  if (!endpoint) return endpoint.error();
  opened.side.seat = {.id = id, .endpoint = *endpoint};
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!is_somebody_there(*endpoint)) {
    if (std::chrono::steady_clock::now() > until || !opened.program)
      return core::Error{
          core::ErrorCode::kConnectionError, "the bot cannot be reached at " + url, {}};
    std::this_thread::sleep_for(milliseconds(20));
  }
  if (endpoint->scheme == "http") return opened;
  const Exchange ping =
      wire.send(*endpoint, R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{}})", rpc::Id(1),
                milliseconds(5000));
  if (ping.is_refused)
    return core::Error{core::ErrorCode::kConnectionError,
                       "the bot cannot be reached at " + url + ": " + ping.trouble,
                       {}};
  return opened;
}

}  // namespace league::tools::check
