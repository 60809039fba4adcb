#include "tools/audit/facts/open_calls.h"

#include <utility>

#include "common/envelope/message_type.h"
#include "tools/audit/facts/reading.h"

namespace league::tools::auditor {
namespace {

using nlohmann::json;

/// The key of a record with the number of its call; empty if it has none.
std::string number_key(const Record& record, std::size_t run) {
  return record.call ? std::to_string(run) + ":" + std::to_string(*record.call) : std::string();
}

/// The key of a record without a number. `direction`: of the request.
std::string text_key(const Record& record, const char* direction, std::string_view type) {
  std::string key = std::string(direction) + "|" + record.conversation_id + "|" + std::string(type);
  // Both players of a match share its conversation, so the peer is needed there; in a registration
  // it cannot be used, since the answer changes the agent's name.
  bool is_of_game = type == "GAME_INVITATION" || type == "CHOOSE_PARITY_CALL";
  return is_of_game ? key + "|" + record.peer : key;
}

/// The requests that a message of `type` may answer, in the words of the wire.
std::vector<std::string_view> requests_for(const std::string& type) {
  std::vector<std::string_view> found;
  for (const auto& spec : envelope::all_messages()) {
    if (spec.reply && envelope::wire_name(*spec.reply) == type) found.push_back(spec.wire_name);
  }
  // The answer to a report is an acknowledgement, without a type or with that of the report.
  if (found.empty()) found.push_back("MATCH_RESULT_REPORT");
  if (type == "GAME_ERROR" || type == "LEAGUE_ERROR" || type.empty()) {
    found.push_back("CHOOSE_PARITY_CALL");
    found.push_back("GAME_INVITATION");
  }
  return found;
}

}  // namespace

void OpenCalls::open(const Record& record, std::size_t run, OpenCall call) {
  std::string key = number_key(record, run);
  if (key.empty()) key = text_key(record, !record.is_out ? "in" : "out", call.type);
  calls_[std::move(key)] = std::move(call);
}

OpenCalls::Calls::const_iterator OpenCalls::search(const Record& record, std::size_t run,
                                                   const std::string& type) const {
  if (std::string key = number_key(record, run); !key.empty()) return calls_.find(key);
  const char* direction = !record.is_out ? "out" : "in";
  for (std::string_view request : requests_for(type)) {
    auto found = calls_.find(text_key(record, direction, request));
    if (found != calls_.end()) return found;
  }
  return calls_.end();
}

const OpenCall* OpenCalls::find(const Record& record, std::size_t run,
                                const std::string& type) const {
  auto found = search(record, run, type);
  return found == calls_.end() ? nullptr : &found->second;
}

std::optional<OpenCall> OpenCalls::close(const Record& record, std::size_t run,
                                         const std::string& type) {
  auto found = search(record, run, type);
  if (found == calls_.end()) return std::nullopt;
  auto node = calls_.extract(found);
  return std::move(node.mapped());
}

std::string reply_type_of(const std::string& type) {
  auto known = envelope::message_type_from_wire(type);
  if (!known) return {};
  auto reply = envelope::spec(*known).reply;
  return reply ? std::string(envelope::wire_name(*reply)) : std::string();
}

}  // namespace league::tools::auditor
