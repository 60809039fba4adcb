#include "tools/audit/facts/journal.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/core/crypto.h"
#include "common/journal/journal_mark.h"
#include "common/journal/sqlite_journal.h"
#include "league_manager/events/event_codec.h"
#include "tools/audit/facts/reading.h"

namespace league::tools::auditor {

// What a bundle's results.json says. Those of earlier versions lack some of it.

void describe(schema::Fields& a, JournalReceipts& receipts) {
  a.defaulted("state", receipts.state, "join", receipts.join, "choice", receipts.choice);
}

void describe(schema::Fields& a, JournalQuestion& question) {
  a.defaulted("match_id", question.match_id, "attempt", question.attempt, "players",
              question.players);
}

void describe(schema::Fields& a, VoidedMatch& match) {
  a.defaulted("match_id", match.match_id, "by", match.by, "reason", match.reason);
  a.filled("replayed_as", match.replay);
}

struct ReceiptsBySide {
  JournalReceipts a, b;
};

void describe(schema::Fields& a, ReceiptsBySide& receipts) {
  a.defaulted("A", receipts.a, "B", receipts.b);
}

/// A row of its results.
struct ResultRow {
  std::string match_id, outcome, by, reason;
  nlohmann::json points;
  std::string draw_seed = {};
  std::optional<ReceiptsBySide> receipts = {};
  std::optional<std::set<std::string>> hosted = {};
  std::string fairness = {};
};

void describe(schema::Fields& a, ResultRow& row) {
  a.defaulted("match_id", row.match_id, "outcome", row.outcome, "by", row.by, "reason", row.reason,
              "points", row.points);
  a.filled("draw_seed", row.draw_seed);
  a.optional("receipts", row.receipts);
  a.optional("hosted", row.hosted);
  a.filled("fairness", row.fairness);
}

struct GivenUpRow {
  std::string at, text;
  std::optional<std::int64_t> results;
};

void describe(schema::Fields& a, GivenUpRow& row) {
  a.defaulted("at", row.at, "text", row.text, "results", row.results);
}

namespace {

std::string time_text(std::int64_t at_us) {
  using Time = core::UtcTimestamp::TimePoint;
  return core::UtcTimestamp(Time(Time::duration(at_us))).to_log();
}

}  // namespace

void describe(schema::Fields& a, JournalLeague& league) {
  a.filled("voided", league.voided);
  a.filled("league_key", league.league_key);
  a.flag("files_keyed", league.files_keyed);
  a.optional("meetings", league.meetings);
  a.filled("with_receipts", league.with_receipts);
  a.filled("hosted", *league.hosted);
  std::map<std::string, std::string> seated;
  for (const auto& [player, at_us] : league.seated_anew_us) seated[player] = time_text(at_us);
  a.filled("seated_anew", seated);
  a.filled("questions", league.questions);
  if (!a.reads()) return;
  for (const auto& [player, text] : seated)
    if (const auto at_us = instant_in(text)) league.seated_anew_us[player] = *at_us;
}

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
  for (const json& one : rows) {
    auto row = schema::read_loosely<GivenUpRow>(one);
    const auto at_us = instant_in(row.at);
    const bool is_known = at_us && row.results && *row.results >= 0 &&
                          static_cast<std::size_t>(*row.results) <= league.results.size();
    if (!is_known) return false;
    league.given_up.push_back(
        {*at_us, std::move(row.text), static_cast<std::size_t>(*row.results), 0});
  }
  return true;
}

std::vector<JournalReceipts> receipts_in(std::optional<ReceiptsBySide> receipts) {
  if (!receipts) return {};
  return {std::move(receipts->a), std::move(receipts->b)};
}

/// Null if it is not said.
HostedPlayers shared(std::optional<std::set<std::string>> hosted) {
  return hosted ? std::make_shared<std::set<std::string>>(*std::move(hosted)) : nullptr;
}

/// The points of a result; nothing if no match of this game ends with them and this outcome.
/// Bundles of earlier versions, which know Even/Odd only, lack this field.
std::optional<game::PerSide<int>> points_in(const ResultRow& row, game::Outcome outcome,
                                            const game::Definition& game) {
  if (row.points.is_null() && outcome == game::Outcome::kDraw) return {{{1, 1}}};
  if (row.points.is_null()) return game.technical_points(outcome);
  const auto is_payoff = [](const auto& number) {
    return number && *number >= 0 && *number <= game::Definition::kHighestPayoff;
  };
  const auto a = number_at(row.points, "A"), b = number_at(row.points, "B");
  if (!is_payoff(a) || !is_payoff(b)) return std::nullopt;
  const game::PerSide<int> read{{static_cast<int>(*a), static_cast<int>(*b)}};
  const bool is_technical = row.by == "MANAGER" || !row.reason.empty();
  const bool fits = is_technical ? read == game.technical_points(outcome)
                                 : game.outcome_of(read, false) == outcome;
  return fits ? std::optional(read) : std::nullopt;
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
  for (const json& one : content["results"]) {
    auto row = schema::read_loosely<ResultRow>(one);
    auto outcome = game::parse_outcome(row.outcome);
    auto points = outcome ? points_in(row, *outcome, *league.game) : std::nullopt;
    if (!points || row.match_id.empty()) return damaged(file);
    league.results.push_back({.match_id = row.match_id,
                              .outcome = *outcome,
                              .by_manager = row.by == "MANAGER",
                              .reason = row.reason,
                              .receipts = receipts_in(std::move(row.receipts)),
                              .fairness = row.fairness,
                              .points = *points,
                              .hosted = shared(std::move(row.hosted))});
    if (!row.draw_seed.empty()) league.seeds[row.match_id] = row.draw_seed;
  }
  if (!read_given_up(content, league)) return damaged(file);
  if (const json& voided = field_at(content, "voided"); !voided.is_null() && !voided.is_array())
    return damaged(file);
  schema::read_loosely_into(schema::JsonTree(content).root(), schema::field_type<JournalLeague>(),
                            &league);
  return std::optional(std::move(league));
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
  std::vector<ResultRow> rows;
  for (const JournalResult& result : league.results) {
    const game::PerSide<int>& points = result.points;
    ResultRow& row = rows.emplace_back(
        ResultRow{.match_id = result.match_id,
                  .outcome = std::string(game::outcome_name(result.outcome)),
                  .by = result.by_manager ? "MANAGER" : "REPORT",
                  .reason = result.reason,
                  .points = {{"A", points[game::Side::kA]}, {"B", points[game::Side::kB]}}});
    if (auto seed = league.seeds.find(result.match_id); seed != league.seeds.end())
      row.draw_seed = seed->second;
    if (result.receipts.size() == 2) row.receipts = {result.receipts[0], result.receipts[1]};
    const auto& hosted = result.hosted ? *result.hosted : *league.hosted;
    if (hosted != *league.hosted) row.hosted = hosted;
    if (!hosted.empty() || !league.hosted->empty()) row.fairness = result.fairness;
  }
  std::vector<GivenUpRow> given_up;
  for (const AcceptedLoss& one : league.given_up)
    given_up.push_back({time_text(one.at_us), without_directories(one.text),
                        static_cast<std::int64_t>(one.results)});
  return ordered_json::parse(schema::object_to_text([&](schema::Fields& a) {
    a.required("format", std::string_view(kResultsFormat));
    a.required("version", 1);
    a.required("game", league.game->to_json());
    a.required("results", rows);
    a.filled("given_up", given_up);
    a.fields_of(league);
  }));
}

}  // namespace league::tools::auditor
