#include "league_manager/hosts/host_tools.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/agent/runtime/exception_guard.h"
#include "common/agent/runtime/log.h"
#include "common/agent/seats/seat_caller.h"
#include "common/envelope/codec.h"
#include "common/rpc/codec.h"
#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"
#include "league_manager/service/agent_tools.h"

namespace league::league_manager::hosts {
namespace {

using agent::host::ToolCall;
using core::Error;
using core::ErrorCode;
using core::Result;
using nlohmann::json;

constexpr std::chrono::seconds kLongestWait{25};
constexpr std::chrono::seconds kBetweenProgress{5};

/// The session or connection of the client; empty: it has none.
std::string scope_of(const ToolCall& call) { return call.client ? call.client->scope() : ""; }

Error not_playing() {
  return {ErrorCode::kPlayerNotRegistered,
          "this session has no player: call join_league first, or send as player the word that it "
          "returned",
          "/player"};
}

/// Why the manager's `answer` to a registration is none; nothing if it is accepted.
std::optional<Error> refusal_in(const json& answer) {
  if (schema::text_at(answer, "status") == "ACCEPTED") return std::nullopt;
  const auto code = core::parse_error_code(schema::text_at(answer, "error_code"));
  const std::string& reason = schema::text_at(answer, "reason");
  return Error{code.value_or(ErrorCode::kInternalError),
               reason.empty() ? schema::text_at(answer, "error_description") : reason, ""};
}

}  // namespace

HostTools::HostTools(HostDependencies dependencies)
    : deps_(std::move(dependencies)),
      scope_(task::Executor(), agent::runtime::failures_logged("a tool of a chat program")) {
  bind("join_league", &HostTools::join_league);
  bind("await_turn", &HostTools::await_turn);
  bind("play", &HostTools::play);
  bind("my_results", &HostTools::my_results);
  add_prompt();
}

HostTools::~HostTools() { stop(); }

void HostTools::stop() {
  scope_.stop();
  scope_.executor().post([this] {
    for (auto& [id, player] : players_) player->close();
  });
}

void HostTools::bind(const char* name, Handler handler) {
  // What join_league says to the client, and is told, is secret: the player's word, and the code.
  const bool is_secret = handler == &HostTools::join_league;
  deps_.server.bind_tool(
      name,
      [this, handler](ToolCall call) {
        call.notes->is_carrier = true;
        scope_.spawn((this->*handler)(std::move(call)));
      },
      is_secret);
}

void HostTools::post(const std::string& method, json message, rpc::MessageContext context,
                     std::function<void(std::string)> answered) {
  transport::link::Inbound inbound;
  inbound.bytes = rpc::encode_request(rpc::Id(1), method, rpc::to_json_text(message));
  inbound.context = std::move(context);
  deps_.server.on_message(std::move(inbound),
                          transport::link::ReplySlot([answered = std::move(answered)](
                                                         transport::link::OutboundReply reply) {
                            answered(std::string(reply.bytes.view()));
                            if (reply.after_sent) reply.after_sent();
                          }));
}

task::Task<Result<std::string>> HostTools::register_player(std::string name, std::string code,
                                                           rpc::MessageContext context) {
  const std::string temporary = agent::identity::temporary_id(name);
  const envelope::EnvelopeBuilder envelopes(envelope::Sender::player(temporary), std::nullopt,
                                            deps_.clock);
  envelope::LeagueRegisterRequest request;
  request.player_meta.display_name = std::move(name);
  request.player_meta.version = LEAGUE_VERSION;
  request.player_meta.game_types = {deps_.game->game_type()};
  request.player_meta.contact_endpoint = std::string(agent::seats::kOutward);
  if (!code.empty()) request.player_meta.registration_code = std::move(code);
  request.player_meta.receipts = true;
  request.player_meta.played_by = "host";
  const auto conversation =
      envelope::registration_conversation(envelope::Role::kPlayer, temporary, ++registrations_);
  json message =
      envelope::encode(envelopes.make(request.kType, {.conversation_id = conversation}), request);
  const std::string answer = co_await task::called_back<std::string>(
      [this, &message, &context](std::function<void(std::string)> then) {
        post("register_player", std::move(message), std::move(context), std::move(then));
      });
  const auto frame = schema::parse_json(answer);
  if (!frame) co_return frame.error();
  const json& result = schema::field_at(*frame, "result");
  if (auto refusal = refusal_in(result)) co_return *refusal;
  co_return schema::text_at(result, "player_id");
}

task::Task<void> HostTools::join_league(ToolCall call) {
  const std::string scope = scope_of(call);
  const std::string name = schema::text_at(call.arguments, "display_name");
  const std::string word = schema::text_at(call.arguments, "player");
  const bool is_known = !word.empty() || sessions_.contains(scope);
  if (is_known) {
    auto player = player_of(call);
    if (!player) {
      call.reply.refuse(player.error());
      co_return;
    }
    HostAnswer told = situation(**player);
    const std::string& own = told.self.display_name;
    // With a code the operator's list says the name.
    const bool has_code = !schema::text_at(call.arguments, "code").empty();
    if (word.empty() && !has_code && !name.empty() && name != own) {
      call.reply.refuse({ErrorCode::kDuplicateRegistration,
                         "this session plays as " + json(own).dump() +
                             " already: go on with await_turn, or begin another session for "
                             "another player",
                         "/display_name"});
      co_return;
    }
    told.player = (*player)->identity().token.reveal();
    answer(call, schema::to_json(told));
    co_return;
  }
  if (name.empty()) {
    call.reply.refuse({ErrorCode::kMissingRequiredField,
                       "display_name is missing: the name under which you play", "/display_name"});
    co_return;
  }
  if (!scope.empty() && !joining_.insert(scope).second) {
    call.reply.refuse({ErrorCode::kUnexpectedMessage,
                       "this session is joining the league already: wait for the answer", ""});
    co_return;
  }
  const auto id =
      co_await register_player(name, schema::text_at(call.arguments, "code"), call.context);
  joining_.erase(scope);
  auto player = id ? take(*id) : Result<HostTools::Held>(id.error());
  if (!player) {
    call.reply.refuse(player.error());
    co_return;
  }
  bind_session(scope, **player);
  sit(**player);
  HostAnswer told = situation(**player);
  told.player = (*player)->identity().token.reveal();
  answer(call, schema::to_json(told));
}

task::Task<void> HostTools::await_turn(ToolCall call) {
  const auto found = player_of(call);
  if (!found) {
    call.reply.refuse(found.error());
    co_return;
  }
  const Held& player = *found;
  const auto limit = std::clamp<std::int64_t>(
      schema::number_at(call.arguments, "wait_s").value_or(kLongestWait.count()), 0,
      kLongestWait.count());
  if (!co_await wait_for_news(player, std::chrono::seconds(limit), call.client)) {
    call.reply.refuse({ErrorCode::kUnexpectedMessage,
                       "a newer await_turn of yours waits instead of this one", ""});
    co_return;
  }
  if (schema::field_at(call.arguments, "ask_person") == true && call.client)
    co_await ask_person(player, call.client);
  const HostAnswer told = situation(*player);
  player->note_told();
  answer(call, schema::to_json(told));
}

task::Task<bool> HostTools::wait_for_news(Held player, std::chrono::seconds limit,
                                          std::shared_ptr<mcp::RequestContext> client) {
  const auto begun = deps_.clock.steady_now();
  player->wake();
  for (;;) {
    const auto waited = deps_.clock.steady_now() - begun;
    if (player->has_news() || waited >= limit || (client && client->is_cancelled())) co_return true;
    const bool goes_on =
        co_await player->wait(std::min<std::chrono::nanoseconds>(limit - waited, kBetweenProgress));
    if (!goes_on) co_return false;
    const auto done =
        std::chrono::duration_cast<std::chrono::seconds>(deps_.clock.steady_now() - begun);
    if (client)
      client->progress({.done = static_cast<double>(done.count()),
                        .total = static_cast<double>(limit.count()),
                        .message = "no news yet"});
  }
}

task::Task<void> HostTools::ask_person(Held player, std::shared_ptr<mcp::RequestContext> client) {
  const Turn* turn = player->turn();
  if (turn == nullptr || !turn->choice.empty() || !client->client_has("elicitation")) co_return;
  if (!asking_.insert(player->identity().id).second) co_return;  // one form at a time
  const auto match = turn->match;
  json words = deps_.game->choices();
  const json form = {
      {"message", "Match " + match.str() + " against " + turn->opponent.str() + ": your choice?"},
      {"requestedSchema",
       {{"type", "object"},
        {"properties", {{"choice", {{"type", "string"}, {"enum", std::move(words)}}}}},
        {"required", json::array({"choice"})}}}};
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      turn->until.instant() - deps_.clock.utc_now().instant());
  player->note_told();
  const auto answer = co_await task::called_back<Result<rpc::Response>>(
      [&client, &form, left](std::function<void(Result<rpc::Response>)> then) {
        client->ask_client("elicitation/create", form, left, std::move(then));
      });
  asking_.erase(player->identity().id);
  turn = player->turn();
  if (!answer || answer->error || turn == nullptr || turn->match != match) co_return;
  if (schema::text_at(answer->result, "action") != "accept") co_return;
  (void)player->choose(schema::text_at(schema::field_at(answer->result, "content"), "choice"));
}

