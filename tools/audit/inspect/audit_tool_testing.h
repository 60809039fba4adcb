#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/audit/log/log_file.h"
#include "common/audit/record/record_writer.h"
#include "common/envelope/leniency.h"
#include "common/rpc/dialect_search.h"
#include "tests/support/temporary_directory.h"
#include "tools/audit/inspect/audit_commands.h"
#include "tools/audit/inspect/audit_text.h"

namespace league::tools::auditor {

using nlohmann::json;

/// Writes logs of a match that P01 lost: it sent a bad choice, then nothing.
class AuditToolTest : public ::testing::Test {
 protected:
  AuditToolTest() {
    std::filesystem::create_directories(directory_ / "logs" / "agents");
    begin(referee_, "referee:REF01");
    begin(player_, "player:P01");
  }

  static void begin(std::string& log, const std::string& agent) {
    audit::record::append_header(
        {.agent = agent, .league_id = "l", .created = {}, .segment = 1, .first_seq = 1}, log);
  }

  audit::record::Record record(audit::record::Direction direction, audit::record::Kind kind,
                               const std::string& peer, const std::string& type,
                               const json& message) {
    audit::record::Record made;
    made.direction = direction;
    made.kind = kind;
    now_ += std::chrono::milliseconds(1);
    made.time =
        core::UtcTimestamp(core::UtcTimestamp::TimePoint(std::chrono::seconds(1736937000)) + now_);
    made.mono = core::Clock::Steady(now_);
    made.context.type = rpc::TransportType::kHttp;
    if (kind != audit::record::Kind::kRequest) made.elapsed = std::chrono::microseconds(700);
    made.notes.peer = peer;
    made.notes.message_type = type;
    made.notes.conversation_id = "convr1m1001";
    made.notes.match_id = "R1M1";
    if (!message.is_null()) {
      json frame = {{"jsonrpc", "2.0"},
                    {"id", now_.count()},
                    {kind == audit::record::Kind::kRequest ? "params" : "result", message}};
      made.body = frame.dump();
    }
    return made;
  }

  void add(std::string& log, const audit::record::Record& made) {
    writer_.append(made, ++seq_, log);
  }

  void lost_match() {
    using enum audit::record::Direction;
    using enum audit::record::Kind;
    auto call = record(kOut, kRequest, "player:P01", "CHOOSE_PARITY_CALL",
                       {{"deadline", "2025-01-15T10:30:30Z"}});
    add(referee_, call);
    call.direction = kIn;
    call.notes.peer = "referee:REF01";
    add(player_, call);
    auto answer =
        record(kOut, kReply, "referee:REF01", "CHOOSE_PARITY_RESPONSE", {{"choice", "Even"}});
    add(player_, answer);
    answer.direction = kIn;
    answer.notes.peer = "player:P01";
    answer.notes.verdict = core::ErrorCode::kInvalidParityChoice;
    answer.notes.fault = "parity_choice is \"Even\"; send even or odd";
    answer.notes.leniencies = {"choice_field"};
    add(referee_, answer);
    add(referee_, record(kOut, kRequest, "player:P01", "CHOOSE_PARITY_CALL",
                         {{"deadline", "2025-01-15T10:31:00Z"}}));
    auto failure = record(kIn, kFailure, "player:P01", "", nullptr);
    failure.elapsed = std::chrono::seconds(30);
    failure.notes.verdict = core::ErrorCode::kTimeout;
    failure.notes.fault = "no answer within 30 s";
    add(referee_, failure);
    add(referee_, record(kOut, kRequest, "player:P01", "GAME_OVER",
                         {{"game_result",
                           {{"status", "TECHNICAL_LOSS"},
                            {"winner_player_id", "P02"},
                            {"reason", "P01 did not answer"}}}}));
    add(referee_, record(kIn, kReply, "player:P01", "", {{"status", "ok"}}));
  }

  std::string log_with_a_stranger();

  void save() {
    std::ofstream(*audit::log::agent_log_path(directory_ / "logs", "REF01")) << referee_;
    std::ofstream(*audit::log::agent_log_path(directory_ / "logs", "P01")) << player_;
  }

  const league::testing::TemporaryDirectory temporary_;
  std::filesystem::path directory_ = temporary_.path();
  std::chrono::microseconds now_{0};
  std::uint64_t seq_ = 0;
  std::uint64_t call_ = 0;
  audit::record::RecordWriter writer_;
  std::string referee_;
  std::string player_;
  std::ostringstream out_;
  std::ostringstream err_;
};

}  // namespace league::tools::auditor
