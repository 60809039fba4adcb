#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "bus/standby/core/effects.h"
#include "bus/transport/jet_stream.h"
#include "common/core/random_source.h"
#include "common/core/result.h"

namespace league::league_manager::stream {

// The messages of a league's managers as others find them at the broker. Pure, so safe from any
// thread. Source: docs/replication.md.

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

/// What a manager of several must know after a restart, beside its journal: its own name and
/// Knowledge. A copy of the file in another directory gets another name, since no two managers may
/// have the same. Not thread-safe.
class ReplicationFile {
 public:
  /// Reads the file, or begins one. Fails if it cannot be read or is damaged, with the remedy.
  [[nodiscard]] static core::Result<ReplicationFile> open(std::filesystem::path file,
                                                          core::RandomSource& random);

  /// `HOST-4f2a`, readable for operators.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// As of the beginning.
  [[nodiscard]] const Knowledge& knowledge() const { return knowledge_; }
  /// Durable when this returns.
  [[nodiscard]] core::Result<void> write(const Knowledge& knowledge) const;

 private:
  std::filesystem::path file_;
  std::string name_;
  Knowledge knowledge_;
};

}  // namespace league::league_manager::stream
