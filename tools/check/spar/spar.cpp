#include "tools/check/spar/spar.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <thread>
#include <variant>

#include "game/registry.h"
#include "tools/check/game_truth.h"

namespace league::tools::check {

using envelope::MessageType;
using nlohmann::json;

namespace {

using Steady = std::chrono::steady_clock;

/// The round of all matches. PlayerBench::settle uses lower rounds, whose invitations a bot may
/// still remember.
constexpr int kRound = 100;

/// An answer that arrived, or a timer that is due.
struct SparEvent {
  referee::CallId call = 0;
  referee::TimerId timer = 0;
  BotReply reply;
  bool is_join = false;
};

std::string told(const BotReply& reply) {
  if (!reply.has_answer()) return reply.exchange.trouble;
  return reply.exchange.received.substr(0, 200);
}

}  // namespace

/// One match in progress. Calls run on threads of their own; their answers arrive as events.
struct Sparring::Course {
  explicit Course(referee::Match the_match) : match(std::move(the_match)) {}

  referee::Match match;
  TestMatch plan;  ///< from player A's view
  SparMatch outcome;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<SparEvent> events;  ///< guarded by mutex
  std::vector<std::pair<Steady::time_point, referee::TimerId>> timers;
  std::vector<std::jthread> threads;  // last, since they use the members above

  void tell(std::string line) { outcome.story.push_back(std::move(line)); }

