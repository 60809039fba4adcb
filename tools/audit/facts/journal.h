#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/audit/record/log_chain.h"
#include "common/core/crypto.h"
#include "common/core/result.h"
#include "game/games.h"

namespace league::tools::auditor {

/// What the manager found of one player's receipts in a report.
struct JournalReceipts {
  std::string state;  ///< `valid`, `absent`, `invalid`, `not_declared`
  std::string join;  ///< empty: none
  std::string choice;
};

/// Players that the manager runs, by their ids (`P01`); results of one time share one set.
using HostedPlayers = std::shared_ptr<std::set<std::string>>;

/// The result of a match in the manager's journal.
struct JournalResult {
  std::string match_id;
  game::Outcome outcome = game::Outcome::kNoWinner;
  bool by_manager = false;  ///< ended without a report, ...
  std::string reason;  ///< ... for this reason; for a reported one the reason of the technical
                       ///< loss, if any
  std::uint64_t entry = 0;  ///< of the journal
  std::int64_t attempt = 0;  ///< the reported attempt; 0: unknown
  std::optional<int> drawn_number = {};
  /// What the manager found of the players' receipts, player A first; empty: it says nothing.
  std::vector<JournalReceipts> receipts = {};
  std::string fairness = {};  ///< as the manager calls it; empty: not at all
  game::PerSide<int> points = {};
  HostedPlayers hosted = nullptr;  ///< when the match ended; null: as JournalLeague has it
};

/// The manager has asked players about a report before it decided it.
struct JournalQuestion {
  std::string match_id;
  std::int64_t attempt = 0;
  std::set<std::string> players;  ///< `P01`
};

/// The end of an agent's log, as the manager has recorded it.
struct JournalHead {
  std::string agent;  ///< `player:P01`
  audit::record::LogHead head;
  std::uint64_t entry = 0;  ///< of the journal
};

/// The operator let a manager lead that may lack entries (`league admin lead --lose-after`), or,
/// with an earlier version, continued with an older journal.
struct AcceptedLoss {
  std::int64_t at_us = 0;
  std::string text;  ///< what the journal lacked
  std::size_t results = 0;  ///< the number of `JournalLeague::results` that were in the journal
                            ///< then
  std::uint64_t entry = 0;  ///< of the journal
};

/// Where the journal may have lost entries: a manager took over from another one, or the operator
/// continued with an older journal.
struct JournalCut {
  std::int64_t at_us = 0;
  std::uint64_t entry = 0;  ///< from here on; those before it are still the same
};

/// The operator has declared a match void (protocol §12).
struct VoidedMatch {
  std::string match_id;
  std::string replay;  ///< the match that replays it; empty: none
  std::string by;
  std::string reason;
  std::uint64_t entry = 0;  ///< of the journal
};

/// A sentence that says who declared the match void, why, and which match replays it.
[[nodiscard]] std::string words_of(const VoidedMatch& match);

/// What the manager stores about a league besides its conversation log.
struct JournalLeague {
  std::filesystem::path file;  ///< the file from which it was read
  std::vector<JournalResult> results;  ///< in the order in which the matches ended
  std::map<std::string, std::string> seeds;  ///< in hexadecimal digits, by match
  std::map<std::string, std::string> log_keys;  ///< public keys that the agents registered, by
                                                ///< `player:P01`
  std::vector<AcceptedLoss> given_up;  ///< in order
  std::vector<VoidedMatch> voided;
  std::string league_key;  ///< empty: unknown
  game::SharedDefinition game = game::even_odd();  ///< older journals name none
  std::optional<int> meetings;  ///< of each pair; nothing: once, in a league of an older manager
  bool files_keyed = false;  ///< the published files of the league name its key
  std::set<std::string> with_receipts;  ///< players that declared receipts: `P01`
  HostedPlayers hosted = std::make_shared<std::set<std::string>>();  ///< by the latest profiles
  /// Players whose seat somebody else had before, each with the time since which it is theirs.
  std::map<std::string, std::int64_t> seated_anew_us;  ///< by `player:P01`
  std::vector<JournalQuestion> questions;
  std::vector<JournalHead> heads;
  std::vector<core::Digest> digests;  ///< up to each entry, in order; empty for a bundle
  std::vector<JournalCut> cuts;
};

/// Reads the journal in `data`; otherwise `results.json`, which a bundle has instead. Nothing if
/// there is neither. Fails if the file is damaged.
[[nodiscard]] core::Result<std::optional<JournalLeague>> read_kept_league(
    const std::filesystem::path& data);

/// The secrets in the journal in `data`: the nonces of tokens, and the seeds of matches that have
/// no result. Empty if there is no journal.
[[nodiscard]] core::Result<std::vector<std::string>> kept_secrets(
    const std::filesystem::path& data);

/// `results.json` of a bundle: the results, the seeds of the matches that have one and of no
/// others, what was given up, without the names of the machine's directories, and what is void.
[[nodiscard]] nlohmann::ordered_json results_json(const JournalLeague& league);

}  // namespace league::tools::auditor
