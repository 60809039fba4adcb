#include "league_manager/rounds/announcer.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/agent/bus/event_signature.h"
#include "common/core/crypto.h"
#include "common/core/text.h"
#include "common/envelope/codec.h"
#include "common/rpc/json_text.h"
#include "league_manager/rounds/league_view.h"
#include "league_manager/rounds/state_notice.h"

namespace league::league_manager::rounds {
namespace {

using envelope::MessageType;

// Numbers of players up to which every copy is complete; above them a copy contains only a part
// (protocol §4, messages 5 and 12).
constexpr int kWholeRound = 64;
constexpr std::size_t kWholeTable = 200;
constexpr std::size_t kTableHead = 50;
constexpr std::size_t kTableNeighbours = 5;
constexpr std::size_t kShownOfKey = 16;

template <typename Message>
core::ConversationId conversation_of(std::optional<int> round) {
  return round ? envelope::round_conversation(*round, Message::kType)
               : envelope::league_conversation(Message::kType);
}

/// Whether `Message` ends something: its copies contain the journal's head, and its recipients tell
/// the ends of their logs.
template <typename Message>
constexpr bool kIsEnd = std::is_same_v<Message, envelope::RoundCompleted> ||
                        std::is_same_v<Message, envelope::LeagueCompleted>;

/// The rows of a long message as JSON texts, rendered once for all recipients.
std::vector<std::string> texts_of(const nlohmann::json& rows) {
  std::vector<std::string> texts;
  texts.reserve(rows.size());
  for (const auto& row : rows) texts.push_back(rpc::to_json_text(row));
  return texts;
}

void append_row(std::string& rows, const std::string& text) {
  if (!rows.empty()) rows += ',';
  rows += text;
}

/// The matches of each player of a round, as JSON texts.
std::map<std::string, std::string> matches_by_player(
    const std::vector<envelope::AnnouncedMatch>& matches) {
  const auto texts = texts_of(envelope::encode_announced(matches));
  std::map<std::string, std::string> own;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    for (const auto& player : {matches[i].player_a_id, matches[i].player_b_id})
      append_row(own[player.str()], texts[i]);
  }
  return own;
}

/// A table that is too long to send it completely to every player.
class LongTable {
 public:
  explicit LongTable(const std::vector<envelope::StandingsRow>& rows)
      : rows_(texts_of(envelope::encode_standings(rows))) {
    for (std::size_t i = 0; i < rows.size(); ++i) place_.emplace(rows[i].player_id.str(), i);
    for (std::size_t i = 0; i < kTableHead; ++i) append_row(head_, rows_[i]);
  }
  /// The first rows, and `player`'s own row with its neighbours.
  [[nodiscard]] std::string part_for(const std::string& player) const {
    std::string part = head_;
    const auto own = place_.find(player);
    if (own == place_.end()) return part;
    const std::size_t place = own->second;
    const auto begin =
        std::max(kTableHead, place > kTableNeighbours ? place - kTableNeighbours : 0);
    const auto end = std::min(rows_.size(), place + kTableNeighbours + 1);
    for (std::size_t i = begin; i < end; ++i) append_row(part, rows_[i]);
    return part;
  }

 private:
  std::vector<std::string> rows_;
  std::map<std::string, std::size_t> place_;
  std::string head_;
};

}  // namespace

Announcer::Announcer(const RoundDependencies& dependencies)
    : deps_(dependencies),
      key_(dependencies.token_issuer.league_key()),
      broadcaster_(dependencies.peers, dependencies.clock, dependencies.settings,
                   dependencies.executor) {}

void Announcer::stop() {
  broadcaster_.stop();
  if (deps_.events != nullptr) deps_.events->stop();
}

bool Announcer::hears_board(const events::AgentProfile& profile) const {
  return deps_.events != nullptr && profile.hears_events && profile.endpoint.starts_with("nats:");
}

std::vector<Announcer::AddressedPlayer> Announcer::recipients(bool players, bool referees,
                                                              bool hearers) const {
  std::vector<AddressedPlayer> all;
  deps_.ledger.read([&](const League& league) {
    for (auto kind : {events::AgentKind::kPlayer, events::AgentKind::kReferee}) {
      if (!(kind == events::AgentKind::kPlayer ? players : referees)) continue;
      for (int i = 0; i < league.roster().count(kind); ++i) {
        events::AgentRef ref{kind, i};
        const events::Agent& agent = league.roster().agent(ref);
        if (agent.lifecycle.state() == events::AgentState::kShutdown) continue;
        if (!hearers && hears_board(agent.profile)) continue;
        auto endpoint = transport::link::parse_endpoint(agent.profile.endpoint);
        if (!endpoint) continue;
        all.push_back({ref, std::move(*endpoint),
                       deps_.token_issuer.token(ref.id(), agent.credential.nonce),
                       agent.profile.batches});
      }
    }
  });
  return all;
}

