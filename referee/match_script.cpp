#include "referee/match_script.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "referee/rules/rules_registry.h"

namespace league::referee::testing {

namespace {

const rules::RulesModule& even_odd() { return **rules::find_rules("even_odd"); }

constexpr auto kUnfairDelay = std::chrono::seconds(2);  // more than 5 % of either limit

char letter(Slot slot) { return slot == Slot::kA ? 'A' : 'B'; }

std::string in_ms(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

struct LineOf {
  std::ostringstream& out;
  void operator()(const CallPlayer& call) {
    out << letter(call.slot) << " " << call_name(call.call) << " attempt " << call.attempt
        << " within " << in_ms(call.time_limit);
  }
  void operator()(const SendGameError& notice) {
    out << letter(notice.slot) << " GAME_ERROR " << core::wire_code(notice.error.code) << " "
        << notice.retry_count << "/" << notice.max_retries << " " << notice.action_required;
    if (notice.next_retry_in) out << " in " << in_ms(*notice.next_retry_in);
  }
  void operator()(const StartTimer& timer) { out << "timer " << in_ms(timer.delay); }
  void operator()(const ReportResult& report) {
    out << "report " << report.attempt << ": " << to_line(report.result);
  }
  void operator()(const AnnounceGameOver& over) { out << "GAME_OVER " << to_line(over.result); }
  void operator()(const Finished& finished) {
    constexpr const char* kNames[] = {"accepted", "refused", "unreported", "abandoned"};
    out << "finished " << kNames[static_cast<int>(finished.ending)];
    if (finished.error) out << " " << core::wire_code(finished.error->code);
  }
};

}  // namespace

std::string to_line(const Effect& effect) {
  std::ostringstream out;
  std::visit(LineOf{out}, effect);
  return out.str();
}

std::string to_line(const MatchResult& result) {
  std::ostringstream out;
  out << status_name(result.status) << " "
      << (result.winner ? std::string(1, letter(*result.winner)) : "-") << " "
      << result.score[Slot::kA] << "-" << result.score[Slot::kB] << " "
      << termination_name(result.termination);
  return out.str();
}

MatchPlan MatchScript::default_plan() {
  MatchPlan plan;
  plan.match_id = core::MatchId(kMatchId);
  plan.seats[Slot::kA].player = core::PlayerId("P01");
  plan.seats[Slot::kB].player = core::PlayerId("P02");
  return plan;
}

MatchScript::MatchScript(MatchPlan plan) : match_(even_odd(), std::move(plan)) {}
MatchScript::MatchScript() : MatchScript(default_plan()) {}

MatchScript& MatchScript::play(std::string_view words) {
  if (!has_started_) take(match_.start(now_));
  has_started_ = true;
  std::istringstream in{std::string(words)};
  for (std::string word; in >> word;) play_word(word);
  return *this;
}

void MatchScript::play_word(const std::string& word) {
  if (word[0] == '+') {
    now_ += std::chrono::milliseconds(std::stoi(word.substr(1)));
  } else if (word == "tick") {
    fire_next_timer();
  } else if (word == "ok") {
    take(match_.on_report_accepted());
  } else if (word.starts_with("A:") || word.starts_with("B:")) {
    play_player(word[0] == 'A' ? Slot::kA : Slot::kB, word.substr(2));
  } else if (const auto code = core::parse_error_code(word)) {
    take(match_.on_report_failed({*code, "scripted", ""}));
  } else {
    throw std::invalid_argument("no such word: " + word);
  }
}

void MatchScript::play_player(Slot slot, const std::string& word) {
  const CallPlayer call = awaited_[slot];
  if (call.id == 0) throw std::logic_error("nobody asked for " + word);
  awaited_[slot] = {};
  const auto fail = [&](core::ErrorCode code) {
    take(match_.on_failure(call.id, {code, "scripted", ""}, now_));
  };
  const auto reply = [&](const Reply& answer) { take(match_.on_reply(call.id, answer, now_)); };
  const bool joining = call.call == Call::kInvitation;
  if (word == "timeout") {
    now_ = std::max(now_, call.deadline);
    fail(core::ErrorCode::kTimeout);
  } else if (word == "wronged") {
    now_ = std::max(now_, call.deadline);
    CallEvidence evidence{.sent_at = call.deadline - call.time_limit,
                          .own = {.scheduling = kUnfairDelay, .canary = {}}};
    take(match_.on_failure(call.id, {core::ErrorCode::kTimeout, "scripted", ""}, now_, evidence));
  } else if (word == "refused") {
    fail(core::ErrorCode::kConnectionError);
  } else if (word == "garbage") {
    fail(core::ErrorCode::kInvalidReply);
  } else if (word == "token") {
    fail(core::ErrorCode::kAuthTokenInvalid);
  } else if (word == "wrong") {
    reply(joining ? Reply(JoinAnswer{"R9M9", true}) : Reply(ChoiceAnswer{"R9M9", "even"}));
  } else if (word == "huh") {
    reply(joining ? Reply(ChoiceAnswer{kMatchId, "even"}) : Reply(JoinAnswer{kMatchId, true}));
  } else if (joining) {
    reply(JoinAnswer{kMatchId, word != "decline"});
  } else {
    reply(ChoiceAnswer{kMatchId, word});
  }
}

void MatchScript::fire_next_timer() {
  const auto next = std::ranges::min_element(timers_, {}, &Timer::due);
  if (next == timers_.end()) throw std::logic_error("no timer waits");
  const Timer timer = *next;
  timers_.erase(next);
  now_ = std::max(now_, timer.due);
  take(match_.on_timer(timer.id, now_));
}

void MatchScript::take(const Effects& effects) {
  for (const Effect& effect : effects) {
    effects_.push_back(effect);
    if (const auto* call = std::get_if<CallPlayer>(&effect)) awaited_[call->slot] = *call;
    if (const auto* timer = std::get_if<StartTimer>(&effect)) {
      timers_.push_back({timer->id, now_ + timer->delay});
    }
  }
}

std::vector<std::string> MatchScript::take_lines() {
  std::vector<std::string> lines;
  for (; lines_taken_ < effects_.size(); ++lines_taken_)
    lines.push_back(to_line(effects_[lines_taken_]));
  return lines;
}

const MatchResult& MatchScript::result() const {
  for (const Effect& effect : effects_) {
    if (const auto* report = std::get_if<ReportResult>(&effect)) return report->result;
  }
  throw std::logic_error("the match is not decided");
}

std::string MatchScript::result_line() const {
  const bool is_decided = std::ranges::any_of(
      effects_, [](const Effect& effect) { return std::holds_alternative<ReportResult>(effect); });
  return is_decided ? to_line(result()) : "none";
}

}  // namespace league::referee::testing
