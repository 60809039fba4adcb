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

namespace league::transport {
class StopSignal;
}

namespace league::tools {

/// The options of a command line and which of them were given (`--players`).
struct GivenOptions {
  UpOptions options;
  std::set<std::string> names;
};

/// The options with which the league that was begun with `kept` goes on: those of the machine
/// (`--port`, `--bind`, `--limits`, ...) as they are given now, all others as they were. Fails with
/// the name of the first option that contradicts the league.
[[nodiscard]] core::Result<UpOptions> continued_options(const UpOptions& kept,
                                                        const GivenOptions& given);

/// Keeps what `league up` was told in the league's data directory, `league_up.json`, so that the
/// league goes on with nothing but the directory; also after kill -9 at any moment. One process has
/// a directory at a time: the programs that it starts hold the lock, too, so who continues the
/// league never meets one that has been orphaned. Source: docs/files.md. Not thread-safe.
class RunStore {
 public:
  /// Makes the directories, or finds those of a league (`DIR` or `DIR/data`), and waits for what is
  /// left of an earlier run in them. Fails when the directory holds a league that `league up` did
  /// not begin, when its league is contradicted, when somebody else has it, or (kShuttingDown)
  /// at a signal.
  [[nodiscard]] static core::Result<RunStore> open(GivenOptions given, const core::Clock& clock,
                                                   transport::StopSignal& stop);

  /// What to play with; its `limits_file` is the league's own copy.
  [[nodiscard]] const UpOptions& options() const { return options_; }
  [[nodiscard]] RunDirectories directories() const { return {options_.data, options_.logs}; }
  /// Whether there is a league in the directory already, begun and perhaps finished.
  [[nodiscard]] bool is_continued() const { return is_continued_; }
  /// The result of the league (result_json) as a JSON text, once it was told; empty before.
  [[nodiscard]] const std::string& result() const { return result_; }
  /// Of the league's own broker; 0 where none was started yet.
  [[nodiscard]] int broker_port() const { return broker_port_; }

  /// The league has this id, and its manager listens at this port (0: at none).
  [[nodiscard]] core::Result<void> note_manager(const std::string& league_id, int port);
  [[nodiscard]] core::Result<void> note_broker(int port);
  [[nodiscard]] core::Result<void> note_sockets(const std::filesystem::path& directory);
  [[nodiscard]] core::Result<void> note_result(const std::string& result);
  /// By what the player of this name registers, the same in every run.
  [[nodiscard]] core::Result<std::string> nonce_of(const std::string& display_name,
                                                   core::RandomSource& random);

 private:
  RunStore(UpOptions options, journal::LockFile lock)
      : options_(std::move(options)), lock_(std::move(lock)) {}
  [[nodiscard]] core::Result<std::optional<UpOptions>> read();
  [[nodiscard]] core::Result<void> take(const GivenOptions& given);
  [[nodiscard]] core::Result<void> keep_limits(const std::string& file);
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
