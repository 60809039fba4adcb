#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/draft_file.h"
#include "common/core/ids.h"
#include "common/core/timestamp.h"

namespace league::referee::files {

/// The players and the referee of one attempt at a match.
struct MatchRecordHead {
  core::LeagueId league_id{};
  std::string league_key{};  ///< the league's identity; may be empty
  int round_id = 0;
  core::MatchId match_id{};
  std::string game_type{};
  int attempt = 1;
  std::string referee_id{};
  std::string player_a_id{};
  std::string player_b_id{};
  std::string draw_commitment{};  ///< may be empty
};

/// One message of a match, as its referee saw it. No secrets.
struct TranscriptLine {
  core::UtcTimestamp at;
  std::string from;  ///< `REF01`, `P01`, `league_manager`
  std::string to;
  std::string message_type;  ///< for a missing answer, the type of the awaited one
  std::optional<bool> accept{};  ///< of a GAME_JOIN_ACK
  std::string choice_commitment{};  ///< of a GAME_JOIN_ACK
  std::string parity_choice{};  ///< of a CHOOSE_PARITY_RESPONSE
  std::string choice_nonce{};  ///< of a CHOOSE_PARITY_RESPONSE
  std::string error_code{};  ///< why there is no usable answer
  std::string error{};  ///< the same, for people
};

/// The content of the file `matches/LEAGUE/MATCH.json` of the data directory: life cycle,
/// transcript and result of one attempt at a match. Choices, commitments, nonces and the result are
/// shown only in the state FINISHED: until then the result is not accepted, and another attempt may
/// need them to stay secret. docs/files.md describes it. Thread-safe.
class MatchRecord {
 public:
  explicit MatchRecord(MatchRecordHead head, std::string_view made_by = "referee");

  /// Changes the state of the match; does nothing if it has that state already.
  bool enter(std::string_view state, core::UtcTimestamp at);
  void add(TranscriptLine line);
  /// `json` is the `result` of MATCH_RESULT_REPORT, as text; shown when the match is finished.
  void set_result(std::string json);
  [[nodiscard]] bool has_transcript() const;
  /// With what `json` may not show yet.
  [[nodiscard]] std::vector<TranscriptLine> transcript() const;
  /// Sorts the transcript by time.
  void sort_transcript();
  [[nodiscard]] const MatchRecordHead& head() const { return head_; }
  [[nodiscard]] std::string json() const;

 private:
  struct Stage {
    std::string state;
    core::UtcTimestamp at;
  };

  const MatchRecordHead head_;
  const std::string made_by_;
  mutable std::mutex mutex_;
  std::vector<Stage> lifecycle_;
  std::vector<TranscriptLine> transcript_;
  std::string result_ = "null";
};

/// `DATA/matches/LEAGUE/MATCH.json`; fails with kInvalidFieldValue if an id is not a safe file
/// name.
[[nodiscard]] core::Result<std::filesystem::path> match_file(const std::filesystem::path& data,
                                                             const core::LeagueId& league,
                                                             const core::MatchId& match);

/// `DATA/matches/LEAGUE/REFEREE.jsonl`, the file with the matches of a referee while they are not
/// in files of their own; fails with kInvalidFieldValue if an id, the match's included, is not a
/// safe file name.
[[nodiscard]] core::Result<std::filesystem::path> match_lines_file(
    const std::filesystem::path& data, const MatchRecordHead& head);

/// Whether `file` is of a later attempt than `attempt`, so that another referee has the match.
[[nodiscard]] bool has_later_attempt(const std::filesystem::path& file, int attempt);

}  // namespace league::referee::files