task::Task<void> HostTools::play(ToolCall call) {
  const auto player = player_of(call);
  if (!player) {
    call.reply.refuse(player.error());
    co_return;
  }
  const auto taken = (*player)->choose(schema::text_at(call.arguments, "choice"));
  if (taken.refusal) {
    call.reply.refuse(*taken.refusal);
    co_return;
  }
  answer(call, {{"match_id", taken.turn->match.str()},
                {"choice", taken.turn->choice},
                {"text", "Your choice in " + taken.turn->match.str() + " is sealed: " +
                             taken.turn->choice + ". Call await_turn for the result."}});
}

task::Task<void> HostTools::my_results(ToolCall call) {
  const auto player = player_of(call);
  if (!player) {
    call.reply.refuse(player.error());
    co_return;
  }
  constexpr std::size_t kMost = 50;
  answer(call, schema::to_json(deps_.ledger.read(
                   [&](const League& league) { return summary(league, **player, kMost); })));
}

void HostTools::answer(ToolCall& call, json answer) {
  service::answer_when_durable(deps_.ledger, std::move(call.reply), std::move(answer));
}

Result<HostTools::Held> HostTools::player_of(const ToolCall& call) {
  const std::string scope = scope_of(call);
  const std::string& word = schema::text_at(call.arguments, "player");
  Result<HostTools::Held> player = not_playing();
  if (!word.empty()) {
    player = player_of_word(word);
    if (player) bind_session(scope, **player);
  } else if (const auto known = sessions_.find(scope); known != sessions_.end()) {
    const std::string id = known->second;
    player = take(id);
    // The operator may have given the place away, or a new token to whoever comes next.
    if (!sessions_.contains(scope)) player = not_playing();
  }
  if (!player) return player;
  call.notes->said_by = "player:" + (*player)->identity().id;
  (void)(*player)->turn();  // notices that time is over, which empties the seat
  sit(**player);
  return player;
}

