#include "tools/check/player/player_bench.h"

#include <algorithm>
#include <thread>

#include "common/agent/dialects/reply_dialect.h"
#include "common/agent/identity/match_credential.h"
#include "common/core/clock.h"
#include "common/core/ids.h"
#include "common/envelope/display_name.h"
#include "common/envelope/leniency.h"
#include "game/result.h"
#include "tools/check/game_truth.h"

namespace league::tools::check {

using agent::dialects::CallDialect;
using envelope::MessageType;
using nlohmann::json;

milliseconds PlayerBench::limit() const {
  // After three missing answers the bot gets less time.
  return timeouts_.load() >= 3 ? std::min(options_.limit, milliseconds(700)) : options_.limit;
}

TestMatch PlayerBench::new_match(bool promises_seed) {
  TestMatch match;
  const int serial = ++last_match_;
  match.round = 1 + (serial - 1) / 10;
  match.id = "R" + std::to_string(match.round) + "M" + std::to_string(1 + (serial - 1) % 10);
  match.conversation =
      "convr" + std::to_string(match.round) + "m" + std::to_string(1 + (serial - 1) % 10) + "001";
  match.opponent = options_.bot.id == "P02" ? "P03" : "P02";
  match.is_player_a = serial % 2 == 1;
  match.seed = random_.bytes<32>();
  if (promises_seed) match.draw_commitment = game::draw_commitment(match.seed, match.id);
  match.opponent_choice = serial % 3 == 0 ? game_word(1) : game_word(0);
  match.opponent_nonce = core::to_hex(random_.bytes<32>());
  return match;
}

std::string PlayerBench::credential(const std::string& match_id, int attempt) const {
  if (!has_token()) return "league-check-without-token";
  std::string shown =
      agent::identity::match_credential(options_.bot.token, core::MatchId(match_id), attempt)
          .reveal();
  std::lock_guard lock(mutex_);
  credentials_[shown] = match_id + "#" + std::to_string(attempt);
  return shown;
}

std::map<std::string, std::string> PlayerBench::credentials() const {
  std::lock_guard lock(mutex_);
  return credentials_;
}

std::string PlayerBench::opponent_commitment(const TestMatch& match) const {
  return game::choice_commitment({.draw_commitment = match.draw_commitment,
                                  .match_id = match.id,
                                  .player_id = match.opponent,
                                  .choice = match.opponent_choice,
                                  .nonce = match.opponent_nonce});
}

json PlayerBench::envelope(MessageType type, const std::string& conversation) const {
  return {{"protocol", "league.v2"},
          {"message_type", envelope::wire_name(type)},
          {"sender", "league_manager"},
          {"timestamp", core::SystemClock().utc_now().to_wire()},
          {"conversation_id", conversation},
          {"auth_token", has_token() ? options_.bot.token.reveal() : "league-check-without-token"},
          {"league_id", options_.bot.league_id}};
}

json PlayerBench::match_envelope(MessageType type, const TestMatch& match) const {
  json message = envelope(type, match.conversation);
  message.update({{"sender", "referee:REF01"},
                  {"auth_token", credential(match.id, match.attempt)},
                  {"round_id", match.round},
                  {"match_id", match.id}});
  return message;
}

json PlayerBench::invitation(const TestMatch& match) const {
  json message = match_envelope(MessageType::kGameInvitation, match);
  message.update(
      {{"game_type", tested_game()->game_type()},
       {"role_in_match", match.is_player_a ? "PLAYER_A" : "PLAYER_B"},
       {"opponent_id", match.opponent},
       {"player_id", options_.bot.id},
       {"context", {{"attempt", match.attempt}, {"play", match.play}, {"game", game_context()}}}});
  if (!match.draw_commitment.empty()) message["draw_commitment"] = match.draw_commitment;
  return message;
}

json PlayerBench::choice_call(const TestMatch& match) const {
  json message = match_envelope(MessageType::kChooseParityCall, match);
  message.update(
      {{"player_id", options_.bot.id},
       {"game_type", tested_game()->game_type()},
       {"deadline", core::SystemClock().utc_now().after(std::chrono::seconds(30)).to_wire()},
       {"context",
        {{"attempt", match.attempt},
         {"play", match.play},
         {"game", game_context()},
         {"opponent_id", match.opponent},
         {"round_id", match.round},
         {"your_standings", {{"wins", 0}, {"losses", 0}, {"draws", 0}}}}}});
  if (!match.draw_commitment.empty()) {
    message["context"]["draw_commitment"] = match.draw_commitment;
    message["context"]["opponent_commitment"] = opponent_commitment(match);
  }
  return message;
}

json PlayerBench::game_over(const PlayedGame& game) const {
  json message = match_envelope(MessageType::kGameOver, game.match);
  message["game_type"] = tested_game()->game_type();
  const bool is_bound = !game.match.draw_commitment.empty();
  GameTruth truth{.match_id = game.match.id,
                  .players = {options_.bot.id, game.match.opponent},
                  .choices = {choice_in(game.choice), game.match.opponent_choice},
                  .commitments = {game.join.text("choice_commitment"),
                                  is_bound ? opponent_commitment(game.match) : std::string()},
                  .nonces = {game.choice.text("choice_nonce"),
                             is_bound ? game.match.opponent_nonce : std::string()},
                  .seed = game.match.seed,
                  .is_first_a = game.match.is_player_a};
  message.update(game_over_fields(truth));
  return message;
}

json PlayerBench::game_error(const TestMatch& match) const {
  json message = match_envelope(MessageType::kGameError, match);
  message.update({{"error_code", "E001"},
                  {"error_name", "TIMEOUT_ERROR"},
                  {"error_description", "no answer to CHOOSE_PARITY_CALL within 30 s"},
                  {"affected_player", match.opponent},
                  {"action_required", "NONE"},
                  {"consequence", "technical loss after 3 attempts"},
                  {"retry_count", 1},
                  {"max_retries", 3},
                  {"game_state", "COLLECTING_CHOICES"}});
  return message;
}

json PlayerBench::news(MessageType type) const {
  json message = envelope(type, "convround1" + std::string(envelope::spec(type).method));
  const auto row = [](int rank, const std::string& id) {
    return json{{"rank", rank}, {"player_id", id}, {"display_name", "bot " + id},
                {"played", 1},  {"wins", 0},       {"draws", 1},
                {"losses", 0},  {"points", 1}};
  };
  const std::string other = options_.bot.id == "P02" ? "P03" : "P02";
  const json rows = json::array({row(1, options_.bot.id), row(2, other)});
  if (type == MessageType::kRoundAnnouncement) {
    message.update({{"round_id", 900},
                    {"matches",
                     {{{"match_id", "R900M1"},
                       {"game_type", tested_game()->game_type()},
                       {"player_A_id", options_.bot.id},
                       {"player_B_id", other},
                       {"referee_endpoint", "http://localhost:8001/mcp"},
                       {"referee_id", "REF01"},
                       {"referee_credential", "match"}}}}});
  } else if (type == MessageType::kLeagueStandingsUpdate) {
    message.update({{"round_id", 1}, {"standings", rows}, {"total_players", 2}});
  } else if (type == MessageType::kRoundCompleted) {
    message.update(
        {{"round_id", 1},
         {"matches_completed", 1},
         {"matches_played", 1},
         {"next_round_id", nullptr},
         {"summary", {{"total_matches", 1}, {"wins", 0}, {"draws", 1}, {"technical_losses", 0}}}});
  } else if (type == MessageType::kLeagueCompleted) {
    message.update(
        {{"total_rounds", 1},
         {"total_matches", 1},
         {"champion", {{"player_id", other}, {"display_name", "bot " + other}, {"points", 1}}},
         {"final_standings", rows}});
  } else if (type == MessageType::kLeagueError) {
    message.update({{"error_code", "E094"},
                    {"error_name", "AGENT_STATE_CHANGED"},
                    {"error_description", "the state of " + options_.bot.id + " is ACTIVE"},
                    {"original_message_type", "ROUND_ANNOUNCEMENT"},
                    {"retryable", false}});
  }
  return message;
}

BotReply PlayerBench::read(Exchange exchange, const rpc::Id& id) {
  if (exchange.has_timed_out) {
    timeouts_.fetch_add(1);
  } else {
    timeouts_.store(0);
  }
  BotReply reply = read_bot_reply(std::move(exchange), id);
  const json message = read_call(reply.exchange.sent).message;
  std::string answer = reply.exchange.received;
  judge(reply, message, id, std::move(answer));
  note_sent(message, reply);
  std::lock_guard lock(mutex_);
  if (reply.has_answer()) answered_in_.push_back(reply.exchange.elapsed);
  return reply;
}

BotReply PlayerBench::send(const std::string& bytes, const rpc::Id& id) {
  return read(wire_.send(options_.bot.endpoint, bytes, id, limit()), id);
}

BotReply PlayerBench::call(const std::string& method, const json& params) {
  const rpc::Id id(next_id());
  const json frame = {
      {"jsonrpc", "2.0"}, {"id", *id.number()}, {"method", method}, {"params", params}};
  return exchange(
      params, [&] { return send(frame.dump(-1, ' ', false, json::error_handler_t::replace), id); });
}

std::string PlayerBench::frame(MessageType type, const json& message, const rpc::Id& id) {
  CallDialect way{.style = agent::dialects::CallStyle::kToolName,
                  .name = envelope::spec(type).method};
  {
    std::lock_guard lock(mutex_);
    if (const auto it = ways_.find(type); it != ways_.end()) way = it->second;
  }
  return agent::dialects::frame_call(way, id,
                                     message.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::optional<BotReply> PlayerBench::find_way(MessageType type, const json& message) {
  agent::dialects::CallStyle first = agent::dialects::CallStyle::kToolName;
  {
    std::lock_guard lock(mutex_);
    if (ways_.contains(type)) return std::nullopt;
    for (const auto& [known, way] : ways_) {
      if (!way.is_alias) first = way.style;
    }
  }
  const auto ways = agent::dialects::call_dialects(type, first);
  for (const CallDialect& way : ways) {
    const bool is_bare = way.style == agent::dialects::CallStyle::kBareBody;
    if (is_bare && !transport::link::is_http(options_.bot.endpoint)) continue;  // it has no id
    const rpc::Id id(next_id());
    const BotReply reply = send(agent::dialects::frame_call(way, id, message.dump()), id);
    if (reply.exchange.is_refused || reply.exchange.has_timed_out) return reply;
    const auto error = reply.rpc_error();
    if (error && agent::dialects::says_no_such_method(*error, way, true)) continue;
    // A server that expects JSON-RPC answers a bare body with an error page.
    if (is_bare && (reply.exchange.status / 100 != 2 || !reply.message.is_object())) continue;
    std::lock_guard lock(mutex_);
    ways_[type] = way;
    return std::nullopt;
  }
  std::lock_guard lock(mutex_);
  ways_[type] = ways.front();
  return std::nullopt;
}

BotReply PlayerBench::ask(MessageType type, const json& message) {
  bool is_known = false;
  {
    std::lock_guard lock(mutex_);
    is_known = ways_.contains(type);
  }
  if (!is_known) {
    if (auto silent = find_way(type, message)) return *silent;
  }
  const rpc::Id id(next_id());
  return exchange(message, [&] { return send(frame(type, message, id), id); });
}

std::string PlayerBench::word_in(const BotReply& reply) {
  std::string word = reply.text("parity_choice");
  return word.empty() ? reply.text("choice") : word;
}

std::string PlayerBench::choice_in(const BotReply& reply) {
  if (reply.fault && reply.fault->code != core::ErrorCode::kInvalidParityChoice) return {};
  const std::string word = envelope::comparable_name(word_in(reply));
  return is_game_word(word) ? word : std::string();
}

PlayedGame PlayerBench::play(const TestMatch& match, bool until_choice) {
  PlayedGame game{.match = match, .join = {}, .choice = {}, .over = {}};
  game.join = ask(MessageType::kGameInvitation, invitation(match));
  if (!game.join.has_answer()) return game;
  game.choice = ask(MessageType::kChooseParityCall, choice_call(match));
  if (until_choice || choice_in(game.choice).empty()) return game;
  game.over = ask(MessageType::kGameOver, game_over(game));
  return game;
}

void PlayerBench::settle() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (std::chrono::steady_clock::now() < until) {
    const BotReply reply = ask(MessageType::kGameInvitation, invitation(new_match()));
    if (accepts(reply) || reply.exchange.has_timed_out) return;
    std::this_thread::sleep_for(milliseconds(20));
  }
}

const PlayedGame& PlayerBench::sample() {
  {
    std::lock_guard lock(mutex_);
    if (sample_) return *sample_;
  }
  // A bot that only spells its choice wrongly is asked for another match, so that the rest of its
  // answers can be checked.
  const bool is_lost = trial().lost_by.has_value() && lost_game_ &&
                       (!accepts(lost_game_->join) || choice_in(lost_game_->choice).empty());
  PlayedGame game = is_lost ? *lost_game_ : play(new_match());
  std::lock_guard lock(mutex_);
  leniencies_.merge(overlooked_in(game.join, MessageType::kGameJoinAck, game.match, options_.bot));
  leniencies_.merge(
      overlooked_in(game.choice, MessageType::kChooseParityResponse, game.match, options_.bot));
  sample_ = std::move(game);
  return *sample_;
}

bool PlayerBench::is_playing() {
  const PlayedGame& game = sample();
  return accepts(game.join) && !choice_in(game.choice).empty();
}

bool PlayerBench::commits() {
  return sample().join.message.is_object() && sample().join.message.contains("choice_commitment");
}

bool PlayerBench::gives_receipts() const {
  if (!registration || options_.bot.receipt_key.empty()) return false;
  return field_at(registration->meta(), "receipts") == json(true);
}

void PlayerBench::add_leniency(std::string name) {
  std::lock_guard lock(mutex_);
  leniencies_.insert(std::move(name));
}

std::set<std::string> PlayerBench::ways() const {
  std::lock_guard lock(mutex_);
  std::set<std::string> names;
  for (const auto& [type, way] : ways_) {
    names.emplace(std::string(agent::dialects::call_style_name(way.style)) +
                  (way.is_alias ? " (" + std::string(way.name) + ")" : ""));
  }
  return names;
}

std::set<std::string> PlayerBench::leniencies() const {
  std::lock_guard lock(mutex_);
  return leniencies_;
}

std::vector<std::string> PlayerBench::secrets() const {
  if (!has_token()) return {};
  std::vector<std::string> secrets{options_.bot.token.reveal()};
  if (const std::string& key = options_.bot.receipt_key; !key.empty()) secrets.push_back(key);
  return secrets;
}

}  // namespace league::tools::check
