#include "tools/audit/rules/accepted_losses.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/core/timestamp.h"
#include "game/draw.h"
#include "tools/audit/facts/reading.h"

namespace league::tools::auditor {
namespace {

constexpr const char* kManager = "league_manager";

/// Removes the facts whose loss one entry of the journal accepts. An old play differs from the one
/// that counts in its draw commitment, if the round was begun again with new seeds; in its
/// conversation, if that was reported only afterwards; and in its time, which is the weakest
/// evidence in logs of other machines.
class FactRemover {
 public:
  /// `kept`: the matches that had a result in the journal at `at_us`.
  FactRemover(std::vector<LeagueLog>& logs, std::int64_t at_us, const std::set<std::string>& kept,
              std::set<std::string>& forgotten)
      : logs_(logs), at_us_(at_us), kept_(kept), forgotten_(forgotten) {}

  void run(bool has_later_results) {
    learn_promises();
    learn_reports();
    for (LeagueLog& log : logs_) {
      forget_words(log.facts);
      forget_calls(log.facts);
      forget_conversations(log.facts);
    }
    if (results_.empty() && !has_later_results) return;
    for (LeagueLog& log : logs_)
      std::erase_if(log.facts.finals, [&](const FinalTable& one) { return is_old(one.time_us); });
  }

  /// The accepted results that no longer count: match, and who won it.
  [[nodiscard]] const std::map<std::string, std::string>& results() const { return results_; }

 private:
  using Attempt = std::pair<std::string, std::string>;  ///< match, conversation

  [[nodiscard]] bool is_old(std::int64_t time_us) const { return time_us < at_us_; }
  [[nodiscard]] bool is_kept(const std::string& match) const { return kept_.contains(match); }

  /// Finds out which draw commitments are from before and which from after the loss. The manager's
  /// own log takes precedence for their times.
  void learn_promises() {
    std::map<std::string, std::map<std::string, std::int64_t>> first;
    for (bool of_manager : {true, false}) {
      std::map<std::string, std::map<std::string, std::int64_t>> told;
      for (const LeagueLog& log : logs_) {
        if (log.names.contains(kManager) != of_manager) continue;
        for (const Described& one : log.facts.matches) {
          if (one.sender != kManager || one.commitment.empty() || is_kept(one.match_id)) continue;
          auto [known, is_new] = told[one.match_id].try_emplace(one.commitment, one.time_us);
          if (!is_new) known->second = std::min(known->second, one.time_us);
        }
      }
      for (auto& [match, promises] : told) first[match].merge(promises);
    }
    for (const auto& [match, promises] : first) {
      for (const auto& [commitment, time_us] : promises)
        (is_old(time_us) ? old_promises_ : new_promises_)[match].insert(commitment);
    }
    // Without a new commitment the round is still in the journal, and its commitments stay valid.
    std::erase_if(old_promises_,
                  [&](const auto& one) { return !new_promises_.contains(one.first); });
  }

  void learn_reports() {
    std::map<std::string, std::vector<const Assignment*>> given;
    for (const LeagueLog& log : logs_) {
      for (const Assignment& one : log.facts.assignments) given[one.match_id].push_back(&one);
    }
    for (const LeagueLog& log : logs_) {
      for (const AcceptedReport& report : log.facts.reports) {
        if (is_kept(report.match_id)) continue;
        auto& attempts = is_old(report.time_us) ? reported_before_ : reported_since_;
        attempts.insert({report.match_id, report.conversation});
        const Assignment* last = nullptr;  // used too, since a referee may report in a conversation
                                           // of its own
        for (const Assignment* one : given[report.match_id]) {
          if (one->time_us <= report.time_us) last = one;
        }
        if (last != nullptr) attempts.insert({report.match_id, last->conversation});
      }
    }
  }

  [[nodiscard]] bool is_promise(const std::map<std::string, std::set<std::string>>& promises,
                                const std::string& match, const std::string& commitment) const {
    auto known = promises.find(match);
    return known != promises.end() && known->second.contains(commitment);
  }
  [[nodiscard]] bool is_replaced(const std::string& match, const std::string& commitment) const {
    return is_promise(old_promises_, match, commitment);
  }

  /// Removes facts from single messages: reports, disputes, assignments, descriptions, GAME_OVER.
  void forget_words(LogFacts& facts) {
    for (const AcceptedReport& one : facts.reports) {
      if (is_kept(one.match_id) || !is_old(one.time_us)) continue;
      results_.try_emplace(one.match_id, text_at(one.result, "winner"));
      forgotten_.insert(one.match_id);
    }
    auto is_gone = [&](const auto& one) { return !is_kept(one.match_id) && is_old(one.time_us); };
    std::erase_if(facts.reports, is_gone);
    std::erase_if(facts.disputes, is_gone);
    std::erase_if(facts.assignments, is_gone);
    std::erase_if(facts.matches, [&](const Described& one) {
      return is_replaced(one.match_id, one.commitment) || (one.sender != kManager && is_gone(one));
    });
    std::erase_if(facts.ends, [&](const ReceivedGameOver& one) {
      auto seed = game::parse_seed(one.seed);
      bool is_of_old =
          is_gone(one) ||
          (seed && is_replaced(one.match_id, game::draw_commitment(*seed, one.match_id)));
      if (is_of_old) forgotten_.insert(one.match_id);
      return is_of_old;
    });
  }