template <typename Message>
envelope::Envelope Announcer::envelope_for(std::optional<int> round,
                                           std::optional<core::AuthToken> token) const {
  return deps_.envelopes.make(Message::kType, {.conversation_id = conversation_of<Message>(round),
                                               .auth_token = std::move(token),
                                               .round_id = round});
}

template <typename Message>
nlohmann::json Announcer::render(const envelope::Envelope& envelope, const Message& message) const {
  nlohmann::json encoded = envelope::encode(envelope, message);
  if (auto head = deps_.log_head ? deps_.log_head() : std::nullopt)
    encoded["log_head"] = {{"seq", head->seq}, {"hash", head->hash}};
  if (deps_.term) encoded["term"] = *deps_.term;
  if constexpr (kIsEnd<Message>) {
    // The journal's head is thereby in the manager's sealed log and in every recipient's.
    const auto journal = deps_.ledger.journal_head();
    encoded["journal_head"] = {{"seq", journal.sequence}, {"hash", core::to_hex(journal.digest)}};
  }
  return encoded;
}

Announcer::Told Announcer::delivery_of(std::size_t messages, std::size_t publications) const {
  if (deps_.events != nullptr) messages += publications;
  return messages > 0 ? std::make_shared<Delivery>(Delivery{task::Latch(messages)}) : nullptr;
}

template <typename Message>
void Announcer::publish(const Message& message, std::optional<int> round, const Told& told) {
  if (deps_.events == nullptr) return;
  const auto envelope = envelope_for<Message>(round, std::nullopt);
  auto encoded = render(envelope, message);
  encoded["signature"] = "";
  const auto& row = envelope::spec(Message::kType);
  std::string text = R"({"jsonrpc":"2.0","method":")" + std::string(row.method) + R"(","params":)" +
                     rpc::to_json_text(encoded) + "}";
  bus::PublishedEvent event;
  event.message_type = std::string(row.wire_name);
  event.type = core::lower_case(row.wire_name);
  event.conversation_id = envelope.conversation_id.str();
  // The key distinguishes leagues with the same name.
  event.id = key_.public_key().substr(0, kShownOfKey) + "." + event.conversation_id;
  event.text = std::make_shared<const std::string>(agent::bus::sign_event(std::move(text), key_));
  deps_.events->publish(std::move(event), [executor = deps_.executor, told] {
    executor.post([told] { told->open.count_down(); });
  });
}

template <typename Message>
void Announcer::broadcast(const Message& message, std::optional<int> round,
                          const std::vector<AddressedPlayer>& to, const Told& told,
                          const OwnRows& rows) {
  if (to.empty()) return;
  const auto envelope = envelope_for<Message>(round, core::AuthToken("@"));
  const std::string text = rpc::to_json_text(render(envelope, message));
  // Both keys contain quotation marks, which are escaped in JSON strings: a bot's display name
  // cannot match.
  const auto behind = [&text](const std::string& key) { return text.find(key) + key.size() - 2; };
  const std::size_t token_at = behind(R"("auth_token":"@")");
  const std::size_t rows_at =
      rows.of ? behind("\"" + std::string(rows.array) + "\":[]") + 1 : text.size();
  for (const auto& one : to) {
    const auto& token = one.token.reveal();
    const std::string own_rows = rows.of ? rows.of(one.agent) : std::string();
    std::string own;
    own.reserve(text.size() + token.size() + own_rows.size());
    own.append(text, 0, token_at).append(token);
    own.append(text, token_at + 1, rows_at - token_at - 1);
    own.append(own_rows).append(text, rows_at);
    broadcaster_.send(
        {agent::peers::call_with({one.endpoint, one.agent.sender()}, envelope, std::move(own), {}),
         one.agent, told, one.takes_batches, kIsEnd<Message>});
  }
}

void Announcer::tell_state(const events::AgentStateChanged& change) {
  const bool is_started = deps_.ledger.read(
      [](const League& league) { return league.state() != LeagueState::kRegistering; });
  tell(change.agent, state_conversation(change.agent), state_notice(change, is_started));
}

void Announcer::tell_receipts(events::AgentRef player, events::MatchKey match,
                              events::ReceiptState state) {
  tell(player, receipt_conversation(match), receipt_notice(match, state));
}

