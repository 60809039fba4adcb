#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/audit/log/audit_log.h"
#include "common/audit/record/record.h"

namespace league::testing {

/// One league message (or tool call) as one agent sent or received it.
struct Spoken {
  std::string agent;  ///< whose log it stands in: `league_manager`, `P01`
  audit::record::Direction direction = audit::record::Direction::kIn;
  audit::record::Kind kind = audit::record::Kind::kRequest;
  std::string peer;
  std::string said_by;  ///< whose token, credential or signature was checked; empty: nobody's
  std::string type;  ///< wire name; the method of a tool; empty for an acknowledgement
  std::string conversation_id;
  nlohmann::json message;  ///< params or result; null where the bytes are no JSON-RPC
  std::vector<std::string_view> leniencies;
  std::optional<core::ErrorCode> verdict;
  core::Clock::Steady at;

  [[nodiscard]] bool is(audit::record::Direction d, audit::record::Kind k,
                        std::string_view t) const {
    return direction == d && kind == k && type == t;
  }
};

/// The conversation logs of all agents of a test in one order. Thread-safe.
class Recording {
 public:
  void append(const std::string& agent, audit::record::Record record);
  /// Everything that was logged, in the order in which it was.
  [[nodiscard]] std::vector<Spoken> all() const;
  /// The log of one agent.
  [[nodiscard]] std::vector<Spoken> of(const std::string& agent) const;

 private:
  struct Entry {
    std::string agent;
    audit::record::Record record;
  };
  [[nodiscard]] static Spoken read(const Entry& entry);

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

/// The log of one agent, kept in a Recording, which outlives it, and in `file` unless that is null.
class RecordingSink final : public audit::record::RecordSink {
 public:
  RecordingSink(Recording& recording, std::string agent, std::unique_ptr<audit::log::AuditLog> file)
      : recording_(recording), agent_(std::move(agent)), file_(std::move(file)) {}
  /// Shows each record to `reader` first. Set it before there are any.
  void show_to(std::function<void(const audit::record::Record&)> reader) {
    reader_ = std::move(reader);
  }
  void append(audit::record::Record record) override {
    if (reader_) reader_(record);
    if (file_) file_->append(record);
    recording_.append(agent_, std::move(record));
  }
  [[nodiscard]] audit::log::AuditLog* file() const { return file_.get(); }

 private:
  Recording& recording_;
  const std::string agent_;
  const std::unique_ptr<audit::log::AuditLog> file_;
  std::function<void(const audit::record::Record&)> reader_;
};

}  // namespace league::testing
