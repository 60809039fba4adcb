#include "common/transport/bus/jet_fetches.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/transport/bus/jet_stream_api.h"

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

void JetFetches::fetch(FetchRequest wanted) {
  wanted.batch = std::max(wanted.batch, 1);
  BusMessage request{
      jet_subject("CONSUMER.MSG.NEXT." + wanted.stream + "." + wanted.consumer), {}, {}, {}, false};
  request.payload = fetch_request(wanted.batch, wanted.expires);
  std::uint64_t number = 0;
  {
    std::lock_guard lock(mutex_);
    if (!is_ended_) {
      number = ++last_number_;
      request.reply = parts_.inbox + "f" + std::to_string(number);
      auto until = wanted.expires + kFetchSlack;
      auto& made = open_.emplace(number, Fetch{std::move(wanted), 0}).first->second;
      made.due = parts_.timer.schedule(until, [weak = weak_from_this(), number] {
        if (auto self = weak.lock())
          self->finish(number,
                       fetch_lost("a request for messages was not answered: the consumer or "
                                  "the broker is gone"));
      });
    }
  }
  if (number == 0) {
    // NOLINTNEXTLINE(bugprone-use-after-move): without a number it was not moved
    return wanted.on_end(jet_stopping());
  }
  auto published = parts_.bus.publish(request);
  if (published) return;
  // Scheduled, because the caller does not expect the completion before this returns.
  parts_.timer.schedule(0ns, [weak = weak_from_this(), number, error = published.error()] {
    if (auto self = weak.lock()) self->finish(number, error);
  });
}

void JetFetches::finish(std::uint64_t number, const core::Result<void>& how) {
  parts_.gate->run([this, self = shared_from_this(), number, &how] {
    FetchRequest wanted;
    {
      std::lock_guard lock(mutex_);
      auto found = open_.find(number);
      if (found == open_.end()) return;
      parts_.timer.cancel(found->second.due);
      wanted = std::move(found->second.wanted);
      open_.erase(found);
    }
    wanted.on_end(how);
  });
}

void JetFetches::on_status(std::uint64_t number, const BusMessage& message) {
  if (message.is_no_responders)
    return finish(number, fetch_lost("the broker has no JetStream, or no such consumer"));
  std::string status(bus_header(message, "Status"));
  constexpr std::string_view kHeartbeat = "100";
  if (status.empty() || status == kHeartbeat) return;
  finish(number, end_of(message, status));
}

std::map<std::uint64_t, JetFetches::Fetch>::iterator JetFetches::find(const std::string& stream,
                                                                      const std::string& consumer) {
  return std::find_if(open_.begin(), open_.end(), [&](const auto& entry) {
    const FetchRequest& wanted = entry.second.wanted;
    return wanted.stream == stream && wanted.consumer == consumer && wanted.batch > 0;
  });
}

void JetFetches::on_delivery(BusMessage message) {
  auto read = read_delivery(std::move(message));
  if (!read) return;
  parts_.gate->run([this, self = shared_from_this(), &read] {
    std::function<void(StreamDelivery)> on_message;
    std::uint64_t finished = 0;
    {
      std::lock_guard lock(mutex_);
      auto found = find(read->stream, read->consumer);
      // Too late: the caller was told that the request is lost. The message is delivered again, or
      // shows as a gap.
      if (found == open_.end()) return;
      auto& wanted = found->second.wanted;
      on_message = wanted.on_message;
      if (--wanted.batch == 0) finished = found->first;
    }
    on_message(std::move(read->delivery));
    if (finished != 0) finish(finished, {});
  });
}

void JetFetches::on_lost() {
  std::vector<std::uint64_t> numbers;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [number, fetch] : open_) numbers.push_back(number);
  }
  for (auto number : numbers)
    finish(number, fetch_lost("the connection to the broker at " + parts_.bus.url() + " is lost"));
}

void JetFetches::end() {
  std::map<std::uint64_t, Fetch> open;
  {
    std::lock_guard lock(mutex_);
    is_ended_ = true;
    open.swap(open_);
  }
  for (auto& [number, fetch] : open) {
    parts_.timer.cancel(fetch.due);
    fetch.wanted.on_end(jet_stopping());
  }
}

}  // namespace league::transport::bus
