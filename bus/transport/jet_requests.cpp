#include "bus/transport/jet_requests.h"

#include <algorithm>
#include <utility>

#include "bus/transport/jet_stream_api.h"

namespace league::transport::bus {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kJetAskAgain = 1s;
/// A broker that is starting has its streams within moments.
constexpr std::chrono::milliseconds kJetNobodyThere = 100ms;

using namespace std::chrono_literals;

/// If the broker has not ended a request this long after its expiry, it did not receive the request
/// or has no such consumer.
constexpr std::chrono::milliseconds kFetchSlack = 2s;

core::Error fetch_lost(const std::string& why) {
  return {core::ErrorCode::kConnectionError, why, {}};
}

/// The result of a request that the broker ends with `status`.
core::Result<void> end_of(const BusMessage& message, const std::string& status) {
  if (status == "404" || status == "408") return {};
  std::string said = status + " " + std::string(bus_header(message, "Description"));
  if (status == "400") return core::Error{core::ErrorCode::kInvalidReply, said, {}};
  return fetch_lost("the broker ended a request for messages: " + said);
}

}  // namespace

task::Task<JetRequests::Answer> JetRequests::ask(BusMessage request, core::Clock::Steady deadline,
                                                 Repeat repeat) {
  const std::uint64_t number = ++last_number_;
  request.reply = parts_.inbox + std::to_string(number);
  PendingRequest pending{std::move(request), deadline, repeat};
  auto& asked = asked_.emplace(number, std::move(pending)).first->second;
  Answer answer = co_await answer_to(&asked);
  asked_.erase(number);
  co_return answer;
}

task::Task<JetRequests::Answer> JetRequests::answer_to(PendingRequest* asked) {
  for (bool is_sent = false; !is_ended_;) {
    const auto now = parts_.clock.steady_now();
    if (!asked->answers.empty()) {
      BusMessage message = std::move(asked->answers.front());
      asked->answers.pop_front();
      std::string why = is_no_answer(*asked, message);
      if (why.empty()) co_return message;
      put_off(*asked, std::move(why));
    } else if (is_sent && now >= asked->deadline) {
      std::string why =
          asked->why.empty() ? asked->request.subject + " is not answered" : asked->why;
      if (!parts_.bus.is_connected()) why = "the bus at " + parts_.bus.url() + " cannot be reached";
      co_return core::Error{core::ErrorCode::kConnectionError, why, {}};
    } else if (now < asked->due) {
      asked->news = task::Latch(1);
      co_await asked->news.wait_for(parts_.timer, std::min(asked->due, asked->deadline) - now);
    } else if (!is_sent || (parts_.bus.is_connected() && asked->may_repeat())) {
      is_sent = true;
      if (auto sent = send(*asked); !sent) co_return sent.error();
    } else {
      asked->due = now + kJetAskAgain;
    }
  }
  co_return jet_stopping();
}

core::Result<void> JetRequests::send(PendingRequest& asked) {
  asked.is_taken = true;
  asked.due = parts_.clock.steady_now() + kJetAskAgain;
  auto sent = parts_.bus.publish(asked.request);
  if (sent || sent.error().code != core::ErrorCode::kConnectionError) return sent;
  put_off(asked, sent.error().message);
  return {};
}

void JetRequests::put_off(PendingRequest& asked, std::string why) const {
  asked.is_taken = false;
  asked.why = std::move(why);
  asked.due = parts_.clock.steady_now() + kJetNobodyThere;
}

std::string JetRequests::is_no_answer(const PendingRequest& asked,
                                      const BusMessage& message) const {
  if (message.is_no_responders)
    return "the broker at " + parts_.bus.url() + " has no JetStream for " + asked.request.subject +
           " (nats-server -js)";
  return is_not_ready(message.payload) ? refusal_error(*read_refusal(message.payload)).message
                                       : std::string();
}

void JetRequests::on_answer(std::uint64_t number, BusMessage message) {
  const auto found = asked_.find(number);
  if (found == asked_.end()) return;
  found->second.answers.push_back(std::move(message));
  found->second.news.count_down();
}

void JetRequests::ask_all_again() {
  for (auto& [number, asked] : asked_) {
    if (!asked.may_repeat()) continue;
    asked.due = {};
    asked.news.count_down();
  }
}

void JetRequests::end() {
  is_ended_ = true;
  for (auto& [number, asked] : asked_) asked.news.count_down();
}

task::Task<core::Result<void>> JetFetches::fetch(FetchRequest wanted) {
  if (is_ended_) co_return jet_stopping();
  wanted.batch = std::max(wanted.batch, 1);
  const std::uint64_t number = ++last_number_;
  BusMessage request{
      jet_subject("CONSUMER.MSG.NEXT." + wanted.stream + "." + wanted.consumer), {}, {}, {}, false};
  request.payload = fetch_request(wanted.batch, wanted.expires);
  request.reply = parts_.inbox + "f" + std::to_string(number);
  const auto limit = wanted.expires + kFetchSlack;
  Fetch made{std::move(wanted)};
  auto& fetch = open_.emplace(number, std::move(made)).first->second;
  if (auto published = parts_.bus.publish(request); !published) finish(fetch, published);
  if (!co_await fetch.ended.wait_for(parts_.timer, limit))
    finish(fetch, fetch_lost("a request for messages was not answered: the consumer or the broker "
                             "is gone"));
  auto result = *fetch.result;
  open_.erase(number);
  co_return result;
}

void JetFetches::finish(Fetch& fetch, core::Result<void> how) {
  if (fetch.result) return;
  fetch.result = std::move(how);
  fetch.ended.count_down();
}

void JetFetches::on_status(std::uint64_t number, const BusMessage& message) {
  const auto found = open_.find(number);
  if (found == open_.end()) return;
  if (message.is_no_responders)
    return finish(found->second, fetch_lost("the broker has no JetStream, or no such consumer"));
  std::string status(bus_header(message, "Status"));
  constexpr std::string_view kHeartbeat = "100";
  if (!status.empty() && status != kHeartbeat) finish(found->second, end_of(message, status));
}

void JetFetches::on_delivery(BusMessage message) {
  auto read = read_delivery(std::move(message));
  if (!read) return;
  const auto found = std::find_if(open_.begin(), open_.end(), [&](const auto& entry) {
    const FetchRequest& wanted = entry.second.wanted;
    return wanted.stream == read->stream && wanted.consumer == read->consumer &&
           !entry.second.result;
  });
  // Too late: the caller was told that the request is lost. The message is delivered again, or
  // shows as a gap.
  if (found == open_.end()) return;
  auto& fetch = found->second;
  fetch.wanted.on_message(std::move(read->delivery));
  if (--fetch.wanted.batch == 0) finish(fetch, {});
}

void JetFetches::on_lost() {
  for (auto& [number, fetch] : open_)
    finish(fetch, fetch_lost("the connection to the broker at " + parts_.bus.url() + " is lost"));
}

void JetFetches::end() {
  is_ended_ = true;
  for (auto& [number, fetch] : open_) finish(fetch, jet_stopping());
}

}  // namespace league::transport::bus
