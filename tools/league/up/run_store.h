#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/journal/lock_file.h"
#include "tools/league/up/league_plan.h"
#include "tools/league/up/run_directory.h"

namespace league::transport::link {
class StopSignal;
}

namespace league::tools {

/// The options of a command line and which of them were given (`--players`).
struct GivenOptions {
  UpOptions options;
  std::set<std::string> names;
};

/// The options for continuing a league that was begun with `kept`: those about the machine
/// (`--port`, `--bind`, the limits, ...) are taken from `given`, all others from `kept`. Fails with
/// the name of the first option that contradicts the league.
[[nodiscard]] core::Result<UpOptions> continued_options(const UpOptions& kept,
                                                        const GivenOptions& given);

/// Stores the options of `league up` in the league's data directory (`league_up.json`), so that the
/// directory is enough to continue the league, even after kill -9 at any moment. Only one process
/// can use a directory at a time; the programs that it starts hold the lock, too, so that a league
/// is never continued while programs of its earlier run still exist. Source: docs/files.md. Not
/// thread-safe.
class RunStore {
 public:
  /// Creates the directories, or finds those of a league (`DIR` or `DIR/data`), and waits for
  /// programs of an earlier run. Fails if the directory contains a league that `league up` did not
  /// begin, if the options contradict the league, if another process uses it, or at a signal
  /// (kShuttingDown).
  [[nodiscard]] static core::Result<RunStore> open(GivenOptions given, const core::Clock& clock,
                                                   transport::link::StopSignal& stop);

  /// The options to play with.
  [[nodiscard]] const UpOptions& options() const { return options_; }
  [[nodiscard]] RunDirectories directories() const { return {options_.data, options_.logs}; }
  /// Whether the directory already contains a league, which may be finished.
  [[nodiscard]] bool is_continued() const { return is_continued_; }
  /// The result of the league (result_json) as a JSON text, once it was printed; empty before that.
  [[nodiscard]] const std::string& result() const { return result_; }
  /// The port of the league's own broker; 0: none was started yet.
  [[nodiscard]] int broker_port() const { return broker_port_; }

  /// Stores the league's id and its manager's port (0: none).
  [[nodiscard]] core::Result<void> note_manager(const std::string& league_id, int port);
  [[nodiscard]] core::Result<void> note_broker(int port);
  [[nodiscard]] core::Result<void> note_sockets(const std::filesystem::path& directory);
  [[nodiscard]] core::Result<void> note_result(const std::string& result);
  /// The registration nonce of the player with this name, the same in every run.
  [[nodiscard]] core::Result<std::string> nonce_of(const std::string& display_name,
                                                   core::RandomSource& random);

 private:
  RunStore(UpOptions options, journal::LockFile lock)
      : options_(std::move(options)), lock_(std::move(lock)) {}
  [[nodiscard]] core::Result<std::optional<UpOptions>> read();
  [[nodiscard]] core::Result<void> take(const GivenOptions& given);
  [[nodiscard]] core::Result<void> write() const;

  UpOptions options_;
  journal::LockFile lock_;
  bool is_continued_ = false;
  int broker_port_ = 0;
  std::map<std::string, std::string> nonces_;
  std::string result_;
};

/// The command that continues the league of `data`, to be copied into a shell.
[[nodiscard]] std::string continuing_command(const std::filesystem::path& data);

}  // namespace league::tools
