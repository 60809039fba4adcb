#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/core/clock.h"
#include "common/journal/lock_file.h"
#include "common/journal/sqlite_journal.h"
#include "league_manager/admission/token_issuer.h"
#include "league_manager/files/journal_evidence.h"
#include "league_manager/manager_turn.h"
#include "league_manager/program.h"

namespace league::league_manager {

/// What a manager keeps of its league: the journal, the keys and the settings, new or as they were
/// left. Its locks keep other managers away. Not thread-safe.
class LeagueStore {
 public:
  /// Opens the data directory, and waits for this manager's turn where there are several. The
  /// journal comes first: its lock keeps a second manager out. All that is given outlives the
  /// store.
  [[nodiscard]] static core::Result<std::unique_ptr<LeagueStore>> open(
      const ProgramOptions& options, const agent::Settings& limits, const TurnDependencies& turn,
      journal::SqliteJournalOptions journal_options);
  /// Closes.
  ~LeagueStore() { close(); }
  LeagueStore(const LeagueStore&) = delete;
  LeagueStore& operator=(const LeagueStore&) = delete;

  /// False: the manager was asked to stop before it led. Then there is nothing else here.
  [[nodiscard]] bool has_turn() const { return has_turn_; }
  /// Whether the league begins with this process.
  [[nodiscard]] bool is_new() const { return is_new_; }
  /// False: nothing of the league survives the process.
  [[nodiscard]] bool is_kept() const { return sqlite_ != nullptr; }
  [[nodiscard]] const LeagueSettings& settings() const { return settings_; }
  [[nodiscard]] journal::Journal& journal() const;
  /// Null where nobody can take this manager's place.
  [[nodiscard]] Leadership* leadership() const { return leadership_.get(); }
  /// What the journal lacks, and the league goes on without.
  [[nodiscard]] const std::optional<std::string>& given_up() const { return given_up_; }
  [[nodiscard]] const TokenIssuer& token_issuer() const { return *token_issuer_; }
  [[nodiscard]] const core::AuthToken& operator_key() const { return operator_key_; }
  [[nodiscard]] const core::AuthToken& referee_key() const { return referee_key_; }

  /// Lets another manager lead; needs the bus and the timer. A second call does nothing.
  void hand_over();
  /// Hands over and closes the journal, which calls nobody back afterwards. A second call does
  /// nothing.
  void close();

 private:
  LeagueStore(const ProgramOptions& options, LeagueSettings settings)
      : options_(options), settings_(std::move(settings)) {}

  [[nodiscard]] core::Result<void> open_all(const TurnDependencies& turn,
                                            journal::SqliteJournalOptions journal_options);
  [[nodiscard]] core::Result<void> open_journal(const TurnDependencies& turn,
                                                journal::SqliteJournalOptions journal_options);
  [[nodiscard]] core::Result<void> take_turn(const TurnDependencies& turn);
  [[nodiscard]] core::Result<void> lock_log(const core::LeagueId& league);
  [[nodiscard]] core::Result<void> read_journal(const core::Clock& clock);
  [[nodiscard]] core::Result<void> open_keys(core::RandomSource& random);
  [[nodiscard]] EvidencePlaces places() const;

  const ProgramOptions& options_;
  LeagueSettings settings_;
  std::unique_ptr<journal::SqliteJournal> sqlite_;  ///< null for an ephemeral league
  std::unique_ptr<journal::Journal> discarding_;  ///< null for any other
  std::unique_ptr<Leadership> leadership_;
  bool has_turn_ = true;
  bool is_new_ = true;
  std::optional<std::string> given_up_;
  std::optional<journal::LockFile> log_lock_;
  std::unique_ptr<TokenIssuer> token_issuer_;
  core::AuthToken operator_key_;
  core::AuthToken referee_key_;
};

}  // namespace league::league_manager
