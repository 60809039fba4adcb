#include "league_manager/bus_match_queue.h"

#include <spdlog/spdlog.h>

#include <atomic>
#include <future>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/core/crypto.h"

namespace league::league_manager {
namespace {

constexpr std::chrono::seconds kOfferLimit{5};
constexpr std::chrono::seconds kRepairLimit{10};
constexpr const char* kReferees = "referees";

}  // namespace

/// Shared with what waits for the broker.
class BusMatchQueue::State : public std::enable_shared_from_this<State> {
 public:
  State(transport::JetStream& streams, const core::LeagueId& league, const core::Clock& clock,
        std::chrono::milliseconds wait, core::RandomSource& random)
      : origin_(core::to_hex(random.bytes<8>())),
        streams_(streams),
        league_(league.str()),
        stream_(transport::league_stream("WORK", league_)),
        clock_(clock),
        wait_(wait) {}

  /// Makes stream and consumer, or finds them.
  void prepare(core::Clock::Steady deadline, std::function<void(core::Result<void>)> done) {
    transport::StreamConfig stream;
    stream.name = stream_;
    stream.subjects = {transport::work_subject(league_)};
    stream.retention = transport::StreamConfig::Retention::kWorkQueue;
    streams_.ensure_stream(
        stream, deadline,
        [self = shared_from_this(), deadline,
         done = std::move(done)](const core::Result<transport::StreamState>& made) mutable {
          if (!made) return done(made.error());
          transport::ConsumerConfig consumer;
          consumer.durable_name = kReferees;
          consumer.ack_wait = self->wait_;
          self->streams_.ensure_consumer(
              self->stream_, consumer, deadline,
              [done = std::move(done)](const core::Result<std::string>& name) {
                done(name ? core::Result<void>() : core::Result<void>(name.error()));
              });
        });
  }

  void offer(MatchKey match, int attempt, int repetition, bool may_repair) {
    const std::string id = match.id().str();
    transport::BusMessage message;
    message.subject = transport::work_subject(league_);
    message.payload = nlohmann::json{
        {"league_id", league_},
        {"round_id", match.round},
        {"match_id", id},
        {"attempt",
         attempt}}.dump();
    transport::PublishCondition condition;
    // Of this process: a league of the same name that was just played must not count as this one.
    condition.message_id =
        origin_ + "." + id + "." + std::to_string(attempt) + "." + std::to_string(repetition);
    streams_.publish(std::move(message), condition, clock_.steady_now() + kOfferLimit,
                     [self = shared_from_this(), match, attempt, repetition,
                      may_repair](const transport::PublishAck& ack) {
                       if (ack.status == transport::PublishAck::Status::kStored) return;
                       // Else the keeper offers it again later.
                       if (may_repair) self->repair(match, attempt, repetition);
                     });
  }

 private:
  /// The broker may have come back without what it had.
  void repair(MatchKey match, int attempt, int repetition) {
    prepare(clock_.steady_now() + kRepairLimit, [self = shared_from_this(), match, attempt,
                                                 repetition](const core::Result<void>& made) {
      if (made) return self->offer(match, attempt, repetition, false);
      if (made.error().code == core::ErrorCode::kShuttingDown) return;
      if (!self->has_complained_.exchange(true))
        spdlog::warn("the queue of matches is out of reach: {}", made.error().message);
    });
  }

  const std::string origin_;
  transport::JetStream& streams_;
  const std::string league_;
  const std::string stream_;
  const core::Clock& clock_;
  const std::chrono::milliseconds wait_;
  std::atomic<bool> has_complained_{false};
};

BusMatchQueue::BusMatchQueue(std::shared_ptr<State> state) : state_(std::move(state)) {}
BusMatchQueue::~BusMatchQueue() = default;

core::Result<std::unique_ptr<BusMatchQueue>> BusMatchQueue::open(
    transport::JetStream& streams, const core::LeagueId& league, const core::Clock& clock,
    std::chrono::milliseconds wait, core::Clock::Steady deadline, core::RandomSource& random) {
  auto state = std::make_shared<State>(streams, league, clock, wait, random);
  auto ready = std::make_shared<std::promise<core::Result<void>>>();
  auto answer = ready->get_future();
  state->prepare(deadline, [ready](core::Result<void> made) { ready->set_value(std::move(made)); });
  if (auto made = answer.get(); !made) return made.error();
  return std::unique_ptr<BusMatchQueue>(new BusMatchQueue(std::move(state)));
}

void BusMatchQueue::offer(MatchKey match, int attempt, int repetition) {
  state_->offer(match, attempt, repetition, true);
}

}  // namespace league::league_manager
