#include "common/transport/bus/bus_discovery.h"

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/transport/bus/bus_context.h"

namespace league::transport::bus {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using Steady = core::Clock::Steady;

constexpr milliseconds kAskAgain{1000};  ///< a manager that was asked has not answered
constexpr milliseconds kNobodyThere{100};  ///< none listens; it may be on its way up
constexpr milliseconds kLongestKeepAlive{3'600'000};

}  // namespace

std::string attach_request(std::uint64_t id) {
  return json{{"jsonrpc", "2.0"}, {"id", id}, {"method", "session/attach"}}.dump();
}

core::Result<BusAttachment> read_attachment(std::string_view payload) {
  auto refuse = [](const std::string& why) {
    return core::Error{core::ErrorCode::kInvalidReply, "the answer to session/attach " + why, {}};
  };
  json answer = json::parse(payload, nullptr, false);
  if (!answer.is_object()) return refuse("is not a JSON object");
  auto result = answer.find("result");
  if (result == answer.end() || !result->is_object()) {
    auto error = answer.find("error");
    bool says_why = error != answer.end() && error->is_object() && error->contains("message") &&
                    (*error)["message"].is_string();
    if (!says_why) return refuse("has no result");
    return core::Error{
        core::ErrorCode::kInvalidReply,
        "the league manager refuses the session: " + (*error)["message"].get<std::string>(),
        {}};
  }
  BusAttachment attachment;
  auto league = result->find("league_id");
  if (league == result->end() || !league->is_string()) return refuse("names no league_id");
  attachment.league_id = league->get<std::string>();
  auto keep_alive = result->find("keep_alive_ms");
  if (keep_alive != result->end() && keep_alive->is_number_unsigned())
    attachment.keep_alive = milliseconds(std::min<std::uint64_t>(
        static_cast<std::uint64_t>(kLongestKeepAlive.count()), keep_alive->get<std::uint64_t>()));
  return attachment;
}

/// Shared with the bus and the timer.
class BusDiscovery::State : public std::enable_shared_from_this<State> {
 public:
  State(Bus& bus, link::BusSession session, const core::Clock& clock, core::Timer& timer,
        core::RandomSource& random)
      : bus_(bus),
        session_(std::move(session)),
        clock_(clock),
        timer_(timer),
        name_(link::BusSession::make(random).str()) {}

  /// Listens for answers.
  core::Result<void> begin() {
    auto subscribed = bus_.subscribe(link::session_inbox(session_, name_ + ".*"), "",
                                     [weak = weak_from_this()](const BusMessage& message) {
                                       if (auto self = weak.lock()) self->on_answer(message);
                                     });
    if (!subscribed) return subscribed.error();
    std::lock_guard lock(mutex_);
    subscription_ = std::move(*subscribed);
    return {};
  }
  void attach(const std::string& league, core::Clock::Steady deadline, Attached attached) {
    std::uint64_t number = 0;
    {
      std::lock_guard lock(mutex_);
      number = ++last_number_;
      waiting_.emplace(number, Waiting{league, deadline, std::move(attached)});
    }
    ask(number);
  }
  void end() {
    std::unique_ptr<Bus::Subscription> subscription;
    std::map<std::uint64_t, Waiting> waiting;
    {
      std::lock_guard lock(mutex_);
      subscription.swap(subscription_);
      waiting.swap(waiting_);
    }
    subscription.reset();
    for (auto& [number, each] : waiting)
      each.attached(core::Error{core::ErrorCode::kShuttingDown, "this program is stopping", {}});
  }

 private:
  struct Waiting {
    std::string league;
    Steady deadline;
    Attached attached;
    std::uint64_t asked = 0;
    std::string refusal = {};  ///< why a manager does not attach the session
  };

