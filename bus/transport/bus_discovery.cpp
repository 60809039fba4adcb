#include "bus/transport/bus_discovery.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "bus/transport/bus_context.h"
#include "bus/transport/kept_tasks.h"
#include "common/task/latch.h"

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

/// Everything happens on its executor. Its tasks keep it; they end when it does.
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
    auto subscribed =
        bus_.subscribe(link::session_inbox(session_, name_ + ".*"), "",
                       [self = shared_from_this()](const BusMessage& message) {
                         self->executor_.post([self, message] { self->on_answer(message); });
                       });
    if (!subscribed) return subscribed.error();
    subscription_ = std::move(*subscribed);
    return {};
  }
  void attach(const std::string& league, Steady deadline, Attached attached) {
    give(executor_, shared_from_this(), find(league, deadline), std::move(attached));
  }
  void end() {
    end_on(executor_, [self = shared_from_this()] {
      self->is_ended_ = true;
      self->subscription_.reset();
      for (auto& [number, search] : self->searches_) search.news.count_down();
    });
  }

 private:
  struct Search {
    std::string league;
    Steady due{};  ///< when the question is repeated
    std::string refusal = {};  ///< why a manager does not attach the session
    std::optional<BusAttachment> found = std::nullopt;
    task::Latch news{0};
  };

  task::Task<core::Result<BusAttachment>> find(std::string league, Steady deadline) {
    const std::uint64_t number = ++last_number_;
    BusMessage question = bus_message(link::session_discovery(session_), attach_request(number),
                                      session_, rpc::MessageDirection::kClientToServer);
    question.reply = link::session_inbox(session_, name_ + "." + std::to_string(number));
    if (!league.empty()) question.headers.emplace_back(kLeagueHeader, league);
    Search& search = searches_[number];
    search.league = std::move(league);
    for (bool is_asked = false; !search.found && !is_ended_;) {
      const auto now = clock_.steady_now();
      const auto until = std::min(search.due, deadline);
      if (is_asked && now < until) {
        search.news = task::Latch(1);
        co_await search.news.wait_for(timer_, until - now);
      } else if (is_asked && now >= deadline) {
        break;
      } else {
        is_asked = true;
        search.due = now + kAskAgain;
        (void)bus_.publish(question);  // what the bus loses is asked again
      }
    }
    auto result = result_of(search);
    searches_.erase(number);
    co_return result;
  }
  [[nodiscard]] core::Result<BusAttachment> result_of(const Search& search) const {
    if (search.found) return *search.found;
    if (is_ended_)
      return core::Error{core::ErrorCode::kShuttingDown, "this program is stopping", {}};
    std::string why = bus_.is_connected()
                          ? "no manager of this league answers on the bus at " + bus_.url()
                          : "the bus at " + bus_.url() + " cannot be reached";
    if (!search.refusal.empty()) why = search.refusal;
    return core::Error{core::ErrorCode::kConnectionError, why, {}};
  }
  void on_answer(const BusMessage& message) {
    auto digits = message.subject.substr(message.subject.rfind('.') + 1);
    const auto found = searches_.find(std::strtoull(digits.c_str(), nullptr, 10));
    if (found == searches_.end() || found->second.found) return;
    Search& search = found->second;
    if (message.is_no_responders) {
      search.due = std::min(search.due, clock_.steady_now() + kNobodyThere);
      return search.news.count_down();
    }
    auto attachment = read_attachment(message.payload);
    // Another manager's answer may still come, and this one may have room later.
    if (!attachment) {
      search.refusal = attachment.error().message;
      return;
    }
    if (!search.league.empty() && search.league != attachment->league_id) return;
    search.found = std::move(*attachment);
    search.news.count_down();
  }

  Bus& bus_;
  const link::BusSession session_;
  const core::Clock& clock_;
  core::Timer& timer_;
  const std::string name_;  ///< of the inbox
  const task::Executor executor_;
  std::map<std::uint64_t, Search> searches_;
  std::uint64_t last_number_ = 0;
  bool is_ended_ = false;
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
