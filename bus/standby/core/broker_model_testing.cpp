#include "bus/standby/core/broker_model_testing.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace league::league_manager::stream::testing {

Published BrokerModel::publish(const Publish& request) {
  using Status = Published::Status;
  const auto answer = [&](Status status, std::uint64_t sequence, const char* why) {
    return Published{request.incarnation, request.message.id, status, sequence, why};
  };
  auto found = streams_.find(request.incarnation);
  if (found == streams_.end()) {
    if (request.message.kind != MessageKind::kOpen)
      return answer(Status::kFailed, 0, "no responders");
    if (is_full_) return answer(Status::kFull, 0, "insufficient resources");
    found = streams_.emplace(request.incarnation, Stream{++created_, 1, {}, {}}).first;
  }
  Stream& stream = found->second;
  // The broker looks for repetitions first.
  if (const auto known = stream.ids.find(request.message.id); known != stream.ids.end())
    return answer(Status::kStored, known->second, "");
  const std::uint64_t last = stream.messages.size();
  if (request.expected_sequence && *request.expected_sequence != last)
    return answer(Status::kConflict, 0, "wrong last sequence");
  const core::Digest last_id = last == 0 ? core::Digest{} : stream.messages.back().id;
  const bool names_id = request.expects_id && request.message.previous != core::Digest{};
  if (names_id && request.message.previous != last_id)
    return answer(Status::kConflict, 0, "wrong last msg ID");
  if (is_full_) return answer(Status::kFull, 0, "maximum bytes exceeded");
  stream.messages.push_back(request.message);
  stream.ids.emplace(request.message.id, last + 1);
  return answer(Status::kStored, last + 1, "");
}

ReadDone BrokerModel::read(const Read& request) const {
  ReadDone done{request.incarnation, request.sequence, std::nullopt};
  const auto found = streams_.find(request.incarnation);
  if (found != streams_.end() && request.sequence >= found->second.first &&
      request.sequence <= found->second.messages.size())
    done.message = found->second.messages[request.sequence - 1];
  return done;
}

std::vector<StreamInfo> BrokerModel::streams() const {
  std::vector<StreamInfo> all;
  for (const auto& [incarnation, stream] : streams_)
    all.push_back({incarnation, stream.created, stream.first, stream.messages.size(),
                   stream.messages.size() + 1 - stream.first});
  return all;
}

const std::vector<Message>* BrokerModel::messages(std::uint64_t incarnation) const {
  const auto found = streams_.find(incarnation);
  return found == streams_.end() ? nullptr : &found->second.messages;
}

std::uint64_t BrokerModel::first(std::uint64_t incarnation) const {
  return streams_.at(incarnation).first;
}

void BrokerModel::purge() {
  if (!streams_.empty())
    streams_.rbegin()->second.first = streams_.rbegin()->second.messages.size() + 1;
}

void BrokerModel::remove() {
  if (!streams_.empty()) streams_.erase(std::prev(streams_.end()));
}

void BrokerModel::shorten(std::uint64_t messages) {
  if (streams_.empty()) return;
  Stream& stream = streams_.rbegin()->second;
  stream.messages.resize(std::max<std::uint64_t>(
      1, stream.messages.size() - std::min<std::uint64_t>(messages, stream.messages.size())));
  stream.first = std::min<std::uint64_t>(stream.first, stream.messages.size());
  std::erase_if(stream.ids, [&](const auto& id) { return id.second > stream.messages.size(); });
}

void BrokerModel::replace(std::uint64_t messages) {
  if (streams_.empty()) return;
  Stream stream{++created_, 1, {}, {}};
  for (std::uint64_t i = 0; i < messages; ++i) {
    Message message{.kind = i == 0 ? MessageKind::kOpen : MessageKind::kEntries,
                    .writer = "stranger",
                    .term = 1};
    if (i == 2) message.kind = MessageKind::kAffirm;
    if (message.kind == MessageKind::kEntries) {
      message.first = message.last = i == 1 ? 1 : i - 1;
      message.records = {{"END", "of a stranger " + std::to_string(created_)}};
    }
    message.previous = i == 0 ? core::Digest{} : stream.messages.back().id;
    message.id = message_id(message);
    stream.ids.emplace(message.id, i + 1);
    stream.messages.push_back(std::move(message));
  }
  streams_.rbegin()->second = std::move(stream);
}

}  // namespace league::league_manager::stream::testing
