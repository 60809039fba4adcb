#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bus/transport/jet_stream.h"
#include "common/core/result.h"

namespace league::transport::bus {

/// The contents of requests to JetStream and of its answers. Pure, so safe from any thread. Source:
/// NATS' API of JetStream, 2.9.

/// The subject of the API request `what`: `$JS.API.` followed by `what`.
[[nodiscard]] std::string jet_subject(std::string_view what);
/// Fails with kInvalidFieldValue for an invalid name of a stream or a consumer: the name becomes a
/// part of subjects.
[[nodiscard]] core::Result<void> check_jet_name(std::string_view name);

/// Whether messages of a stream may be read directly, that is, from any broker that has a replica.
/// With several, one that is behind would answer with what is no longer true, so then only the
/// stream's leader is asked (STREAM.MSG.GET).
[[nodiscard]] bool allows_direct(int replicas);
[[nodiscard]] std::string stream_request(const StreamConfig& config);
/// `name` is the consumer's, durable or not.
[[nodiscard]] std::string consumer_request(const std::string& stream, const std::string& name,
                                           const ConsumerConfig& config);
[[nodiscard]] std::string fetch_request(int batch, std::chrono::milliseconds expires);

/// A refusal in the broker's words.
struct JetRefusal {
  int code = 0;  ///< as of HTTP
  int number = 0;  ///< JetStream's own
  std::string description;
};
/// The error codes that need a special reaction.
inline constexpr int kNoMessageFound = 10037;
inline constexpr int kStreamNameInUse = 10058;
inline constexpr int kStreamNotFound = 10059;
inline constexpr int kWrongLastId = 10070;
inline constexpr int kWrongLastSequence = 10071;
inline constexpr int kWrongLastSequenceToo = 10164;  ///< of later brokers

/// Nothing if the answer is not a refusal.
[[nodiscard]] std::optional<JetRefusal> read_refusal(std::string_view answer);
/// The stream, the account or the broker has no room left.
[[nodiscard]] bool is_refused_for_room(const JetRefusal& refusal);
[[nodiscard]] core::Error refusal_error(const JetRefusal& refusal);
/// The broker has JetStream, but not yet, or not at the moment.
[[nodiscard]] bool is_not_ready(std::string_view answer);

/// Each fails with kInvalidReply for any other answer.
[[nodiscard]] core::Result<StreamState> read_stream_state(std::string_view answer);
[[nodiscard]] core::Result<std::vector<StreamListing>> read_stream_list(std::string_view answer);
[[nodiscard]] core::Result<StoredMessage> read_stored_message(std::string_view answer);
/// The answer to DIRECT.GET; nothing if there is no such message.
[[nodiscard]] core::Result<std::optional<StoredMessage>> read_direct_message(BusMessage answer);
/// What is stored or refused.
[[nodiscard]] PublishAck read_publish_ack(std::string_view answer);

/// A delivered message and the consumer that it belongs to.
struct JetDelivery {
  std::string stream;
  std::string consumer;
  StreamDelivery delivery;
};
/// Nothing if the `reply` subject shows that no consumer has delivered the message.
[[nodiscard]] std::optional<JetDelivery> read_delivery(BusMessage message);

}  // namespace league::transport::bus
