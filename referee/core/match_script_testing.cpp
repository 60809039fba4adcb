#include "referee/core/match_script_testing.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "game/games.h"

namespace league::referee::testing {

namespace {

const game::Definition& even_odd() { return *game::even_odd(); }

constexpr auto kUnfairDelay = std::chrono::seconds(2);  // more than 5 % of either limit

char letter(Side side) { return side == Side::kA ? 'A' : 'B'; }

std::string in_ms(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

struct LineOf {
  std::ostringstream& out;
  void operator()(const CallPlayer& call) {
    out << letter(call.side) << " " << call_name(call.call) << " attempt " << call.attempt
        << " within " << in_ms(call.time_limit);
  }
  void operator()(const SendGameError& notice) {
    out << letter(notice.side) << " GAME_ERROR " << core::wire_code(notice.error.code) << " "
        << notice.retry_count << "/" << notice.max_retries << " " << notice.action_required;
    if (notice.next_retry_in) out << " in " << in_ms(*notice.next_retry_in);
  }
  void operator()(const StartTimer& timer) { out << "timer " << in_ms(timer.delay); }
  void operator()(const ReportResult& report) {
    out << "report " << report.attempt << ": " << to_line(report.match);
  }
  void operator()(const AnnounceGameOver& over) { out << "GAME_OVER " << to_line(over.match); }
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

std::string to_line(const RefereedMatch& match) {
  const auto winner = game::winner_of(match.result.outcome);
  const auto points = game::points_of(even_odd(), match.result);
  std::ostringstream out;
  out << status_name(match.result) << " " << (winner ? std::string(1, letter(*winner)) : "-") << " "
      << points[Side::kA] << "-" << points[Side::kB] << " "
      << termination_name(match.termination());
  return out.str();
}

MatchPlan MatchScript::default_plan() {
  MatchPlan plan;
  plan.match_id = core::MatchId(kMatchId);
  plan.draw_commitment = game::draw_commitment(plan.draw_seed, kMatchId);
  plan.seats[Side::kA].player = core::PlayerId("P01");
  plan.seats[Side::kB].player = core::PlayerId("P02");
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
    play_player(word[0] == 'A' ? Side::kA : Side::kB, word.substr(2));
  } else if (const auto code = core::parse_error_code(word)) {
    take(match_.on_report_failed({*code, "scripted", ""}));
  } else {
    throw std::invalid_argument("no such word: " + word);
  }
}

void MatchScript::play_player(Side side, const std::string& word) {
  const CallPlayer call = awaited_[side];
  if (call.id == 0) throw std::logic_error("nobody asked for " + word);
  awaited_[side] = {};
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
  } else {
    reply(answer_of(side, joining, word));
  }
}

Reply MatchScript::answer_of(Side side, bool is_join, const std::string& word) {
  std::istringstream in(word);
  std::vector<std::string> parts;
  for (std::string part; std::getline(in, part, '-');) parts.push_back(part);
  const bool is_bound = parts.size() > 1 && parts[0] == (is_join ? "commit" : "open");
  const std::string last = parts.empty() ? "" : parts.back();
  const int which = last == "2" ? 2 : 1;
  if (is_join) {
    JoinAnswer answer{kMatchId, word != "decline"};
    if (is_bound) answer.choice_commitment = commitment(side, parts[1], which);
    if (is_bound && last == "junk") answer.choice_commitment = "junk";
    return answer;
  }
  ChoiceAnswer answer{kMatchId, is_bound ? parts[1] : word};
  if (is_bound) answer.choice_nonce = last == "junk" ? "junk" : nonce(side, which);
  return answer;
}

std::string MatchScript::nonce(Side side, int which) {
  const char of_a = which == 1 ? 'a' : 'c';
  return std::string(64, static_cast<char>(side == Side::kA ? of_a : of_a + 1));
}

std::string MatchScript::commitment(Side side, std::string_view choice, int which) {
  const MatchPlan plan = default_plan();
  return game::choice_commitment({.draw_commitment = *plan.draw_commitment,
                                  .match_id = kMatchId,
                                  .player_id = plan.seats[side].player.str(),
                                  .choice = choice,
                                  .nonce = nonce(side, which)});
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
    if (const auto* call = std::get_if<CallPlayer>(&effect)) awaited_[call->side] = *call;
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

const RefereedMatch& MatchScript::played() const {
  for (const Effect& effect : effects_) {
    if (const auto* report = std::get_if<ReportResult>(&effect)) return report->match;
  }
  throw std::logic_error("the match is not decided");
}

std::string MatchScript::result_line() const {
  const bool is_decided = std::ranges::any_of(
      effects_, [](const Effect& effect) { return std::holds_alternative<ReportResult>(effect); });
  return is_decided ? to_line(played()) : "none";
}

}  // namespace league::referee::testing
