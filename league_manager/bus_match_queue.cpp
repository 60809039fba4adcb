#include "league_manager/bus_match_queue.h"

#include <future>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/core/crypto.h"

namespace league::league_manager {
namespace {

/// Of a broker that is there; afterwards matches are given to referees.
constexpr std::chrono::seconds kOfferLimit{3};
constexpr const char* kReferees = "referees";
constexpr std::chrono::seconds kLongestRequest{25};

}  // namespace

/// Shared with what waits for the broker.
class BusMatchQueue::State : public std::enable_shared_from_this<State> {
 public:
  State(const Dependencies& dependencies, const core::LeagueId& league,
        std::chrono::milliseconds wait)
      : origin_(core::to_hex(dependencies.random.bytes<8>())),
        streams_(dependencies.streams),
        bus_(dependencies.bus),
        league_(league.str()),
        stream_(transport::league_stream("WORK", league_)),
        clock_(dependencies.clock),
        wait_(wait),
        replicas_(dependencies.replicas) {}

  /// Makes stream and consumer, or finds them; fails soon where the broker keeps none.
  void open(core::Clock::Steady deadline, std::function<void(core::Result<void>)> done) {
    streams_.find(deadline, [self = shared_from_this(), deadline,
                             done = std::move(done)](const core::Result<void>& there) mutable {
      there ? self->prepare(deadline, std::move(done)) : done(there);
    });
  }

  void offer(MatchKey match, int attempt, int repetition, Offered done) {
    if (repetition == 0) return publish(match, attempt, repetition, done);
    // It has failed, or nobody came: the broker may have come back without what it had.
    open(clock_.steady_now() + kOfferLimit, [self = shared_from_this(), match, attempt, repetition,
                                             done =
                                                 std::move(done)](const core::Result<void>& made) {
      made ? self->publish(match, attempt, repetition, done) : self->refuse(made.error(), done);
    });
  }

 private:
  void prepare(core::Clock::Steady deadline, std::function<void(core::Result<void>)> done) {
    transport::StreamConfig stream;
    stream.name = stream_;
    stream.subjects = {transport::work_subject(league_)};
    stream.retention = transport::StreamConfig::Retention::kWorkQueue;
    stream.replicas = replicas_;
    streams_.ensure_stream(
        stream, deadline,
        [self = shared_from_this(), deadline,
         done = std::move(done)](const core::Result<transport::StreamState>& made) mutable {
          if (!made) return done(made.error());
          transport::ConsumerConfig consumer;
          consumer.durable_name = kReferees;
          consumer.ack_wait = self->wait_;
          // Behind another account the way of an answer is forgotten after 30 s (bus-config), and
          // what came for a request that waits longer would be lost to it.
          consumer.longest_wait = kLongestRequest;
          self->streams_.ensure_consumer(
              self->stream_, consumer, deadline,
              [done = std::move(done)](const core::Result<std::string>& name) {
                done(name ? core::Result<void>() : core::Result<void>(name.error()));
              });
        });
  }

  void publish(MatchKey match, int attempt, int repetition, const Offered& done) {
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
                     [self = shared_from_this(), done](const transport::PublishAck& ack) {
                       if (ack.status == transport::PublishAck::Status::kStored)
                         return done(OfferOutcome::kTaken, "");
                       self->refuse(ack.why, done);
                     });
  }
  void refuse(const core::Error& why, const Offered& done) {
    if (why.code == core::ErrorCode::kShuttingDown) return;
    done(bus_.is_connected() ? OfferOutcome::kRefused : OfferOutcome::kUnknown, why.message);
  }

  const std::string origin_;
  transport::JetStream& streams_;
  const transport::Bus& bus_;
  const std::string league_;
  const std::string stream_;
  const core::Clock& clock_;
  const std::chrono::milliseconds wait_;
  const int replicas_;
};

BusMatchQueue::BusMatchQueue(const Dependencies& dependencies, const core::LeagueId& league,
                             std::chrono::milliseconds wait)
    : state_(std::make_shared<State>(dependencies, league, wait)) {}
BusMatchQueue::~BusMatchQueue() = default;

core::Result<void> BusMatchQueue::open(core::Clock::Steady deadline) {
  auto ready = std::make_shared<std::promise<core::Result<void>>>();
  auto answer = ready->get_future();
  state_->open(deadline, [ready](core::Result<void> made) { ready->set_value(std::move(made)); });
  return answer.get();
}

void BusMatchQueue::offer(MatchKey match, int attempt, int repetition, Offered done) {
  state_->offer(match, attempt, repetition, std::move(done));
}

}  // namespace league::league_manager
