#include "league_manager/program/league_store.h"

#include "common/agent/runtime/log.h"
#include "common/agent/runtime/operations_log.h"
#include "common/core/assign.h"
#include "common/journal/discarding_journal.h"
#include "game/files/game_file.h"
#include "league_manager/admission/operator_key.h"
#include "league_manager/files/data_directory.h"
#include "league_manager/service/continuation.h"

namespace league::league_manager {
namespace {

std::string default_league_id(const std::string& game_type, const core::Clock& clock) {
  return "league_" + clock.utc_now().to_wire().substr(0, 4) + "_" + game_type;
}

/// The settings of a new league.
events::LeagueSettings new_settings(const ProgramOptions& options,
                                    const agent::runtime::Settings& limits,
                                    game::SharedDefinition game, const core::Clock& clock) {
  events::LeagueSettings settings = service::settings_from(limits);
  settings.rules = std::move(game);
  settings.league_id = core::LeagueId(
      options.league_id.value_or(default_league_id(settings.rules->game_type(), clock)));
  settings.unproven_referees = options.unproven_referees;
  if (options.requires_commitments) settings.requires_commitments = true;
  settings.players = options.players.value_or(settings.players);
  settings.referees = options.referees.value_or(settings.referees);
  settings.meetings = options.meetings.value_or(settings.meetings);
  settings.open_mode = options.common.parsed_mode() == envelope::Mode::kOpen;
  return settings;
}

core::Result<void> archive_league(const files::DataDirectory& data, const core::Clock& clock) {
  auto archived = data.archive(clock.utc_now());
  if (!archived) return archived.error();
  if (!archived->empty())
    agent::runtime::log::info("the league that was here is now in {}", archived->string());
  return {};
}

}  // namespace

core::Result<std::unique_ptr<LeagueStore>> LeagueStore::open(
    const ProgramOptions& options, const agent::runtime::Settings& limits,
    const TurnDependencies& turn, journal::SqliteJournalOptions journal_options) {
  game::Games games = game::Games::standard();
  auto game = game::files::find_game(games, options.game.value_or("even_odd"));
  if (!game) return game.error();
  std::unique_ptr<LeagueStore> store(
      new LeagueStore(options, new_settings(options, limits, std::move(*game), turn.host.clock())));
  if (auto opened = store->open_all(turn, std::move(journal_options)); !opened)
    return opened.error();
  return store;
}

core::Result<void> LeagueStore::open_all(const TurnDependencies& turn,
                                         journal::SqliteJournalOptions journal_options) {
  const files::DataDirectory data(options_.data);
  if (options_.is_new) {
    if (auto archived = archive_league(data, turn.host.clock()); !archived) return archived;
  }
  if (auto prepared = data.prepare(); !prepared) return prepared;
  if (options_.is_ephemeral) {
    discarding_ = std::make_unique<journal::DiscardingJournal>();
  } else {
    journal_options.file = data.journal();
    journal_options.mark = data.journal_mark();
    if (auto opened = open_journal(turn, std::move(journal_options)); !opened) return opened;
    if (!has_turn_) return {};
    if (auto read = read_journal(); !read) return read;
  }
  if (!log_lock_) {
    if (auto locked = lock_log(settings_.league_id); !locked) return locked;
  }
  return open_keys(turn.random);
}

core::Result<void> LeagueStore::open_journal(const TurnDependencies& turn,
                                             journal::SqliteJournalOptions journal_options) {
  // With replication or a new league, an empty journal is no error: other managers can have the
  // journal.
  const bool is_alone = !options_.is_replicated() && !options_.is_new;
  journal_options.check = [this, is_alone] {
    return is_alone ? files::check_empty_journal(places()) : core::Result<void>();
  };
  journal_options.on_busy = [](std::chrono::seconds waited) {
    agent::runtime::log::warn(
        "another program has locked the journal for {} s: nothing is accepted until it ends or "
        "unlocks it",
        waited.count());
  };
  auto opened = journal::SqliteJournal::open(std::move(journal_options));
  if (!opened) return opened.error();
  sqlite_ = std::move(*opened);
  return take_turn(turn);
}

/// Waits until this manager leads, if there are several; afterwards the local journal is complete.
core::Result<void> LeagueStore::take_turn(const TurnDependencies& turn) {
  if (!options_.is_replicated()) return {};
  auto creation = service::read_creation(*sqlite_);
  if (!creation) return creation.error();
  auto league = *creation ? (*creation)->league_id : settings_.league_id;
  if (auto locked = lock_log(league); !locked) return locked;
  if (auto made = core::assign(leadership_, wait_for_turn(options_, league, *sqlite_, turn)); !made)
    return made;
  has_turn_ = leadership_ != nullptr;
  return {};
}

/// Keeps other managers from the league's conversation log.
core::Result<void> LeagueStore::lock_log(const core::LeagueId& league) {
  auto log = audit::log::league_log_path(options_.common.logs, league.str());
  if (!log) return log.error();
  std::error_code failed;  // the lock reports the error
  std::filesystem::create_directories(log->parent_path(), failed);
  auto lock = journal::LockFile::acquire(log->parent_path() / "league.lock");
  if (!lock) {
    auto error = lock.error();
    error.message += "; two managers cannot write one conversation log (--logs)";
    return error;
  }
  log_lock_ = std::move(*lock);
  return {};
}

/// The places where files of this manager prove what its journal must contain.
files::EvidencePaths LeagueStore::places() const {
  return {files::DataDirectory(options_.data), options_.common.logs, settings_.league_id.str()};
}

core::Result<void> LeagueStore::read_journal() {
  if (!options_.is_new) {
    const bool has_followed = leadership_ && leadership_->has_followed();
    if (auto checked = check_journal(journal(), places(), has_followed); !checked) return checked;
  }
  sqlite_->accept();
  auto creation = service::read_creation(*sqlite_);
  if (!creation) return creation.error();
  if (!*creation && options_.is_standby) {
    return core::Error{
        core::ErrorCode::kInternalError,
        "the manager of league " + settings_.league_id.str() +
            " stopped before the league was created: restart it first, then this stand-by",
        ""};
  }
  is_new_ = !*creation;
  if (is_new_) return {};
  if (!std::filesystem::exists(files::DataDirectory(options_.data).secret_key())) {
    return core::Error{core::ErrorCode::kInternalError,
                       "secret.key is missing in " + options_.data.string() +
                           ", which holds a league: put it back from a backup, or add --new to "
                           "archive the league and begin another",
                       ""};
  }
  return service::continue_with(settings_, **creation,
                                {options_.league_id, options_.players, options_.referees,
                                 options_.game ? settings_.rules : nullptr, options_.meetings});
}

core::Result<void> LeagueStore::open_keys(core::RandomSource& random) {
  const files::DataDirectory data(options_.data);
  auto token_issuer = admission::TokenIssuer::open(settings_.league_id, data.secret_key(), random);
  if (!token_issuer) return token_issuer.error();
  token_issuer_ = std::make_unique<admission::TokenIssuer>(std::move(*token_issuer));
  if (auto known = service::take_league_key(settings_, *token_issuer_); !known) return known;
  auto key = admission::open_operator_key(options_.operator_key_file.empty()
                                              ? data.operator_key()
                                              : std::filesystem::path(options_.operator_key_file),
                                          random);
  if (!key) return key.error();
  operator_key_ = *key;
  auto referees = admission::open_referee_key(data.referee_key(), token_issuer_->referee_key());
  if (!referees) return referees.error();
  referee_key_ = *referees;
  return {};
}

journal::Journal& LeagueStore::journal() const {
  if (leadership_) return leadership_->journal();
  return sqlite_ ? static_cast<journal::Journal&>(*sqlite_) : *discarding_;
}

void LeagueStore::hand_over() {
  if (leadership_) leadership_->finish();
}

void LeagueStore::close() {
  hand_over();
  if (sqlite_) sqlite_->close();
}

}  // namespace league::league_manager