Result<HostTools::Held> HostTools::player_of_word(const std::string& word) {
  const std::string hash = core::AuthToken(word).hash();
  const auto id = deps_.ledger.read([&](const League& league) -> std::optional<std::string> {
    const auto agent = league.roster().find_by_token_hash(hash);
    if (!agent || agent->kind != events::AgentKind::kPlayer) return std::nullopt;
    return agent->id();
  });
  if (id) return take(*id);
  return Error{ErrorCode::kAuthTokenInvalid, "player is not a word that join_league returned",
               "/player"};
}

Result<HostTools::Held> HostTools::take(const std::string& id) {
  struct Found {
    std::string name;
    agent::identity::Identity identity;
  };
  const auto found = deps_.ledger.read([&](const League& league) -> std::optional<Found> {
    const auto player = league.roster().find(id);
    if (!player || player->kind != events::AgentKind::kPlayer) return std::nullopt;
    const events::Agent& agent = league.roster().agent(*player);
    if (agent.is_free || !events::is_hosted(agent.profile)) return std::nullopt;
    const std::string& nonce = agent.credential.nonce;
    return Found{.name = agent.profile.display_name,
                 .identity = {.id = id,
                              .token = deps_.token_issuer.token(id, nonce),
                              .league = deps_.league_id,
                              .league_key = deps_.league_key,
                              .match_credentials = true,
                              .receipt_key = deps_.token_issuer.receipt_key(id, nonce)}};
  });
  if (auto held = players_.extract(id)) {
    if (found && held.mapped()->identity().token.matches(found->identity.token.reveal())) {
      Held same = held.mapped();
      players_.insert(std::move(held));
      return same;
    }
    held.mapped()->close();
    std::erase_if(sessions_, [&](const auto& one) { return one.second == id; });
    if (held.mapped()->has_played()) retired_.push_back(std::move(held.mapped()));
  }
  if (!found) return not_playing();
  if (!open_matches_ && !deps_.open_matches.empty()) {
    auto opened = player::service::OpenMatchFile::open({.file = deps_.open_matches});
    if (!opened) return opened.error();
    open_matches_ = std::move(*opened);
  }
  auto made = std::make_shared<HostedPlayer>(
      HostedPlayer::Context{
          .timer = deps_.timer,
          .clock = deps_.clock,
          .random = deps_.random,
          .schemas = deps_.schemas,
          .seats = deps_.seats,
          .open_matches = open_matches_.get(),
          .executor = scope_.executor(),
          .limit = deps_.limit,
          .game = deps_.game,
          .dispute = [this](const auto& identity, const auto& match) { dispute(identity, match); }},
      found->name, found->identity);
  players_[id] = made;
  return made;
}

