#include "referee/match_intake.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/envelope/codec.h"
#include "common/rpc/json_text.h"

namespace league::referee {
namespace {

using nlohmann::json;
using transport::StreamDelivery;

constexpr const char* kConsumer = "referees";
constexpr std::chrono::milliseconds kLater{1000};
constexpr std::chrono::milliseconds kFetchTime{10'000};
/// A claim may be repeated, so one that a manager took with it into its grave costs no more.
constexpr std::chrono::milliseconds kClaimTime{3000};

/// A match of the queue.
struct Queued {
  std::string league_id;
  std::string match_id;
  int attempt = 1;
  StreamDelivery delivery;
};

/// Nothing for a message that names no match.
std::optional<Queued> read_queued(StreamDelivery delivery) {
  auto in = json::parse(delivery.message.payload, nullptr, false);
  if (!in.is_object()) return std::nullopt;
  auto league = in.find("league_id");
  auto match = in.find("match_id");
  auto attempt = in.find("attempt");
  if (match == in.end() || !match->is_string()) return std::nullopt;
  if (league == in.end() || !league->is_string()) return std::nullopt;
  bool has_attempt = attempt != in.end() && attempt->is_number_integer();
  return Queued{league->get<std::string>(), match->get<std::string>(),
                has_attempt ? attempt->get<int>() : 1, std::move(delivery)};
}

}  // namespace

/// Shared with the bus, the timer and calls.
class MatchIntake::State : public std::enable_shared_from_this<State> {
 public:
  State(const Context& context, Options options)
      : context_(context),
        options_(std::move(options)),
        stream_(transport::league_stream("WORK", options_.identity.league.str())) {}

  void begin() {
    keep_later();
    take();
  }
  void stop() {
    std::lock_guard lock(mutex_);
    is_stopped_ = true;
    arrived_.clear();
  }
  void on_over(const std::string& match_id, bool is_accepted) {
    std::optional<StreamDelivery> delivery;
    {
      std::lock_guard lock(mutex_);
      auto found = held_.find(match_id);
      if (found != held_.end()) {
        delivery = std::move(found->second);
        held_.erase(found);
      }
    }
    if (delivery && is_accepted) context_.streams.ack(*delivery);
    if (delivery && !is_accepted) context_.streams.nak(*delivery, kLater);
    take();
  }

  /// Asks the queue for as many matches as there are places.
  void take() {
    if (!may_ask()) return;
    int wanted = 0;
    const int free = context_.player.free_places();
    {
      std::lock_guard lock(mutex_);
      if (is_stopped_ || is_resting_ || is_asking_) return;
      wanted = free - static_cast<int>(arrived_.size() + claimed_.size());
      if (wanted <= 0) return;
      is_asking_ = true;
    }
    context_.streams.fetch(
        stream_, kConsumer, wanted, kFetchTime,
        [self = shared_from_this()](StreamDelivery delivery) {
          self->on_delivery(std::move(delivery));
        },
        [self = shared_from_this()](const core::Result<void>& ended) { self->on_fetched(ended); });
  }

 private:
  /// One request at a time: the broker serves several in turn, and nobody could tell which of them
  /// a message belongs to.
  [[nodiscard]] bool may_ask() {
    std::lock_guard lock(mutex_);
    return !is_stopped_ && !is_resting_ && !is_asking_;
  }

  void on_delivery(StreamDelivery delivery) {
    auto queued = read_queued(delivery);
    if (queued && queued->league_id != options_.identity.league.str())
      return context_.streams.nak(delivery, kLater);  // of a league whose name is like ours
    {
      std::lock_guard lock(mutex_);
      if (is_stopped_) return;
      if (queued) arrived_.push_back(std::move(*queued));
    }
    if (!queued) context_.streams.ack(delivery);  // nobody can ever read it
    claim();
  }

  void on_fetched(const core::Result<void>& ended) {
    {
      std::lock_guard lock(mutex_);
      is_asking_ = false;
      if (is_stopped_) return;
      is_resting_ = !ended;
    }
    if (ended) return take();
    // No queue yet, or not any more: the manager makes it.
    if (!has_complained_.exchange(true))
      spdlog::info("no queue of matches at the moment: {}", ended.error().message);
    rest();
  }

  void rest() {
    context_.timer.schedule(kLater, [self = shared_from_this()] {
      {
        std::lock_guard lock(self->mutex_);
        self->is_resting_ = false;
      }
      self->take();
    });
  }

  /// Claims what has arrived, one call at a time: what arrives meanwhile shares the next.
  void claim() {
    json arguments = {{"sender", "referee:" + options_.identity.id},
                      {"auth_token", options_.identity.token.reveal()},
                      {"claims", json::array()}};
    {
      std::lock_guard lock(mutex_);
      if (is_stopped_ || is_claiming_ || (arrived_.empty() && refused_.empty())) return;
      is_claiming_ = true;
      refused_in_call_ = std::exchange(refused_, {});
      claimed_.swap(arrived_);
      for (const auto& one : claimed_)
        arguments["claims"].push_back({{"match_id", one.match_id}, {"attempt", one.attempt}});
      for (const auto& [match, why] : refused_in_call_) {
        arguments["refused"].push_back(match);
        arguments["reasons"][match] = {{"error_code", core::error_info(why.code).wire_code},
                                       {"error_description", why.message}};
      }
    }
    agent::PeerToolCall call;
    call.endpoint = options_.manager;
    call.peer = "league_manager";
    call.tool = "claim_match";
    call.time_limit = kClaimTime;
    call.arguments = rpc::to_json_text(arguments);
    call.budget = transport::Budget::kGame;
    context_.peers.call_tool(std::move(call),
                             [self = shared_from_this()](const core::Result<json>& answer) {
                               self->on_claimed(answer);
                             });
  }

