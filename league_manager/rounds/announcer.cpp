#include "league_manager/rounds/announcer.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/agent/bus/event_signature.h"
#include "common/core/text.h"
#include "common/envelope/codec.h"
#include "common/rpc/json_text.h"
#include "league_manager/rounds/league_view.h"
#include "league_manager/rounds/state_notice.h"

namespace league::league_manager {
namespace {

using envelope::MessageType;

constexpr std::size_t kWholeTable =
    200;  // players; above it an update holds a part (protocol §4, 12)
constexpr std::size_t kTableHead = 50;
constexpr std::size_t kTableNeighbours = 5;
constexpr std::size_t kShownOfKey = 16;

template <typename Message>
core::ConversationId conversation_of(std::optional<int> round) {
  return round ? envelope::round_conversation(*round, Message::kType)
               : envelope::league_conversation(Message::kType);
}

/// Calls `done` when it has been counted down to zero, or when the time is up; once.
class Latch {
 public:
  Latch(std::size_t count, std::function<void()> done) : count_(count), done_(std::move(done)) {}
  void count_down() {
    std::function<void()> done;
    {
      std::lock_guard lock(mutex_);
      if (count_ > 0 && --count_ > 0) return;
      done = std::exchange(done_, nullptr);
    }
    if (done) done();
  }
  void expire() {
    std::function<void()> done;
    {
      std::lock_guard lock(mutex_);
      done = std::exchange(done_, nullptr);
    }
    if (done) done();
  }