void HostTools::bind_session(const std::string& scope, const HostedPlayer& player) {
  if (scope.empty()) return;
  const std::string& id = player.identity().id;
  std::erase_if(sessions_, [&](const auto& one) { return one.second == id; });
  sessions_[scope] = id;
}

void HostTools::sit(HostedPlayer& player) {
  if (player.is_seated()) return;
  player.sit();
  if (deps_.log != nullptr)
    deps_.log->seated(player.identity().id, agent::seats::line_name(agent::seats::Line::kHost));
}

void HostTools::dispute(const agent::identity::Identity& identity,
                        const player::DisputedMatch& match) {
  const envelope::EnvelopeBuilder envelopes(envelope::Sender::player(identity.id), identity.league,
                                            deps_.clock);
  const envelope::LeagueQuery query{
      .query_type = envelope::QueryType::kDisputeMatch,
      .query_params = {
          .player_id = std::nullopt, .match_id = match.match_id, .reason = match.reason}};
  auto context = rpc::MessageContext::now(deps_.clock, rpc::MessageDirection::kInternal,
                                          rpc::TransportContext::memory());
  post("league_query",
       envelope::encode(
           envelopes.make(query.kType, {.conversation_id = core::ConversationId(
                                            "convdispute" + identity.id + match.match_id.str()),
                                        .auth_token = identity.token}),
           query),
       std::move(context), [id = identity.id](const std::string& answer) {
         const auto frame = schema::parse_json(answer);
         if (!frame || schema::field_at(schema::field_at(*frame, "result"), "success") != true)
           agent::runtime::log::warn("a dispute of {} was not taken: {}", id,
                                     answer.substr(0, 200));
       });
}

}  // namespace league::league_manager::hosts
