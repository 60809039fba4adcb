#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/core/clock.h"
#include "common/journal/lock_file.h"
#include "common/journal/sqlite_journal.h"
#include "league_manager/admission/token_issuer.h"
#include "league_manager/files/journal_evidence.h"
#include "league_manager/program/manager_turn.h"
#include "league_manager/program/program.h"

namespace league::league_manager {

/// The stored state of a manager's league: the journal, the keys and the settings, new or from an
/// earlier run. Its locks keep other managers out. Not thread-safe.
class LeagueStore {
 public:
  /// Opens the data directory, and waits until this manager leads if there are several. The journal
  /// comes first: its lock keeps a second manager out. All arguments outlive the store.
  [[nodiscard]] static core::Result<std::unique_ptr<LeagueStore>> open(
      const ProgramOptions& options, const agent::runtime::Settings& limits,
      const TurnDependencies& turn, journal::SqliteJournalOptions journal_options);
  /// Closes.
  ~LeagueStore() { close(); }
  LeagueStore(const LeagueStore&) = delete;
  LeagueStore& operator=(const LeagueStore&) = delete;

  /// False: the manager was asked to stop before it led. Then nothing else is available.
  [[nodiscard]] bool has_turn() const { return has_turn_; }
  /// Whether this process has begun the league, rather than continued it.
  [[nodiscard]] bool is_new() const { return is_new_; }
  /// False: the league is ephemeral and does not survive the process.
  [[nodiscard]] bool is_kept() const { return sqlite_ != nullptr; }
  [[nodiscard]] const events::LeagueSettings& settings() const { return settings_; }
  [[nodiscard]] journal::Journal& journal() const;
  /// Null if no other manager can take over.
  [[nodiscard]] Leadership* leadership() const { return leadership_.get(); }
  /// False while nothing more could be recorded.
  [[nodiscard]] bool may_start() const { return !leadership_ || leadership_->may_start(); }
  [[nodiscard]] const admission::TokenIssuer& token_issuer() const { return *token_issuer_; }
  [[nodiscard]] const core::AuthToken& operator_key() const { return operator_key_; }
  [[nodiscard]] const core::AuthToken& referee_key() const { return referee_key_; }

  /// Lets another manager lead; needs the bus and the timer. A second call does nothing.
  void hand_over();
  /// Gives up the lead and closes the journal, which makes no callbacks afterwards. A second call
  /// does nothing.
  void close();

 private:
  LeagueStore(const ProgramOptions& options, events::LeagueSettings settings)
      : options_(options), settings_(std::move(settings)) {}

  [[nodiscard]] core::Result<void> open_all(const TurnDependencies& turn,
                                            journal::SqliteJournalOptions journal_options);
  [[nodiscard]] core::Result<void> open_journal(const TurnDependencies& turn,
                                                journal::SqliteJournalOptions journal_options);
  [[nodiscard]] core::Result<void> take_turn(const TurnDependencies& turn);
  [[nodiscard]] core::Result<void> lock_log(const core::LeagueId& league);
  [[nodiscard]] core::Result<void> read_journal();
  [[nodiscard]] core::Result<void> open_keys(core::RandomSource& random);
  [[nodiscard]] files::EvidencePaths places() const;

  const ProgramOptions& options_;
  events::LeagueSettings settings_;
  std::unique_ptr<journal::SqliteJournal> sqlite_;  ///< null for an ephemeral league
  std::unique_ptr<journal::Journal> discarding_;  ///< null for any other
  std::unique_ptr<Leadership> leadership_;
  bool has_turn_ = true;
  bool is_new_ = true;
  std::optional<journal::LockFile> log_lock_;
  std::unique_ptr<admission::TokenIssuer> token_issuer_;
  core::AuthToken operator_key_;
  core::AuthToken referee_key_;
};

}  // namespace league::league_manager