  void forget_calls(LogFacts& facts) {
    std::set<std::pair<std::string, std::string>> invited_since;  // conversation, player
    for (const GameCall& call : facts.calls) {
      if (call.is_invitation && !is_old(call.time_us) &&
          !is_replaced(call.match_id, call.draw_commitment))
        invited_since.insert({call.conversation, call.player});
    }
    std::erase_if(facts.calls, [&](const GameCall& call) {
      if (is_kept(call.match_id)) return false;
      bool is_gone = is_replaced(call.match_id, call.draw_commitment);
      if (!is_gone && !is_promise(new_promises_, call.match_id, call.draw_commitment))
        is_gone = is_old(call.time_us) && !goes_on(call, invited_since);
      if (!is_gone) return false;
      forgotten_.insert(call.match_id);
      old_conversations_.insert(call.conversation);
      return true;
    });
  }

  /// Whether an attempt from before the loss continued: a referee that kept running finished it and
  /// reported it to the restarted manager, or this log's clock is behind.
  [[nodiscard]] bool goes_on(
      const GameCall& call,
      const std::set<std::pair<std::string, std::string>>& invited_since) const {
    Attempt attempt{call.match_id, call.conversation};
    return reported_since_.contains(attempt) && !reported_before_.contains(attempt) &&
           !invited_since.contains({call.conversation, call.player});
  }

  /// In conversations that contain old events, keeps only the events after the invitations that
  /// count.
  void forget_conversations(LogFacts& facts) {
    std::map<std::string, std::map<std::string, std::int64_t>> begins;  // by conversation, by peer
    for (const GameCall& call : facts.calls) {
      if (!call.is_invitation || is_kept(call.match_id)) continue;
      for (const std::string& peer : {"player:" + call.player, std::string()}) {
        auto [known, is_new] = begins[call.conversation].try_emplace(peer, call.time_us);
        if (!is_new) known->second = std::min(known->second, call.time_us);
      }
    }
    for (auto& [conversation, messages] : facts.conversations) {
      bool holds_old = old_conversations_.contains(conversation) ||
                       std::ranges::any_of(messages.events,
                                           [&](const auto& one) { return is_old(one.time_us); });
      if (is_kept(messages.match_id) || !holds_old) continue;
      const auto& peers = begins[conversation];
      std::erase_if(messages.events, [&](const MatchEvent& event) {
        auto begin = peers.find(event.peer);
        if (begin == peers.end()) begin = peers.find("");
        return begin == peers.end() || event.time_us < begin->second;
      });
    }
  }

  std::vector<LeagueLog>& logs_;
  const std::int64_t at_us_;
  const std::set<std::string>& kept_;
  std::set<std::string>& forgotten_;
  std::map<std::string, std::set<std::string>> old_promises_;  ///< draw commitments that were
                                                               ///< replaced
  std::map<std::string, std::set<std::string>> new_promises_;
  std::set<Attempt> reported_before_;
  std::set<Attempt> reported_since_;
  std::set<std::string> old_conversations_;  ///< conversations of removed calls
  std::map<std::string, std::string> results_;
};

std::string text_about(const AcceptedLoss& entry,
                       const std::map<std::string, std::string>& results) {
  const core::UtcTimestamp at(
      core::UtcTimestamp::TimePoint(core::UtcTimestamp::TimePoint::duration(entry.at_us)));
  std::string text = "the operator continued with an older journal at " + at.to_log() + " (" +
                     entry.text + "); accepted results that no longer count (" +
                     std::to_string(results.size()) + ")";
  for (const auto& [match, winner] : results) {
    text += match == results.begin()->first ? ": " : ", ";
    text += match + " (" + (winner.empty() ? "nobody" : winner) + " had won)";
  }
  return text;
}

}  // namespace

AcceptedLosses::AcceptedLosses(const JournalLeague* kept) : kept_(kept) {
  if (kept_ == nullptr) return;
  for (const AcceptedLoss& entry : kept_->given_up) {
    auto& decided = decided_.emplace_back();
    for (std::size_t i = 0; i < entry.results; ++i) decided.insert(kept_->results[i].match_id);
  }
}

void AcceptedLosses::forget(std::vector<LeagueLog>& logs, Findings& findings) {
  for (std::size_t i = 0; i < decided_.size(); ++i) {
    const AcceptedLoss& entry = kept_->given_up[i];
    FactRemover forgetting(logs, entry.at_us, decided_[i], forgotten_);
    forgetting.run(entry.results < kept_->results.size());
    std::string file = kept_->file.string();
    findings.incident({&file, entry.entry}, "journal.given_up",
                      text_about(entry, forgetting.results()));
  }
}

bool AcceptedLosses::covers(const std::string& match_id, std::int64_t time_us) const {
  for (std::size_t i = 0; i < decided_.size(); ++i) {
    if (time_us < kept_->given_up[i].at_us && !decided_[i].contains(match_id)) return true;
  }
  return false;
}

}  // namespace league::tools::auditor
