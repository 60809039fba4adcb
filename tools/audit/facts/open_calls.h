#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tools/audit/facts/facts.h"
#include "tools/audit/facts/record.h"

namespace league::tools::auditor {

/// A request that waits for its answer.
struct OpenCall {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::string type;  ///< message type
  std::string conversation;
  std::string match_id;
  bool is_accepted = false;  ///< not refused, and its token was valid
  nlohmann::json message;  ///< kept only if the answer to the request makes it a fact
  std::string peer;
  std::uint64_t body = 0;  ///< the first half of its digest; 0: unknown
  std::int64_t time_us = 0;
  bool is_out = false;
  std::size_t game_call = kNone;  ///< place in LogFacts::calls
  LogPosition place;
};

/// Matches answers with their requests: by the number `call` of the record; in older logs, which
/// lack it, by conversation and type. Not thread-safe.
class OpenCalls {
 public:
  void open(const Record& record, std::size_t run, OpenCall call);
  /// The request that the reply or failure `record`, whose message is of `type`, answers; removes
  /// it.
  [[nodiscard]] std::optional<OpenCall> close(const Record& record, std::size_t run,
                                              const std::string& type);

  /// The request that `close` would return, without removing it; null if there is none.
  [[nodiscard]] const OpenCall* find(const Record& record, std::size_t run,
                                     const std::string& type) const;

 private:
  using Calls = std::map<std::string, OpenCall>;
  [[nodiscard]] Calls::const_iterator search(const Record& record, std::size_t run,
                                             const std::string& type) const;

  Calls calls_;
};

/// The type of the message that answers a request of `type`; empty for an acknowledgement.
[[nodiscard]] std::string reply_type_of(const std::string& type);

}  // namespace league::tools::auditor
