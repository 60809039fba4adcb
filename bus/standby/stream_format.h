#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bus/standby/core/effects.h"
#include "bus/transport/jet_stream.h"
#include "common/core/result.h"

namespace league::league_manager::stream {

/// The messages of a league's managers as others find them at the broker. Pure, so safe from any
/// thread. Source: docs/replication.md.

/// For the stream `incarnation` of the league; its `id` is the header Nats-Msg-Id. What is longer
/// than a few records is compressed.
[[nodiscard]] transport::bus::BusMessage write_message(const std::string& league,
                                                       std::uint64_t incarnation,
                                                       const Message& message);
/// Fails with kInvalidReply for any other message.
[[nodiscard]] core::Result<Message> read_message(const transport::bus::BusMessage& message);

[[nodiscard]] std::string write_heartbeat(const Heartbeat& heartbeat);
/// Fails with kInvalidReply for any other text.
[[nodiscard]] core::Result<Heartbeat> read_heartbeat(std::string_view payload);

/// Its messages never expire and nobody can remove them. A full stream refuses new ones, since
/// without its beginning a journal is useless. `max_bytes`: -1 for no limit.
[[nodiscard]] transport::bus::StreamConfig stream_config(const std::string& league,
                                                         std::uint64_t incarnation, int replicas,
                                                         std::int64_t max_bytes);

}  // namespace league::league_manager::stream
