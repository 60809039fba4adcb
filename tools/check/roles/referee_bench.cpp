#include "tools/check/roles/referee_bench.h"

#include <algorithm>

#include "common/agent/identity/match_credential.h"
#include "common/core/clock.h"
#include "league_manager/rounds/match_starter.h"
#include "tools/check/change.h"
#include "tools/check/game_truth.h"

namespace league::tools::check {

using envelope::MessageType;
using nlohmann::json;

namespace {
/// How often referees ask for their matches that do so.
constexpr milliseconds kPollInterval{6000};

json first_match_of(const json& announcement) {
  const json& matches = field_at(announcement, "matches");
  return matches.is_array() && !matches.empty() ? matches.front() : json::object();
}
}  // namespace

const InboundCall* RefereeTrace::first(std::size_t seat, const std::string& type) const {
  for (const InboundCall& call : seats.at(seat)) {
    if (call.type() == type) return &call;
  }
  return nullptr;
}

std::size_t RefereeTrace::count(std::size_t seat, const std::string& type) const {
  return static_cast<std::size_t>(
      std::count_if(seats.at(seat).begin(), seats.at(seat).end(),
                    [&type](const InboundCall& call) { return call.type() == type; }));
}

Exchange RefereeTrace::first_report() const {
  return reports.empty() ? Exchange{} : Exchange{.received = reports.front().bytes};
}

json RefereeTrace::result() const {
  return reports.empty() ? json() : value_at(reports.front().message, "result");
}

RefereeBench::RefereeBench(Wire& wire, MockManager& manager, bool is_fast)
    : wire_(wire),
      manager_(manager),
      rpc_(wire, {.bot = {}, .is_fast = is_fast, .limit = milliseconds(is_fast ? 1500 : 5000)}) {
  tokens_ = {core::AuthToken("tok_p21_" + core::to_base32(random_.bytes<32>())),
             core::AuthToken("tok_p22_" + core::to_base32(random_.bytes<32>()))};
}

core::Result<void> RefereeBench::open(transport::front::HttpRuntime& runtime) {
  for (std::size_t seat = 0; seat < 2; ++seat) {
    auto server = MockServer::open(runtime, "127.0.0.1", 0, [this, seat](const InboundCall& call) {
      return answer_as_player(seat, call);
    });
    if (!server) return server.error();
    servers_.at(seat) = std::move(*server);
  }
  // Some referees take the addresses of players from a file of their own, where player N is usually
  // at the port 8100 + N. If these ports are taken, nothing is known of such calls.
  for (const std::uint16_t port : {std::uint16_t{8101}, std::uint16_t{8102}}) {
    auto server = MockServer::open(runtime, "127.0.0.1", port, [this, port](const InboundCall&) {
      std::lock_guard lock(mutex_);
      stray_ = "http://127.0.0.1:" + std::to_string(port) + "/mcp";
      return MockAnswer{.result = {{"status", "ok"}}};
    });
    if (server) usual_places_.push_back(std::move(*server));
  }
  manager_.set_answer([this](const InboundCall& call) { return answer_as_manager(call); });
  return {};
}

void RefereeBench::admit(InboundCall registration, const transport::link::Endpoint& endpoint) {
  registration_ = std::move(registration);
  rpc_.server = &manager_.server();
  rpc_.set_bot({.id = manager_.options().referee_id,
                .token = manager_.token(),
                .league_id = manager_.options().league_id,
                .endpoint = endpoint});
}

std::string RefereeBench::nonce(const std::string& match_id, std::size_t seat) const {
  return core::to_hex(core::sha256(match_id + tokens_.at(seat).reveal()));
}

std::string RefereeBench::commitment(const RefereeTrace& trace, std::size_t seat) const {
  return game::choice_commitment({.draw_commitment = trace.draw_commitment,
                                  .match_id = trace.match_id,
                                  .player_id = player_id(seat),
                                  .choice = trace.scripts.at(seat).choice,
                                  .nonce = nonce(trace.match_id, seat)});
}

json RefereeBench::assignment(const RefereeMatch& match, RefereeTrace& trace) {
  int number = 0;
  {
    std::lock_guard lock(mutex_);
    number = ++last_match_;
  }
  trace.match_id = "R1M" + std::to_string(number);
  trace.conversation = "convr1m" + std::to_string(number) + "001";
  trace.seed = random_.bytes<32>();
  trace.draw_commitment = game::draw_commitment(trace.seed, trace.match_id);
  trace.scripts = match.seats;
  json row = {{"match_id", trace.match_id},
              {"game_type", tested_game()->game_type()},
              {"referee_endpoint", rpc_.bot().endpoint.url()},
              {"referee_id", rpc_.bot().id},
              {"draw_commitment", trace.draw_commitment},
              {"draw_seed", core::to_hex(trace.seed)},
              {"attempt", 1},
              {"conversation_id", trace.conversation}};
  for (std::size_t seat = 0; seat < 2; ++seat) {
    const std::string name = seat == 0 ? "player_A_" : "player_B_";
    const SeatScript& script = match.seats.at(seat);
    row[name + "id"] = player_id(seat);
    row[name + "endpoint"] = script.endpoint.empty() ? url(seat) : script.endpoint;
    row[name + "credential"] =
        agent::identity::match_credential(tokens_.at(seat), core::MatchId(trace.match_id), 1)
            .reveal();
    row[name + "token_hash"] = tokens_.at(seat).hash();
  }
  json message = rpc_.envelope(MessageType::kRoundAnnouncement, "convround1round_announcement");
  message.update({{"round_id", 1}, {"matches", json::array({row})}});
  if (match.change_assignment) match.change_assignment(message);
  if (is_foreign() && message.contains("matches"))
    league_manager::rounds::add_spellings(message["matches"]);
  return message;
}

RefereeTrace RefereeBench::play(const RefereeMatch& match) {
  RefereeTrace trace;
  const json message = assignment(match, trace);
  const std::string id = trace.match_id;
  {
    std::lock_guard lock(mutex_);
    running_[id] = {.match = match, .trace = trace, .counts = {}, .row = first_match_of(message)};
  }
  BotReply reply = start(message);
  std::unique_lock lock(mutex_);
  Running& running = running_[id];
  running.trace.assignment = std::move(reply);
  const auto is_over = [&running, &match] {
    const auto told = [&](std::size_t seat) {
      return running.trace.first(seat, "GAME_OVER") != nullptr ||
             !match.seats.at(seat).endpoint.empty();
    };
    return !running.trace.reports.empty() && told(0) && told(1);
  };
  auto limit = match.expects_report ? match.limit : std::min(match.limit, milliseconds(500));
  if (polls_) limit += kPollInterval;
  (void)changed_.wait_for(lock, limit, is_over);
  return running.trace;
}

json RefereeBench::right_answer(std::size_t seat, const InboundCall& call,
                                const Running& running) const {
  const SeatScript& script = running.match.seats.at(seat);
  const RefereeTrace& trace = running.trace;
  json message = {{"protocol", "league.v2"},
                  {"sender", "player:" + player_id(seat)},
                  {"timestamp", core::SystemClock().utc_now().to_wire()},
                  {"conversation_id", call.text("conversation_id")},
                  {"auth_token", tokens_.at(seat).reveal()},
                  {"league_id", rpc_.bot().league_id},
                  {"round_id", 1},
                  {"match_id", trace.match_id},
                  {"player_id", player_id(seat)}};
  if (call.type() == "GAME_INVITATION") {
    message.update({{"message_type", "GAME_JOIN_ACK"},
                    {"arrival_timestamp", core::SystemClock().utc_now().to_wire()},
                    {"accept", true}});
    if (script.commits) message["choice_commitment"] = commitment(trace, seat);
    return message;
  }
  message.update({{"message_type", "CHOOSE_PARITY_RESPONSE"}, {"parity_choice", script.choice}});
  if (script.commits) message["choice_nonce"] = nonce(trace.match_id, seat);
  return message;
}

MockAnswer RefereeBench::answer_as_player(std::size_t seat, const InboundCall& call) {
  std::lock_guard lock(mutex_);
  const auto found = running_.find(call.text("match_id"));
  if (found == running_.end()) return {.result = {{"status", "ok"}}};
  Running& running = found->second;
  const std::string type = call.type();
  const int before = running.counts[type + std::to_string(seat)]++;
  running.trace.seats.at(seat).push_back(call);
  changed_.notify_all();
  const SeatScript& script = running.match.seats.at(seat);
  if (type != "GAME_INVITATION" && type != "CHOOSE_PARITY_CALL")
    return {.result = {{"status", "ok"}}};
  json answer = right_answer(seat, call, running);
  if (script.spoil) script.spoil(answer, before);
  return {.result = std::move(answer),
          .delay = type == "GAME_INVITATION" ? script.join_delay : milliseconds(0)};
}

std::optional<MockAnswer> RefereeBench::answer_as_manager(const InboundCall& call) {
  if (auto answer = answer_to_poll(call)) return answer;
  if (call.type() != "MATCH_RESULT_REPORT") return std::nullopt;
  std::lock_guard lock(mutex_);
  const auto found = running_.find(call.text("match_id"));
  if (found == running_.end()) return std::nullopt;
  Running& running = found->second;
  running.trace.reports.push_back(call);
  changed_.notify_all();
  if (running.match.on_report)
    return running.match.on_report(call, static_cast<int>(running.trace.reports.size()) - 1);
  return std::nullopt;
}

const RefereeTrace& RefereeBench::sample() {
  if (!sample_) {
    RefereeMatch match;
    match.seats[1].choice = game_word(1);
    sample_ = play(match);
  }
  return *sample_;
}

const RefereeTrace& RefereeBench::committed_sample() {
  if (!committed_) {
    RefereeMatch match;
    match.seats[0].commits = true;
    match.seats[1] = {.choice = game_word(1), .commits = true};
    committed_ = play(match);
  }
  return *committed_;
}

bool RefereeBench::is_playing() {
  return !sample().reports.empty() && sample().first(0, "CHOOSE_PARITY_CALL") != nullptr;
}

}  // namespace league::tools::check