 private:
  std::mutex mutex_;
  std::size_t count_;
  std::function<void()> done_;
};

/// The rows that one recipient of a long table gets: the head, and its own with its neighbours.
std::vector<envelope::StandingsRow> part_of_table(const std::vector<envelope::StandingsRow>& rows,
                                                  const std::string& own_id) {
  auto own = static_cast<std::size_t>(
      std::ranges::find_if(rows, [&](const auto& row) { return row.player_id.str() == own_id; }) -
      rows.begin());
  std::vector<envelope::StandingsRow> part(rows.begin(),
                                           rows.begin() + static_cast<std::ptrdiff_t>(kTableHead));
  std::size_t first = std::max(kTableHead, own > kTableNeighbours ? own - kTableNeighbours : 0);
  for (std::size_t i = first; i < rows.size() && i <= own + kTableNeighbours; ++i)
    part.push_back(rows[i]);
  return part;
}

}  // namespace

Announcer::Announcer(const RoundDependencies& dependencies)
    : deps_(dependencies),
      key_(dependencies.vault.league_key()),
      broadcaster_(dependencies.peers, dependencies.clock, dependencies.settings) {}

void Announcer::stop() {
  broadcaster_.stop();
  if (deps_.events != nullptr) deps_.events->stop();
}

bool Announcer::hears_board(const AgentProfile& profile) const {
  return deps_.events != nullptr && profile.hears_events && profile.endpoint.starts_with("nats:");
}

std::vector<Announcer::Addressed> Announcer::recipients(bool players, bool referees,
                                                        bool hearers) const {
  std::vector<Addressed> all;
  deps_.ledger.read([&](const League& league) {
    for (auto kind : {AgentKind::kPlayer, AgentKind::kReferee}) {
      if (!(kind == AgentKind::kPlayer ? players : referees)) continue;
      for (int i = 0; i < league.roster().count(kind); ++i) {
        AgentRef ref{kind, i};
        const Agent& agent = league.roster().agent(ref);
        if (agent.lifecycle.state() == AgentState::kShutdown) continue;
        if (!hearers && hears_board(agent.profile)) continue;
        auto endpoint = transport::parse_endpoint(agent.profile.endpoint);
        if (!endpoint) continue;
        all.push_back(
            {ref, std::move(*endpoint), deps_.vault.token(ref.id(), agent.credential.nonce)});
      }
    }
  });
  return all;
}

template <typename Message>
nlohmann::json Announcer::render(const Message& message, std::optional<int> round,
                                 const std::optional<core::AuthToken>& token) const {
  auto envelope =
      deps_.envelopes.make(Message::kType, {.conversation_id = conversation_of<Message>(round),
                                            .auth_token = token,
                                            .round_id = round,
                                            .match_id = {}});
  nlohmann::json encoded = envelope::encode(envelope, message);
  if (auto head = deps_.log_head ? deps_.log_head() : std::nullopt)
    encoded["log_head"] = {{"seq", head->seq}, {"hash", head->hash}};
  if (deps_.term) encoded["term"] = *deps_.term;
  return encoded;
}

template <typename Message>
void Announcer::publish(const Message& message, std::optional<int> round,
                        std::function<void()> done) {
  if (deps_.events == nullptr) return;
  auto encoded = render(message, round, std::nullopt);
  encoded["signature"] = "";
  const auto& row = envelope::spec(Message::kType);
  std::string text = R"({"jsonrpc":"2.0","method":")" + std::string(row.method) + R"(","params":)" +
                     rpc::to_json_text(encoded) + "}";
  PublishedEvent event;
  event.message_type = std::string(row.wire_name);
  event.type = core::lower_case(row.wire_name);
  event.conversation_id = conversation_of<Message>(round).str();
  // Another league with the same name has another key.
  event.id = key_.public_key().substr(0, kShownOfKey) + "." + event.conversation_id;
  event.text = std::make_shared<const std::string>(agent::sign_event(std::move(text), key_));
  deps_.events->publish(std::move(event), std::move(done));
}

template <typename Message>
void Announcer::broadcast(const Message& message, std::optional<int> round,
                          const std::vector<Addressed>& to, const std::function<void()>& done_one) {
  if (to.empty()) return;
  constexpr std::string_view kPlace = R"("auth_token":"@")";
  const std::string conversation = conversation_of<Message>(round).str();
  std::string text = rpc::to_json_text(render(message, round, core::AuthToken("@")));
  // auth_token is the first key, so the first place is the envelope's whatever names the bots gave
  // themselves.
  std::size_t place = text.find(kPlace) + kPlace.size() - 2;
  for (const auto& one : to) {
    auto own = std::make_shared<std::string>();
    const auto& token = one.token.reveal();
    own->reserve(text.size() + token.size());
    own->append(text, 0, place).append(token).append(text, place + 1);
    broadcaster_.send({.endpoint = one.endpoint,
                       .peer = std::string(agent_kind_name(one.agent.kind)) + ":" + one.agent.id(),
                       .type = Message::kType,
                       .message = std::move(own),
                       .conversation_id = conversation,
                       .done = done_one});
  }
}

void Announcer::tell_state(const AgentStateChanged& change) {
  std::optional<transport::Endpoint> to;
  core::AuthToken token;
  deps_.ledger.read([&](const League& league) {
    const Agent& agent = league.roster().agent(change.agent);
    if (auto endpoint = transport::parse_endpoint(agent.profile.endpoint)) to = *endpoint;
    token = deps_.vault.token(change.agent.id(), agent.credential.nonce);
  });
  if (!to) return;
  const auto conversation = state_conversation(change.agent);
  const auto envelope = deps_.envelopes.make(
      MessageType::kLeagueError,
      {.conversation_id = conversation, .auth_token = token, .round_id = {}, .match_id = {}});
  broadcaster_.send(
      {.endpoint = std::move(*to),
       .peer = std::string(agent_kind_name(change.agent.kind)) + ":" + change.agent.id(),
       .type = MessageType::kLeagueError,
       .message = std::make_shared<const std::string>(
           rpc::to_json_text(envelope::encode(envelope, state_notice(change)))),
       .conversation_id = conversation.str(),
       .done = {}});
}

void Announcer::announce_round(int round, std::function<void()> then,
                               std::function<void()> delivered) {
  auto players = recipients(true, false);
  const std::size_t all_of_them = players.size() + publications();
  if (!deps_.settings.league.broadcasts || all_of_them == 0) return then();
  auto latch = std::make_shared<Latch>(all_of_them, std::move(then));
  auto all = std::make_shared<Latch>(all_of_them, std::move(delivered));
  envelope::RoundAnnouncement message{
      deps_.ledger.read([](const League& league) { return announced_matches(league); })};
  auto count_down = [latch, all] {
    latch->count_down();
    all->count_down();
  };
  publish(message, round, count_down);
  broadcast(message, round, players, count_down);
  deps_.timer.schedule(deps_.settings.league.announcement_grace, [latch] { latch->expire(); });
}

void Announcer::announce_again(const std::vector<MatchKey>& matches, std::function<void()> then) {
  if (matches.empty()) return then();
  struct Told {
    Addressed player;
    envelope::RoundAnnouncement message;
  };
  std::map<AgentRef, Told> told;
  auto players = recipients(true, false, true);
  deps_.ledger.read([&](const League& league) {
    for (MatchKey match : matches) {
      if (!league.board().contains(match)) continue;
      const Pairing pairing = league.schedule().pairing(match);
      for (const auto& player : players) {
        if (player.agent.index != pairing.player_a && player.agent.index != pairing.player_b)
          continue;
        auto& one = told.try_emplace(player.agent, Told{player, {}}).first->second;
        one.message.matches.push_back(announced_match(league, match));
      }
    }
  });
  if (told.empty()) return then();
  auto latch = std::make_shared<Latch>(told.size(), std::move(then));
  for (const auto& [player, one] : told)
    broadcast(one.message, matches.front().round, {one.player}, [latch] { latch->count_down(); });
  deps_.timer.schedule(deps_.settings.league.announcement_grace, [latch] { latch->expire(); });
}

void Announcer::send_standings(int round, const std::vector<Addressed>& players,
                               const std::function<void()>& done_one) {
  auto rows = deps_.ledger.read([](const League& league) { return standings_rows(league); });
  if (rows.size() <= kWholeTable) {
    envelope::LeagueStandingsUpdate update{.standings = std::move(rows), .total_players = {}};
    publish(update, round, done_one);
    return broadcast(update, round, players, done_one);
  }
  // Everybody hears the same there; who wants to know its own place asks for it.
  publish(
      envelope::LeagueStandingsUpdate{
          .standings = {rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(kTableHead)},
          .total_players = static_cast<int>(rows.size())},
      round, done_one);
  for (const auto& player : players) {
    envelope::LeagueStandingsUpdate update{.standings = part_of_table(rows, player.agent.id()),
                                           .total_players = static_cast<int>(rows.size())};
    broadcast(update, round, {player}, done_one);
  }
}

void Announcer::round_completed(int round, std::function<void()> delivered) {
  if (!deps_.settings.league.broadcasts) return;
  auto players = recipients(true, false);
  auto everybody = recipients(true, true);
  auto all = std::make_shared<Latch>(players.size() + everybody.size() + 2 * publications(),
                                     std::move(delivered));
  auto count_down = [all] { all->count_down(); };
  send_standings(round, players, count_down);
  auto message = deps_.ledger.read(
      [round](const League& league) { return league_manager::round_completed(league, round); });
  publish(message, round, count_down);
  broadcast(message, round, everybody, count_down);
}

void Announcer::league_completed(std::function<void()> then) {
  if (deps_.seal_log) deps_.seal_log();
  auto message = deps_.ledger.read(
      [](const League& league) { return league_manager::league_completed(league); });
  auto to = recipients(true, true);
  const std::size_t all_of_them = to.size() + publications();
  if (all_of_them == 0) return then();
  auto latch = std::make_shared<Latch>(all_of_them, std::move(then));
  auto count_down = [latch] { latch->count_down(); };
  publish(message, std::nullopt, count_down);
  broadcast(message, std::nullopt, to, count_down);
  // A peer that never answers must not keep the others waiting for the end.
  deps_.timer.schedule(deps_.settings.time_limit(MessageType::kLeagueCompleted),
                       [latch] { latch->expire(); });
}

}  // namespace league::league_manager