  [[nodiscard]] bool is_stopped() {
    std::lock_guard lock(mutex_);
    return is_stopped_;
  }

  void on_claimed(const core::Result<json>& answer) {
    if (is_stopped()) return;
    std::vector<Queued> claimed;
    {
      std::lock_guard lock(mutex_);
      claimed = claimed_;  // they take their places until they are played
    }
    std::vector<envelope::MatchAssignment> own;
    json verdicts = json::object();
    int round = 1;
    if (answer && answer->is_object()) {
      if (auto said = answer->find("verdicts"); said != answer->end() && said->is_object())
        verdicts = *said;
      if (auto said = answer->find("round_id"); said != answer->end() && said->is_number_integer())
        round = said->get<int>();
      auto matches = answer->find("matches");
      auto decoded = matches != answer->end() ? envelope::decode_assignments(*matches)
                                              : std::vector<envelope::MatchAssignment>{};
      if (decoded) own = std::move(*decoded);
    } else {
      spdlog::warn("the manager does not answer a claim: {}",
                   answer ? "its answer is no object" : answer.error().message);
    }
    for (auto& one : claimed) settle(std::move(one), verdicts, own);
    play(std::move(own), round);
    {
      std::lock_guard lock(mutex_);
      is_claiming_ = false;
      claimed_.clear();
      // Said again with the next claim: until the manager knows, nobody else gets those matches.
      if (!answer)
        refused_.insert(refused_.end(), refused_in_call_.begin(), refused_in_call_.end());
      refused_in_call_.clear();
    }
    if (answer) return claim_and_take();
    context_.timer.schedule(kLater, [self = shared_from_this()] { self->claim_and_take(); });
  }

  void claim_and_take() {
    claim();
    take();
  }

  /// Keeps the message of a match that is ours, and gives back the others.
  void settle(Queued one, const json& verdicts, const std::vector<envelope::MatchAssignment>& own) {
    auto verdict = verdicts.find(one.match_id);
    bool is_over = verdict != verdicts.end() && *verdict == "OVER";
    bool is_ours = std::ranges::any_of(
        own, [&](const auto& match) { return match.match_id.str() == one.match_id; });
    if (is_over) return context_.streams.ack(one.delivery);
    if (!is_ours) return context_.streams.nak(one.delivery, kLater);
    {
      std::lock_guard lock(mutex_);
      auto [held, is_new] = held_.try_emplace(one.match_id, one.delivery);
      if (is_new) return;
      if (held->second.sequence == one.delivery.sequence) {
        held->second = std::move(one.delivery);  // handed out again: the new one counts
        return;
      }
    }
    context_.streams.ack(one.delivery);  // one message is enough to answer for a match
  }

  void play(std::vector<envelope::MatchAssignment> own, int round) {
    std::vector<std::string> ids;
    for (const auto& match : own) ids.push_back(match.match_id.str());
    auto refused = context_.player.play(std::move(own), round);
    for (const auto& id : ids) {
      if (context_.player.is_playing(id)) continue;
      auto why = std::ranges::find(refused, id, &MatchPlayer::Refused::match_id);
      give_up(id, why != refused.end() ? why->why : not_reported());
    }
  }

  static core::Error not_reported() {
    return {core::ErrorCode::kTimeout, "was played, and the report could not be delivered", {}};
  }

  /// A match that the manager counts as ours and that is not played, or is over already.
  void give_up(const std::string& id, const core::Error& why) {
    std::lock_guard lock(mutex_);
    auto held = held_.find(id);
    if (held == held_.end()) return;  // it has been played meanwhile
    context_.streams.ack(held->second);
    held_.erase(held);
    refused_.emplace_back(id, why);
  }

  void keep_later() {
    context_.timer.schedule(options_.wait / 3, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->keep();
    });
  }
  /// Says of everything in hand that it is worked at.
  void keep() {
    std::vector<StreamDelivery> all;
    {
      std::lock_guard lock(mutex_);
      if (is_stopped_) return;
      for (const auto& [match, delivery] : held_) all.push_back(delivery);
      for (const auto* list : {&arrived_, &claimed_}) {
        for (const auto& one : *list) all.push_back(one.delivery);
      }
    }
    for (const auto& delivery : all) context_.streams.in_progress(delivery);
    take();
    keep_later();
  }

  const Context context_;
  const Options options_;
  const std::string stream_;
  std::mutex mutex_;  // never held while the player or the manager are called
  bool is_asking_ = false;  // a request for messages is open
  std::vector<Queued> arrived_;
  std::vector<Queued> claimed_;  // in the call that is under way
  std::vector<std::pair<std::string, core::Error>> refused_;
  std::vector<std::pair<std::string, core::Error>> refused_in_call_;  // that is under way
  std::map<std::string, StreamDelivery> held_;  // by match, while it is played
  bool is_claiming_ = false;
  bool is_resting_ = false;
  bool is_stopped_ = false;
  std::atomic<bool> has_complained_{false};
};

MatchIntake::MatchIntake(const Context& context, Options options)
    : state_(std::make_shared<State>(context, std::move(options))) {
  state_->begin();
}

MatchIntake::~MatchIntake() { stop(); }

void MatchIntake::on_over(const std::string& match_id, bool is_accepted) {
  state_->on_over(match_id, is_accepted);
}

void MatchIntake::on_played() { state_->take(); }

void MatchIntake::stop() { state_->stop(); }

}  // namespace league::referee