  void ask(std::uint64_t number) {
    BusMessage message = bus_message(link::session_discovery(session_), attach_request(number),
                                     session_, rpc::MessageDirection::kClientToServer);
    std::uint64_t asked = 0;
    Steady::duration left{};
    {
      std::lock_guard lock(mutex_);
      auto found = waiting_.find(number);
      if (found == waiting_.end()) return;
      asked = ++found->second.asked;
      left = std::max(found->second.deadline - clock_.steady_now(), Steady::duration::zero());
      if (!found->second.league.empty())
        message.headers.emplace_back(kLeagueHeader, found->second.league);
    }
    message.reply = link::session_inbox(session_, name_ + "." + std::to_string(number));
    (void)bus_.publish(message);  // what the bus loses is asked again
    ask_later(number, asked, std::min<Steady::duration>(kAskAgain, left));
  }
  void ask_later(std::uint64_t number, std::uint64_t asked, Steady::duration delay) {
    timer_.schedule(delay, [weak = weak_from_this(), number, asked] {
      auto self = weak.lock();
      if (self && self->may_ask(number, asked)) self->ask(number);
    });
  }
  /// False: the request was repeated meanwhile, has been answered, or has timed out.
  bool may_ask(std::uint64_t number, std::uint64_t asked) {
    Attached attached;
    std::string why = bus_.is_connected()
                          ? "no manager of this league answers on the bus at " + bus_.url()
                          : "the bus at " + bus_.url() + " cannot be reached";
    {
      std::lock_guard lock(mutex_);
      auto found = waiting_.find(number);
      if (found == waiting_.end() || found->second.asked != asked) return false;
      if (clock_.steady_now() < found->second.deadline) return true;
      attached = std::move(found->second.attached);
      if (!found->second.refusal.empty()) why = found->second.refusal;
      waiting_.erase(found);
    }
    attached(core::Error{core::ErrorCode::kConnectionError, why, {}});
    return false;
  }
  void on_answer(const BusMessage& message) {
    auto digits = message.subject.substr(message.subject.rfind('.') + 1);
    std::uint64_t number = std::strtoull(digits.c_str(), nullptr, 10);
    if (message.is_no_responders) {
      std::uint64_t asked = 0;
      {
        std::lock_guard lock(mutex_);
        auto found = waiting_.find(number);
        if (found == waiting_.end()) return;
        asked = found->second.asked;
      }
      return ask_later(number, asked, kNobodyThere);
    }
    auto attachment = read_attachment(message.payload);
    // Another manager's answer may still come, and this one may have room later.
    if (!attachment) return note_refusal(number, attachment.error());
    Attached attached;
    {
      std::lock_guard lock(mutex_);
      auto found = waiting_.find(number);
      if (found == waiting_.end()) return;
      if (!found->second.league.empty() && found->second.league != attachment->league_id) return;
      attached = std::move(found->second.attached);
      waiting_.erase(found);
    }
    attached(attachment);
  }

  void note_refusal(std::uint64_t number, const core::Error& why) {
    std::lock_guard lock(mutex_);
    auto found = waiting_.find(number);
    if (found != waiting_.end()) found->second.refusal = why.message;
  }

  Bus& bus_;
  const link::BusSession session_;
  const core::Clock& clock_;
  core::Timer& timer_;
  const std::string name_;  ///< of the inbox
  std::mutex mutex_;  // guards the rest, never held while others are called
  std::map<std::uint64_t, Waiting> waiting_;
  std::uint64_t last_number_ = 0;
  std::unique_ptr<Bus::Subscription> subscription_;
};

BusDiscovery::BusDiscovery(Bus& bus, link::BusSession session, const core::Clock& clock,
                           core::Timer& timer, core::RandomSource& random)
    : state_(std::make_shared<State>(bus, std::move(session), clock, timer, random)) {
  (void)state_->begin();  // a bus that is closed fails what is asked through it
}

BusDiscovery::~BusDiscovery() { state_->end(); }

void BusDiscovery::attach(const std::string& league, core::Clock::Steady deadline,
                          Attached attached) {
  state_->attach(league, deadline, std::move(attached));
}

}  // namespace league::transport::bus