void Announcer::tell(events::AgentRef agent, const core::ConversationId& conversation,
                     const envelope::LeagueError& notice) {
  std::optional<transport::link::Endpoint> to;
  core::AuthToken token;
  deps_.ledger.read([&](const League& league) {
    const events::Agent& known = league.roster().agent(agent);
    if (auto endpoint = transport::link::parse_endpoint(known.profile.endpoint)) to = *endpoint;
    token = deps_.token_issuer.token(agent.id(), known.credential.nonce);
  });
  if (!to) return;
  const auto envelope = deps_.envelopes.make(
      MessageType::kLeagueError, {.conversation_id = conversation, .auth_token = token});
  broadcaster_.send(
      {agent::peers::call_with({std::move(*to), agent.sender()}, envelope,
                               rpc::to_json_text(envelope::encode(envelope, notice)), {}),
       agent});
}

task::Task<void> Announcer::wait_a_while(Told told) const {
  if (told)
    (void)co_await told->open.wait_for(deps_.timer, deps_.settings.league.announcement_grace);
}

Announcer::Told Announcer::announce_round(int round) {
  auto players = recipients(true, false);
  auto told = delivery_of(players.size(), 1);
  if (!deps_.settings.league.broadcasts || !told) return nullptr;
  int all_players = 0;
  envelope::RoundAnnouncement message;
  deps_.ledger.read([&](const League& league) {
    all_players = league.roster().taken(events::AgentKind::kPlayer);
    message.matches = announced_matches(league);
  });
  // The published copy is the same for everybody, so it contains all matches.
  publish(message, round, told);
  if (all_players <= kWholeRound) {
    broadcast(message, round, players, told);
  } else {
    const auto own = matches_by_player(message.matches);
    const int total = static_cast<int>(message.matches.size());
    broadcast(envelope::RoundAnnouncement{.matches = {}, .total_matches = total}, round, players,
              told, {"matches", [&own](events::AgentRef player) {
                       const auto found = own.find(player.id());
                       return found == own.end() ? std::string() : found->second;
                     }});
  }
  return told;
}

Announcer::Told Announcer::announce_again(const std::vector<events::MatchKey>& matches) {
  if (matches.empty()) return nullptr;
  struct PlayerAnnouncements {
    AddressedPlayer player;
    envelope::RoundAnnouncement message;
  };
  std::map<events::AgentRef, PlayerAnnouncements> announcements;
  auto players = recipients(true, false, true);
  deps_.ledger.read([&](const League& league) {
    for (events::MatchKey match : matches) {
      if (!league.board().contains(match)) continue;
      const Pairing pairing = league.schedule().pairing(match);
      for (const auto& player : players) {
        if (!pairing.has(player.agent.index)) continue;
        auto& one =
            announcements.try_emplace(player.agent, PlayerAnnouncements{player, {}}).first->second;
        one.message.matches.push_back(announced_match(league, match));
        one.message.total_matches = league.board().matches();
      }
    }
  });
  auto told = delivery_of(announcements.size(), 0);
  for (const auto& [player, one] : announcements)
    broadcast(one.message, matches.front().round, {one.player}, told);
  return told;
}

void Announcer::send_standings(int round, const std::vector<AddressedPlayer>& players,
                               const Told& told) {
  auto rows = deps_.ledger.read([](const League& league) { return standings_rows(league); });
  if (rows.size() <= kWholeTable) {
    envelope::LeagueStandingsUpdate update{.standings = std::move(rows), .total_players = {}};
    publish(update, round, told);
    return broadcast(update, round, players, told);
  }
  const LongTable table(rows);
  const int total = static_cast<int>(rows.size());
  // The published copy is the same for everybody: an agent has to query its own row.
  rows.resize(kTableHead);
  publish(envelope::LeagueStandingsUpdate{.standings = std::move(rows), .total_players = total},
          round, told);
  broadcast(envelope::LeagueStandingsUpdate{.standings = {}, .total_players = total}, round,
            players, told, {"standings", [&table](events::AgentRef player) {
                              return table.part_for(player.id());
                            }});
}

Announcer::Told Announcer::round_completed(int round) {
  if (!deps_.settings.league.broadcasts) return nullptr;
  auto players = recipients(true, false);
  auto everybody = recipients(true, true);
  auto told = delivery_of(players.size() + everybody.size(), 2);
  send_standings(round, players, told);
  auto message = deps_.ledger.read([round](const League& league) {
    return league_manager::rounds::round_completed(league, round);
  });
  publish(message, round, told);
  broadcast(message, round, everybody, told);
  return told;
}

Announcer::Told Announcer::league_completed() {
  if (deps_.seal_log) deps_.seal_log();
  auto message = deps_.ledger.read(
      [](const League& league) { return league_manager::rounds::league_completed(league); });
  if (deps_.attest) message.attestation = deps_.attest();
  auto to = recipients(true, true);
  auto told = delivery_of(to.size(), 1);
  publish(message, std::nullopt, told);
  broadcast(message, std::nullopt, to, told);
  return told;
}

}  // namespace league::league_manager::rounds
