#include "league_manager/service/manager_prompts.h"

#include <nlohmann/json.hpp>

#include "common/schema/json_fields.h"

namespace league::league_manager::service {
namespace {

using nlohmann::json;

constexpr const char* kPrompt = "why_did_i_lose";
constexpr const char* kMatchUri = "league://match/{match_id}";
constexpr int kInvalidParams = static_cast<int>(rpc::StandardCode::kInvalidParams);
/// The maximum number of values in one answer (MCP, completion).
constexpr std::size_t kMostValues = 100;

}  // namespace

MatchNote& MatchNotes::note_of(events::MatchKey match) {
  auto [found, is_new] = notes_.try_emplace(match);
  if (is_new) order_.push_back(match);
  if (order_.size() > most_) {
    notes_.erase(order_.front());
    order_.pop_front();
  }
  return notes_[match];
}

void MatchNotes::take(const events::Events& events) {
  std::lock_guard lock(mutex_);
  for (const auto& event : events) {
    if (const auto* reported = std::get_if<events::MatchReported>(&event.body)) {
      note_of(reported->match).result = reported->result;
    } else if (const auto* forfeited = std::get_if<events::MatchForfeited>(&event.body)) {
      note_of(forfeited->match).result = forfeited->result;
    } else if (const auto* failure = std::get_if<events::FailureCounted>(&event.body)) {
      if (failure->match && failure->cause && failure->agent.kind == events::AgentKind::kPlayer)
        note_of(*failure->match).causes[failure->agent.index] = *failure->cause;
    }
  }
}

std::optional<MatchNote> MatchNotes::find(events::MatchKey match) const {
  std::lock_guard lock(mutex_);
  auto found = notes_.find(match);
  return found == notes_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> matches_beginning(const League& league, const std::string& begin,
                                           std::size_t most) {
  std::vector<std::string> found;
  const Schedule& schedule = league.schedule();
  for (int round = 1; round <= schedule.rounds(); ++round) {
    // Skip rounds whose match ids cannot begin with `begin`.
    const std::string head = "R" + std::to_string(round) + "M";
    if (!head.starts_with(begin) && !begin.starts_with(head)) continue;
    for (int number = 1; number <= schedule.matches_in(round); ++number) {
      std::string id = events::MatchKey{round, number}.id().str();
      if (!id.starts_with(begin)) continue;
      found.push_back(std::move(id));
      if (found.size() > most) return found;
    }
  }
  return found;
}

std::vector<std::string> players_beginning(const League& league, const std::string& begin,
                                           const std::string& match, std::size_t most) {
  auto key = events::MatchKey::parse(match);
  auto view = key ? league.match(*key) : std::nullopt;
  std::vector<std::string> found;
  auto take = [&](int player) {
    std::string id = events::AgentRef::player(player).id();
    if (id.starts_with(begin)) found.push_back(std::move(id));
  };
  if (view) {
    take(view->pairing.player_a);
    take(view->pairing.player_b);
    return found;
  }
  const int players = league.roster().count(events::AgentKind::kPlayer);
  for (int player = 0; player < players && found.size() <= most; ++player) {
    if (!league.roster().agent(events::AgentRef::player(player)).is_free) take(player);
  }
  return found;
}

void send_when_durable(files::Ledger& ledger, const mcp::Responder& reply, json result) {
  ledger.commit([](const League&, core::UtcTimestamp) { return events::Events{}; },
                [reply, result = std::move(result)](const core::Result<events::Events>& stored) {
                  if (stored) return reply.send(result);
                  reply.fail(static_cast<int>(rpc::StandardCode::kInternalError),
                             "Internal error: the league's journal has failed");
                });
}

ManagerPrompts::ManagerPrompts(mcp::Server& server, files::Ledger& ledger) : ledger_(ledger) {
  server.registry().add(
      {.name = kPrompt,
       .title = "Why did I lose?",
       .description =
           "Explains how a match ended: the number, the choices, or at which call a bot failed.",
       .arguments =
           {{"match_id", "Such as R3M1.", true},
            {"player_id",
             "The player that lost, such as P07; without it, the whole match is explained."}},
       .get = [this](const mcp::ServerPrompt::Get& get) { explain(get); }});
  server.registry().complete_with([this](const mcp::ServedRequest& request) { complete(request); });
  ledger.observe([notes = notes_](const events::Events& events) { notes->take(events); });
}

void ManagerPrompts::explain(const mcp::ServerPrompt::Get& get) const {
  const mcp::Responder& reply = get.request.reply;
  auto key = events::MatchKey::parse(schema::text_at(get.arguments, "match_id"));
  if (!key)
    return reply.fail(kInvalidParams, "Invalid params: match_id must be a match such as R3M1");
  const std::string player = schema::text_at(get.arguments, "player_id");
  const auto note = notes_->find(*key);
  auto text =
      ledger_.read([&](const League& league) { return explain_match(league, *key, note, player); });
  if (!text) return reply.fail(kInvalidParams, "Invalid params: " + text.error().message);
  json message = {{"role", "user"}, {"content", {{"type", "text"}, {"text", *text}}}};
  send_when_durable(ledger_, reply,
                    {{"description", "How match " + key->id().str() + " ended"},
                     {"messages", json::array({std::move(message)})}});
}

void ManagerPrompts::complete(const mcp::ServedRequest& request) const {
  const json& params = request.params;
  const json& ref = schema::field_at(params, "ref");
  const std::string& type = schema::text_at(ref, "type");
  const bool is_prompt = type == "ref/prompt" && schema::text_at(ref, "name") == kPrompt;
  const bool is_match = type == "ref/resource" && schema::text_at(ref, "uri") == kMatchUri;
  if (!is_prompt && !is_match) {
    return request.reply.fail(kInvalidParams,
                              "Invalid params: ref must be the prompt why_did_i_lose or the "
                              "resource league://match/{match_id}");
  }
  const json& argument = schema::field_at(params, "argument");
  const std::string& name = schema::text_at(argument, "name");
  const std::string& begin = schema::text_at(argument, "value");
  const std::string& match = schema::text_at(
      schema::field_at(schema::field_at(params, "context"), "arguments"), "match_id");
  auto values = ledger_.read([&](const League& league) -> std::vector<std::string> {
    if (name == "match_id") return matches_beginning(league, begin, kMostValues);
    if (is_prompt && name == "player_id")
      return players_beginning(league, begin, match, kMostValues);
    return {};
  });
  const bool has_more = values.size() > kMostValues;
  if (has_more) values.resize(kMostValues);
  request.reply.send({{"completion", {{"values", values}, {"hasMore", has_more}}}});
}

}  // namespace league::league_manager::service
