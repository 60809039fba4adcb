#include "tools/audit/facts/journal.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/core/crypto.h"
#include "common/journal/journal_mark.h"
#include "common/journal/sqlite_journal.h"
#include "league_manager/events/event_codec.h"
#include "tools/audit/facts/reading.h"

namespace league::tools::auditor {
namespace {

namespace lm = league_manager;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kResultsFormat = "league.results";

std::vector<JournalReceipts> receipts_of(const lm::events::MatchReported& reported) {
  std::vector<JournalReceipts> receipts;
  if (!reported.receipts) return receipts;
  for (game::Side side : game::kBothSides) {
    const auto& one = (*reported.receipts)[side];
    receipts.push_back({std::string(lm::events::receipt_state_name(one.state)),
                        one.join.value_or(""), one.choice.value_or("")});
  }
  return receipts;
}

void note_profile(const lm::events::AgentRef& agent, const lm::events::AgentProfile& profile,
                  JournalLeague& league) {
  league.log_keys[agent.sender()] = profile.log_public_key.value_or("");
  if (profile.receipts) league.with_receipts.insert(agent.id());
  const bool is_hosted = lm::events::is_hosted(profile);
  if (league.hosted->contains(agent.id()) == is_hosted) return;
  if (league.hosted.use_count() > 1)  // earlier results have it
    league.hosted = std::make_shared<std::set<std::string>>(*league.hosted);
  if (is_hosted) {
    league.hosted->insert(agent.id());
  } else {
    league.hosted->erase(agent.id());
  }
}

/// An id that was given before belongs to somebody else now: its seat was freed before the start.
void note_registered(const lm::events::AgentRegistered& agent, std::int64_t at_us,
                     JournalLeague& league) {
  if (league.log_keys.contains(agent.agent.sender())) {
    league.seated_anew_us[agent.agent.sender()] = at_us;
    league.with_receipts.erase(agent.agent.id());
  }
  note_profile(agent.agent, agent.profile, league);
}

/// What binds the league's files and its agents' logs to the journal, and whom the manager asked.
void note_witness(const lm::events::Event& event, std::uint64_t entry, JournalLeague& league) {
  if (const auto* created = std::get_if<lm::events::LeagueCreated>(&event.body)) {
    league.league_key = created->league_key.value_or("");
    league.files_keyed = created->files_keyed;
    if (auto game = lm::events::game_of(*created)) league.game = std::move(*game);
    league.meetings = created->meetings;
  } else if (const auto* asked = std::get_if<lm::events::PlayersAsked>(&event.body)) {
    JournalQuestion question{asked->match.id().str(), asked->attempt, {}};
    for (const auto& one : asked->words)
      question.players.insert(lm::events::AgentRef::player(one.player).id());
    league.questions.push_back(std::move(question));
  } else if (const auto* heads = std::get_if<lm::events::LogHeadsRecorded>(&event.body)) {
    for (const auto& one : heads->heads)
      league.heads.push_back({one.agent.sender(), {one.seq, one.hash}, entry});
  }
}

/// A cut that names a later time than the entries that follow it did not happen then.
void check_cut(const lm::events::Event& event, JournalLeague& league) {
  constexpr std::int64_t kClockSetBackUs = 60'000'000;
  const std::int64_t at_us = event.at.instant().time_since_epoch().count();
  if (!league.cuts.empty() && at_us + kClockSetBackUs < league.cuts.back().at_us)
    league.cuts.pop_back();
}

void note_event(const lm::events::Event& event, std::uint64_t entry, JournalLeague& league) {
  check_cut(event, league);
  note_witness(event, entry, league);
  if (const auto* round = std::get_if<lm::events::RoundStarted>(&event.body)) {
    for (std::size_t i = 0; i < round->draw_seeds.size(); ++i) {
      lm::events::MatchKey match{round->round, static_cast<int>(i) + 1};
      league.seeds[match.id().str()] = core::to_hex(round->draw_seeds[i]);
    }
  } else if (const auto* reported = std::get_if<lm::events::MatchReported>(&event.body)) {
    league.results.push_back(
        {reported->match.id().str(), reported->result.outcome, false,
         reported->result.technical_reason, entry, reported->attempt, reported->result.drawn_number,
         receipts_of(*reported),
         reported->fairness ? std::string(game::fairness_name(*reported->fairness)) : std::string(),
         game::points_of(*league.game, reported->result), league.hosted});
  } else if (const auto* forfeited = std::get_if<lm::events::MatchForfeited>(&event.body)) {
    league.results.push_back({forfeited->match.id().str(),
                              forfeited->result.outcome,
                              true,
                              forfeited->result.technical_reason,
                              entry,
                              0,
                              {},
                              {},
                              {},
                              game::points_of(*league.game, forfeited->result),
                              league.hosted});
  } else if (const auto* acted = std::get_if<lm::events::OperatorActed>(&event.body)) {
    if (acted->match)
      league.voided.push_back({acted->match->id().str(),
                               acted->replay ? acted->replay->id().str() : std::string(), acted->by,
                               acted->reason, entry});
  } else if (const auto* agent = std::get_if<lm::events::AgentRegistered>(&event.body)) {
    note_registered(*agent, event.at.instant().time_since_epoch().count(), league);
  } else if (const auto* back = std::get_if<lm::events::AgentReregistered>(&event.body)) {
    note_profile(back->agent, back->profile, league);
  } else if (const auto* continued = std::get_if<lm::events::LeagueContinued>(&event.body)) {
    // A manager that was let lead may have had entries that another one had acknowledged otherwise,
    // from any number on.
    if (continued->term || continued->given_up)
      league.cuts.push_back(
          {event.at.instant().time_since_epoch().count(), continued->given_up ? 0 : entry});
    if (continued->given_up)
      league.given_up.push_back({event.at.instant().time_since_epoch().count(),
                                 *continued->given_up, league.results.size(), entry});
  }
}

bool names_another_game(const lm::events::Event& event) {
  const auto* created = std::get_if<lm::events::LeagueCreated>(&event.body);
  return created != nullptr && created->game && created->game->game_type() != created->game_type;
}

core::Result<std::optional<JournalLeague>> read_from_journal(const std::filesystem::path& file) {
  JournalLeague league;
  league.file = file;
  auto read = journal::read_journal(file, [&](const journal::Entry& entry) {
    auto event = lm::events::from_record(entry.record);
    if (!event) return core::Result<void>(event.error());
    if (names_another_game(*event))
      return core::Result<void>(
          core::Error{core::ErrorCode::kInternalError,
                      file.string() + ": the game is not the one that LEAGUE_CREATED names",
                      {}});
    note_event(*event, entry.sequence, league);
    league.digests.push_back(journal::chained(
        league.digests.empty() ? core::Digest{} : league.digests.back(), entry.record));
    return core::Result<void>();
  });
  if (!read) return read.error();
  return std::optional(std::move(league));
}

std::filesystem::path journal_in(const std::filesystem::path& data) {
  return data / "journal" / "journal.sqlite";
}

core::Error damaged(const std::filesystem::path& file) {
  return {core::ErrorCode::kInternalError, file.string() + " is damaged, or not from a bundle", {}};
}

/// Bundles of earlier versions lack this field.
bool read_given_up(const json& content, JournalLeague& league) {
  const json& rows = field_at(content, "given_up");
  if (rows.is_null()) return true;
  if (!rows.is_array()) return false;
  for (const json& row : rows) {
    auto at = core::UtcTimestamp::parse(text_at(row, "at"));
    auto results = number_at(row, "results");
    bool is_known = at && results && *results >= 0 &&
                    static_cast<std::size_t>(*results) <= league.results.size();
    if (!is_known) return false;
    league.given_up.push_back({at->instant().time_since_epoch().count(), text_at(row, "text"),
                               static_cast<std::size_t>(*results), 0});
  }
  return true;
}

std::vector<JournalReceipts> receipts_in(const json& row) {
  std::vector<JournalReceipts> receipts;
  const json& all = field_at(row, "receipts");
  if (!all.is_object()) return receipts;
  for (const char* side : {"A", "B"}) {
    const json& one = field_at(all, side);
    receipts.push_back({text_at(one, "state"), text_at(one, "join"), text_at(one, "choice")});
  }
  return receipts;
}

/// Null if `object` does not say it.
HostedPlayers hosted_in(const json& object) {
  const json& players = field_at(object, "hosted");
  if (!players.is_array()) return nullptr;
  auto hosted = std::make_shared<std::set<std::string>>();
  for (const json& player : players)
    if (player.is_string()) hosted->insert(player.get<std::string>());
  return hosted;
}

/// The points of a result; nothing if no match of this game ends with them and this outcome.
/// Bundles of earlier versions, which know Even/Odd only, lack this field.
std::optional<game::PerSide<int>> points_in(const json& row, game::Outcome outcome,
                                            const game::Definition& game) {
  const json& points = field_at(row, "points");
  if (points.is_null() && outcome == game::Outcome::kDraw) return {{{1, 1}}};
  if (points.is_null()) return game.technical_points(outcome);
  const auto is_payoff = [](const auto& number) {
    return number && *number >= 0 && *number <= game::Definition::kHighestPayoff;
  };
  const auto a = number_at(points, "A"), b = number_at(points, "B");
  if (!is_payoff(a) || !is_payoff(b)) return std::nullopt;
  const game::PerSide<int> read{{static_cast<int>(*a), static_cast<int>(*b)}};
  const bool is_technical = text_at(row, "by") == "MANAGER" || !text_at(row, "reason").empty();
  const bool fits = is_technical ? read == game.technical_points(outcome)
                                 : game.outcome_of(read, false) == outcome;
  return fits ? std::optional(read) : std::nullopt;
}

/// Bundles of earlier versions lack these fields.
void read_witness(const json& content, JournalLeague& league) {
  league.league_key = text_at(content, "league_key");
  league.files_keyed = field_at(content, "files_keyed") == json(true);
  league.meetings = number_at(content, "meetings");
  for (const json& player : list_at(content, "with_receipts"))
    if (player.is_string()) league.with_receipts.insert(player.get<std::string>());
  if (auto hosted = hosted_in(content)) league.hosted = std::move(hosted);
  const json& seated = field_at(content, "seated_anew");
  if (seated.is_object()) {
    for (const auto& [player, unused] : seated.items()) {
      if (auto at = core::UtcTimestamp::parse(text_at(seated, player)))
        league.seated_anew_us[player] = at->instant().time_since_epoch().count();
    }
  }
  for (const json& row : list_at(content, "questions")) {
    JournalQuestion question{text_at(row, "match_id"), number_at(row, "attempt").value_or(0), {}};
    for (const json& player : list_at(row, "players"))
      if (player.is_string()) question.players.insert(player.get<std::string>());
    league.questions.push_back(std::move(question));
  }
}

core::Result<std::optional<JournalLeague>> read_from_bundle(const std::filesystem::path& file) {
  JournalLeague league;
  league.file = file;
  json content = json::parse(std::ifstream(file), nullptr, false);
  if (text_at(content, "format") != kResultsFormat || !field_at(content, "results").is_array())
    return damaged(file);
  if (const json& definition = field_at(content, "game"); !definition.is_null()) {
    auto game = game::Definition::read(definition);
    if (!game) return damaged(file);
    league.game = std::make_shared<const game::Definition>(std::move(*game));
  }
  for (const json& row : content["results"]) {
    auto outcome = game::parse_outcome(text_at(row, "outcome"));
    const std::string& match = text_at(row, "match_id");
    auto points = outcome ? points_in(row, *outcome, *league.game) : std::nullopt;
    if (!points || match.empty()) return damaged(file);
    league.results.push_back({match,
                              *outcome,
                              text_at(row, "by") == "MANAGER",
                              text_at(row, "reason"),
                              0,
                              0,
                              {},
                              receipts_in(row),
                              text_at(row, "fairness"),
                              *points,
                              hosted_in(row)});
    if (const auto& seed = text_at(row, "draw_seed"); !seed.empty()) league.seeds[match] = seed;
  }
  if (!read_given_up(content, league)) return damaged(file);
  read_witness(content, league);
  const json& voided = field_at(content, "voided");
  if (!voided.is_null() && !voided.is_array()) return damaged(file);
  for (const json& row : voided) {
    league.voided.push_back({text_at(row, "match_id"), text_at(row, "replayed_as"),
                             text_at(row, "by"), text_at(row, "reason"), 0});
  }
  return std::optional(std::move(league));
}

std::string time_text(std::int64_t at_us) {
  return core::UtcTimestamp(
             core::UtcTimestamp::TimePoint(core::UtcTimestamp::TimePoint::duration(at_us)))
      .to_log();
}

/// What binds the league's files and its referees' losses to the journal.
void add_witness(const JournalLeague& league, ordered_json& content) {
  if (!league.league_key.empty()) content["league_key"] = league.league_key;
  if (league.files_keyed) content["files_keyed"] = true;
  if (league.meetings) content["meetings"] = *league.meetings;
  if (!league.with_receipts.empty()) content["with_receipts"] = league.with_receipts;
  if (!league.hosted->empty()) content["hosted"] = *league.hosted;
  for (const auto& [player, at_us] : league.seated_anew_us)
    content["seated_anew"][player] = time_text(at_us);
  for (const JournalQuestion& one : league.questions)
    content["questions"].push_back(
        {{"match_id", one.match_id}, {"attempt", one.attempt}, {"players", one.players}});
}

/// Shortens paths to their last part, since a bundle must not contain names of the machine's
/// directories.
std::string without_directories(std::string_view text) {
  std::string left;
  std::size_t word = 0;
  for (char c : text) {
    if (c == '/') {
      left.resize(word);
      continue;
    }
    left += c;
    if (c == ' ') word = left.size();
  }
  return left;
}

}  // namespace

std::string words_of(const VoidedMatch& match) {
  return match.match_id + " is void, by " + match.by + " (" + match.reason + ")" +
         (match.replay.empty() ? std::string() : "; played again as ") + match.replay;
}

core::Result<std::optional<JournalLeague>> read_kept_league(const std::filesystem::path& data) {
  auto journal = journal_in(data);
  if (std::filesystem::exists(journal)) return read_from_journal(journal);
  auto results = data / "results.json";
  if (std::filesystem::exists(results)) return read_from_bundle(results);
  return std::optional<JournalLeague>();
}

core::Result<std::vector<std::string>> kept_secrets(const std::filesystem::path& data) {
  std::vector<std::string> secrets;
  if (!std::filesystem::exists(journal_in(data))) return secrets;
  JournalLeague league;
  auto read = journal::read_journal(journal_in(data), [&](const journal::Entry& entry) {
    auto event = lm::events::from_record(entry.record);
    if (!event) return core::Result<void>(event.error());
    note_event(*event, entry.sequence, league);
    if (const auto* agent = std::get_if<lm::events::AgentRegistered>(&event->body))
      secrets.push_back(agent->credential.nonce);
    if (const auto* agent = std::get_if<lm::events::AgentReregistered>(&event->body))
      secrets.push_back(agent->credential.nonce);
    return core::Result<void>();
  });
  if (!read) return read.error();
  for (const JournalResult& result : league.results) league.seeds.erase(result.match_id);
  for (const auto& [match, seed] : league.seeds) secrets.push_back(seed);
  return secrets;
}

ordered_json results_json(const JournalLeague& league) {
  auto rows = ordered_json::array();
  for (const JournalResult& result : league.results) {
    ordered_json row = {
        {"match_id", result.match_id},
        {"outcome", game::outcome_name(result.outcome)},
        {"by", result.by_manager ? "MANAGER" : "REPORT"},
        {"reason", result.reason},
        {"points", {{"A", result.points[game::Side::kA]}, {"B", result.points[game::Side::kB]}}}};
    auto seed = league.seeds.find(result.match_id);
    if (seed != league.seeds.end()) row["draw_seed"] = seed->second;
    for (std::size_t i = 0; i < result.receipts.size(); ++i) {
      const JournalReceipts& one = result.receipts[i];
      row["receipts"][i == 0 ? "A" : "B"] = {
          {"state", one.state}, {"join", one.join}, {"choice", one.choice}};
    }
    const auto& hosted = result.hosted ? *result.hosted : *league.hosted;
    if (hosted != *league.hosted) row["hosted"] = hosted;
    if ((!hosted.empty() || !league.hosted->empty()) && !result.fairness.empty())
      row["fairness"] = result.fairness;
    rows.push_back(std::move(row));
  }
  ordered_json content = {{"format", kResultsFormat},
                          {"version", 1},
                          {"game", league.game->to_json()},
                          {"results", std::move(rows)}};
  for (const AcceptedLoss& one : league.given_up) {
    content["given_up"].push_back({{"at", time_text(one.at_us)},
                                   {"text", without_directories(one.text)},
                                   {"results", one.results}});
  }
  for (const VoidedMatch& one : league.voided) {
    ordered_json row = {{"match_id", one.match_id}, {"by", one.by}, {"reason", one.reason}};
    if (!one.replay.empty()) row["replayed_as"] = one.replay;
    content["voided"].push_back(std::move(row));
  }
  add_witness(league, content);
  return content;
}

}  // namespace league::tools::auditor
