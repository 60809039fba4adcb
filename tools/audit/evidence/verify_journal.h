#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/core/result.h"
#include "game/outcome.h"

namespace league::tools {

/// How a match ended, as the manager keeps it.
struct JournalResult {
  std::string match_id;
  game::Outcome outcome = game::Outcome::kNoWinner;
  bool by_manager = false;  ///< ended without a report, ...
  std::string reason;  ///< ... for this reason; of a reported one the technical loss's, if any
  std::uint64_t entry = 0;  ///< of the journal
  std::int64_t attempt = 0;  ///< that was reported; 0: not known
  std::optional<int> drawn_number = {};
};

/// The operator went on from an older journal (`league_manager --accept-loss`).
struct AcceptedLoss {
  std::int64_t at_us = 0;
  std::string text;  ///< what the journal lacked
  std::size_t results = 0;  ///< so many of `JournalLeague::results` stood in the journal then
  std::uint64_t entry = 0;  ///< of the journal
};

/// The operator has made a match void (protocol §12).
struct VoidedMatch {
  std::string match_id;
  std::string replay;  ///< as what it is played again; empty: it is not
  std::string by;
  std::string reason;
  std::uint64_t entry = 0;  ///< of the journal
};

/// Who has made the match void, why, and as what it is played again.
[[nodiscard]] std::string words_of(const VoidedMatch& match);

/// What the manager keeps of a league beside its log.
struct JournalLeague {
  std::filesystem::path file;  ///< where it stands
  std::vector<JournalResult> results;  ///< in the order of their ends
  std::map<std::string, std::string> seeds;  ///< in hexadecimal digits, by match
  std::map<std::string, std::string> log_keys;  ///< that the agents registered, by `player:P01`
  std::vector<AcceptedLoss> given_up;  ///< in their order
  std::vector<VoidedMatch> voided;
};

/// Reads the journal in `data`; or else `results.json`, which a bundle has in its place. Nothing if
/// there is neither. Fails if what is there is damaged.
[[nodiscard]] core::Result<std::optional<JournalLeague>> read_kept_league(
    const std::filesystem::path& data);

/// What the journal in `data` holds that nobody else may know: the nonces of tokens, and the seeds
/// of matches that have no result. Nothing without a journal.
[[nodiscard]] core::Result<std::vector<std::string>> kept_secrets(
    const std::filesystem::path& data);

/// `results.json` of a bundle: the results, the seeds of the matches that have one and of no
/// others, what was given up, without the names of the machine's directories, and what is void.
[[nodiscard]] nlohmann::ordered_json results_json(const JournalLeague& league);

}  // namespace league::tools
