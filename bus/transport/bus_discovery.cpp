#include "bus/transport/bus_discovery.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "bus/transport/bus.h"
#include "common/schema/fields.h"
#include "common/task/latch.h"

namespace league::transport::bus {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kAskAgain{1000};  ///< a manager that was asked has not answered
constexpr milliseconds kNobodyThere{100};  ///< none listens; it may be on its way up
constexpr milliseconds kLongestKeepAlive{3'600'000};

/// An answer to session/attach, as far as it has the right types.
struct AttachAnswer {
  bool has_result = false;
  std::optional<std::string> league_id = std::nullopt;
  json keep_alive = nullptr;
  std::optional<std::string> refusal = std::nullopt;

  void describe(schema::Fields& a) {
    a.object("result", [this](schema::Fields& in) {
      has_result = true;
      in.optional("league_id", league_id);
      in.defaulted("keep_alive_ms", keep_alive);
    });
    a.object("error", [this](schema::Fields& in) { in.optional("message", refusal); });
  }
};

}  // namespace

std::string attach_request(std::uint64_t id) {
  return json{{"jsonrpc", "2.0"}, {"id", id}, {"method", "session/attach"}}.dump();
}

core::Result<BusAttachment> read_attachment(std::string_view payload) {
  auto refuse = [](const std::string& why) {
    return core::Error{core::ErrorCode::kInvalidReply, why, {}};
  };
  const auto parsed = schema::parse_json(payload);
  if (!parsed || !parsed->is_object())
    return refuse("the answer to session/attach is not a JSON object");
  const auto answer = schema::read_loosely<AttachAnswer>(*parsed);
  if (!answer.has_result && answer.refusal)
    return refuse("the league manager refuses the session: " + *answer.refusal);
  if (!answer.has_result) return refuse("the answer to session/attach has no result");
  if (!answer.league_id) return refuse("the answer to session/attach names no league_id");
  BusAttachment attachment{*answer.league_id, milliseconds(0)};
  if (answer.keep_alive.is_number_unsigned())
    attachment.keep_alive =
        milliseconds(std::min<std::uint64_t>(static_cast<std::uint64_t>(kLongestKeepAlive.count()),
                                             answer.keep_alive.get<std::uint64_t>()));
  return attachment;
}

task::Task<core::Result<BusAttachment>> BusDiscovery::attach(std::string league,
                                                             core::Clock::Steady deadline) const {
  struct Answers {
    std::deque<BusMessage> come;
    task::Latch news{0};
  };
  const auto answers = std::make_shared<Answers>();
  BusMessage question = bus_message(link::session_discovery(on_.session), attach_request(1),
                                    on_.session, rpc::MessageDirection::kClientToServer);
  question.reply = link::session_inbox(on_.session, link::BusSession::make(on_.random).str());
  if (!league.empty()) question.headers.emplace_back(kLeagueHeader, league);
  const auto executor = co_await boost::asio::this_coro::executor;
  // A bus that is closed loses the question, too.
  const auto heard = on_.bus.subscribe(question.reply, "", [executor, answers](BusMessage message) {
    boost::asio::post(executor, [answers, message = std::move(message)]() mutable {
      answers->come.push_back(std::move(message));
      answers->news.count_down();
    });
  });
  std::string why;  // a manager does not attach the session
  core::Clock::Steady due{};  // when the question is repeated
  for (bool is_asked = false;;) {
    const auto now = on_.clock.steady_now();
    if (!answers->come.empty()) {
      const BusMessage message = std::move(answers->come.front());
      answers->come.pop_front();
      if (message.is_no_responders) {
        due = std::min(due, now + kNobodyThere);
        continue;
      }
      auto attachment = read_attachment(message.payload);
      // Another manager's answer may still come, and this one may have room later.
      if (!attachment)
        why = attachment.error().message;
      else if (league.empty() || league == attachment->league_id)
        co_return attachment;
    } else if (is_asked && now >= deadline) {
      break;
    } else if (is_asked && now < due) {
      answers->news = task::Latch(1);
      co_await answers->news.wait_for(on_.timer, std::min(due, deadline) - now);
    } else {
      is_asked = true;
      due = now + kAskAgain;
      (void)on_.bus.publish(question);  // what the bus loses is asked again
    }
  }
  if (why.empty())
    why = on_.bus.is_connected()
              ? "no manager of this league answers on the bus at " + on_.bus.url()
              : "the bus at " + on_.bus.url() + " cannot be reached";
  co_return core::Error{core::ErrorCode::kConnectionError, why, {}};
}

}  // namespace league::transport::bus
