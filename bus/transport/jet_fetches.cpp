#include "bus/transport/jet_fetches.h"

#include <algorithm>
#include <utility>

#include "bus/transport/jet_stream_api.h"

namespace league::transport::bus {
namespace {

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