  /// The next event, in the order of time; waits for it.
  SparEvent next() {
    std::unique_lock lock(mutex);
    while (events.empty()) {
      const auto due = std::ranges::min_element(timers);
      if (due == timers.end()) {
        changed.wait(lock);
      } else if (due->first <= Steady::now()) {
        SparEvent event;
        event.timer = due->second;
        timers.erase(due);
        return event;
      } else {
        const auto until = due->first;
        changed.wait_until(lock, until);
      }
    }
    SparEvent event = std::move(events.front());
    events.pop_front();
    return event;
  }
};

Sparring::Sparring(std::array<SparSide, 2> sides, referee::MatchSettings settings)
    : sides_(std::move(sides)), settings_(settings) {}

void Sparring::call_player(Course& course, const referee::CallPlayer& call) {
  SparSide& side = seat(call.side);
  TestMatch match = course.plan;
  match.is_player_a = call.side == game::Side::kA;
  match.opponent = seat(game::other(call.side)).bench->bot().id;
  const bool is_join = call.call == referee::Call::kInvitation;
  json message = is_join ? side.bench->invitation(match) : side.bench->choice_call(match);
  if (!is_join) {
    message["context"].erase("opponent_commitment");
    if (call.opponent_commitment)
      message["context"]["opponent_commitment"] = *call.opponent_commitment;
  }
  course.tell(std::string(referee::call_name(call.call)) + " to " + side.name);
  course.threads.emplace_back(
      [&course, &side, message = std::move(message), id = call.id, is_join] {
        SparEvent event{
            .call = id,
            .timer = 0,
            .reply = side.bench->ask(
                is_join ? MessageType::kGameInvitation : MessageType::kChooseParityCall, message),
            .is_join = is_join};
        std::lock_guard lock(course.mutex);
        course.events.push_back(std::move(event));
        course.changed.notify_one();
      });
}

namespace {

referee::Reply answer_in(const BotReply& reply, bool is_join) {
  if (is_join) {
    referee::JoinAnswer join{.match_id = reply.text("match_id"),
                             .accept = PlayerBench::accepts(reply)};
    const std::string commitment = reply.text("choice_commitment");
    if (!commitment.empty()) join.choice_commitment = commitment;
    return join;
  }
  referee::ChoiceAnswer choice{.match_id = reply.text("match_id"),
                               .choice = reply.text("parity_choice")};
  if (choice.choice.empty()) choice.choice = reply.text("choice");
  const std::string nonce = reply.text("choice_nonce");
  if (!nonce.empty()) choice.choice_nonce = nonce;
  return choice;
}

/// Why there is no valid answer.
std::optional<core::Error> failure_in(const BotReply& reply) {
  using core::ErrorCode;
  if (reply.exchange.has_timed_out) return core::Error{ErrorCode::kTimeout, told(reply), {}};
  if (!reply.has_answer()) return core::Error{ErrorCode::kConnectionError, told(reply), {}};
  if (!reply.error.is_null() || !reply.message.is_object())
    return core::Error{ErrorCode::kInvalidReply, told(reply), {}};
  return std::nullopt;
}

}  // namespace

void Sparring::tell_result(Course& course, const referee::RefereedMatch& match) {
  course.tell(match.reason);
  for (game::Side side : game::kBothSides) {
    SparSide& self = seat(side);
    const SparSide& other = seat(game::other(side));
    if (match.result.is_technical()) continue;
    const auto text = [](const std::optional<std::string>& value) { return value.value_or(""); };
    const game::Side back = game::other(side);
    const GameTruth truth{
        .match_id = course.plan.id,
        .players = {self.bench->bot().id, other.bench->bot().id},
        .choices = {text(match.result.choices[side]), text(match.result.choices[back])},
        .commitments = {text(match.bindings.commitments[side]),
                        text(match.bindings.commitments[back])},
        .nonces = {text(match.bindings.nonces[side]), text(match.bindings.nonces[back])},
        .seed = course.plan.seed,
        .is_first_a = side == game::Side::kA};
    json message = self.bench->match_envelope(MessageType::kGameOver, course.plan);
    message["game_type"] = "even_odd";
    message.update(game_over_fields(truth));
    const BotReply reply = self.bench->ask(MessageType::kGameOver, message);
    if (!reply.error.is_null()) course.tell(self.name + " disputes the result: " + told(reply));
  }
}

std::pair<TestMatch, referee::Match> Sparring::next_match() {
  first_ = 1 - first_;
  ++number_;
  const game::Rules& rules = **game::standard_games().find("even_odd");
  TestMatch plan = sides_[first_].bench->new_match();
  plan.round = kRound;
  plan.id = "R" + std::to_string(kRound) + "M" + std::to_string(number_);
  plan.conversation = "convr" + std::to_string(kRound) + "m" + std::to_string(number_) + "001";
  plan.draw_commitment = game::draw_commitment(plan.seed, plan.id);
  referee::MatchPlan match_plan{.match_id = core::MatchId(plan.id),
                                .seats = {},
                                .draw_seed = plan.seed,
                                .draw_commitment = plan.draw_commitment,
                                .settings = settings_};
  for (game::Side side : game::kBothSides)
    match_plan.seats[side].player = core::PlayerId(seat(side).bench->bot().id);
  return {std::move(plan), referee::Match(rules, std::move(match_plan))};
}

bool Sparring::carry_out(Course& course, referee::Effects& effects) {
  bool is_over = false;
  for (std::size_t at = 0; at < effects.size() && !is_over; ++at) {
    const referee::Effect effect = effects[at];
    if (const auto* call = std::get_if<referee::CallPlayer>(&effect)) call_player(course, *call);
    if (const auto* error = std::get_if<referee::SendGameError>(&effect))
      course.tell(seat(error->affected).name + ": " + error->error.message);
    if (const auto* timer = std::get_if<referee::StartTimer>(&effect))
      course.timers.emplace_back(Steady::now() + timer->delay, timer->id);
    if (const auto* report = std::get_if<referee::ReportResult>(&effect)) {
      course.outcome.result = report->match;
      for (auto& next : course.match.on_report_accepted()) effects.push_back(std::move(next));
    }
    if (const auto* over = std::get_if<referee::AnnounceGameOver>(&effect))
      tell_result(course, over->match);
    is_over = std::holds_alternative<referee::Finished>(effect);
  }
  return is_over;
}

SparMatch Sparring::play() {
  auto [plan, match] = next_match();
  Course course(std::move(match));
  course.plan = std::move(plan);
  referee::Effects effects = course.match.start(Steady::now());
  while (!carry_out(course, effects)) {
    const SparEvent event = course.next();
    const auto now = Steady::now();
    if (event.timer != 0) {
      effects = course.match.on_timer(event.timer, now);
    } else if (const auto failure = failure_in(event.reply)) {
      effects = course.match.on_failure(event.call, *failure, now, {.sent_at = now, .own = {}});
    } else {
      effects = course.match.on_reply(event.call, answer_in(event.reply, event.is_join), now);
    }
    if (event.call != 0 && event.reply.has_answer()) {
      const bool is_first = event.reply.exchange.url == sides_[0].bench->bot().endpoint.url();
      sides_.at(is_first ? 0 : 1).latencies.push_back(event.reply.exchange.elapsed);
    }
  }
  for (game::Side side : game::kBothSides) {
    if (const auto lost = course.outcome.result.lost_by[side])
      ++seat(side).errors[std::string(referee::termination_name(*lost))];
  }
  return std::move(course.outcome);
}

std::pair<double, double> wilson_interval(double points, std::size_t matches) {
  if (matches == 0) return {0.0, 1.0};
  constexpr double kZ = 1.959964;  // 97.5 % of the normal distribution lie below
  const auto n = static_cast<double>(matches);
  const double share = points / n;
  const double middle = (share + kZ * kZ / (2 * n)) / (1 + kZ * kZ / n);
  const double half =
      kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n)) / (1 + kZ * kZ / n);
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

}  // namespace league::tools::check
