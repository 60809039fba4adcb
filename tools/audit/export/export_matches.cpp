#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/audit/log/log_reader.h"
#include "common/core/crypto.h"
#include "common/rpc/json_object.h"
#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"
#include "tools/audit/export/export_source.h"
#include "tools/audit/inspect/audit_text.h"

namespace league::tools::auditor {
namespace {

namespace lm = league_manager;
using nlohmann::json;
using referee::files::MatchRecord;
using rpc::JsonObject;

constexpr std::string_view kMadeBy = "league export";

referee::files::MatchRecordHead head_of(const lm::files::LeagueBook& book,
                                        const lm::MatchView& view) {
  return {
      .league_id = book.league().settings().league_id,
      .league_key = book.league().settings().league_key,
      .round_id = view.match.round,
      .match_id = view.match.id(),
      .game_type = book.league().settings().rules->game_type(),
      .attempt = view.attempt,
      .referee_id =
          view.referee < 0 ? std::string() : lm::events::AgentRef::referee(view.referee).id(),
      .player_a_id = player_id_of(view.pairing.player_a),
      .player_b_id = player_id_of(view.pairing.player_b),
      .draw_commitment = game::draw_commitment(book.note(view.match).seed, view.match.id().str())};
}

/// The result in the journal, in the form of MATCH_RESULT_REPORT.
std::string result_from_journal(const lm::files::LeagueBook& book, const lm::MatchView& view) {
  const lm::events::CompactResult& result = *view.result;
  const auto& note = book.note(view.match);
  std::string a = player_id_of(view.pairing.player_a);
  std::string b = player_id_of(view.pairing.player_b);
  const auto winner = game::winner_of(result.outcome);
  const auto choices = book.choices(view.match);
  std::string out;
  JsonObject object(out);
  object.optional_text("winner", !winner ? "" : *winner == game::Side::kA ? a : b);
  object.name("score");
  JsonObject(out)
      .number(a, int{result.points[game::Side::kA]})
      .number(b, int{result.points[game::Side::kB]})
      .end();
  object.name("details");
  JsonObject details(out);
  details.number("attempt", view.attempt);
  details.name("choices");
  JsonObject(out)
      .optional_text(a, choices[game::Side::kA])
      .optional_text(b, choices[game::Side::kB])
      .end();
  details.raw("drawn_number",
              result.drawn_number > 0 ? std::to_string(result.drawn_number) : "null");
  if (!result.by_manager) details.text("draw_proof", core::to_hex(note.seed));
  details.text("termination", note.technical_reason.empty() ? "NORMAL" : note.technical_reason)
      .end();
  object.end();
  return out;
}

/// Reads referees' logs into the records of the attempts that count.
class TranscriptReader {
 public:
  explicit TranscriptReader(ExportedLeague& league) {
    for (auto& [match, record] : league.matches) {
      records_[lm::events::match_conversation(match, record->head().attempt).str()] = record.get();
    }
  }

  void read(const audit::log::LogEntry& entry) {
    constexpr std::string_view kReferee = "referee:";
    if (!entry.agent.starts_with(kReferee)) return;
    auto record = records_.find(entry.conversation_id);
    if (record == records_.end()) return;
    std::string referee = entry.agent.substr(kReferee.size());
    if (referee != record->second->head().referee_id) return;
    std::string peer = entry.peer.substr(entry.peer.find(':') + 1);
    if (entry.outbound && entry.kind == "request") {
      on_request(*record->second, entry, referee, peer);
    } else if (!entry.outbound && entry.kind != "request") {
      on_answer(*record->second, entry, referee, peer);
    }
  }

 private:
  struct Request {
    std::string type;
    std::int64_t mono_ns;
  };

  void on_request(MatchRecord& record, const audit::log::LogEntry& entry,
                  const std::string& referee, const std::string& peer) {
    requests_[entry.conversation_id + " " + peer].push_back({entry.message_type, entry.mono_ns});
    record.add({.at = entry.time, .from = referee, .to = peer, .message_type = entry.message_type});
    if (entry.message_type == "GAME_INVITATION") record.enter("WAITING_FOR_PLAYERS", entry.time);
    if (entry.message_type == "CHOOSE_PARITY_CALL") record.enter("COLLECTING_CHOICES", entry.time);
    if (entry.message_type != "MATCH_RESULT_REPORT") return;
    record.enter("DRAWING_NUMBER", entry.time);
    json message = message_of(entry);
    if (message.is_object() && message.contains("result"))
      record.set_result(rpc::to_json_text(message["result"]));
  }

  /// Finds and removes the request that was sent `elapsed_us` before this answer.
  std::string take_request(const audit::log::LogEntry& entry, const std::string& peer) {
    auto& open = requests_[entry.conversation_id + " " + peer];
    auto nearest = std::ranges::min_element(
        open, {}, [&](const Request& one) { return entry.ns_from_request(one.mono_ns); });
    if (nearest == open.end()) return {};
    std::string type = nearest->type;
    open.erase(nearest);
    return type;
  }

  void on_answer(MatchRecord& record, const audit::log::LogEntry& entry, const std::string& referee,
                 const std::string& peer) {
    std::string type = take_request(entry, peer);
    referee::files::TranscriptLine line{
        .at = entry.time, .from = peer, .to = referee, .message_type = {}};
    if (type == "GAME_INVITATION") line.message_type = "GAME_JOIN_ACK";
    if (type == "CHOOSE_PARITY_CALL") line.message_type = "CHOOSE_PARITY_RESPONSE";
    if (type == "MATCH_RESULT_REPORT") line.message_type = "MATCH_RESULT_REPORT";
    if (line.message_type.empty()) return;  // a notification, which is not answered
    line.error_code = entry.verdict;
    line.error = entry.fault;
    if (entry.verdict.empty()) {
      json message = message_of(entry);
      if (message.is_object()) {
        if (auto it = message.find("accept"); it != message.end() && it->is_boolean())
          line.accept = it->get<bool>();
        line.choice_commitment = schema::text_at(message, "choice_commitment");
        line.parity_choice = schema::text_at(message, "parity_choice");
        line.choice_nonce = schema::text_at(message, "choice_nonce");
      }
    }
    record.add(std::move(line));
    if (type == "MATCH_RESULT_REPORT" && entry.verdict.empty())
      record.enter("FINISHED", entry.time);
  }

  std::map<std::string, MatchRecord*> records_;  // by conversation
  std::map<std::string, std::vector<Request>> requests_;  // by conversation and peer
};

}  // namespace

void read_matches(const std::filesystem::path& logs, ExportedLeague& league) {
  const lm::files::LeagueBook& book = league.book;
  for (const auto& view :
       book.league().schedule_page(0, book.league().schedule().total_matches())) {
    if (view.match.round > static_cast<int>(book.rounds().size())) break;
    if (view.attempt == 0 && !view.result) continue;
    auto record = std::make_unique<MatchRecord>(head_of(book, view), kMadeBy);
    if (view.result) record->set_result(result_from_journal(book, view));
    league.matches.emplace(view.match, std::move(record));
  }
  if (logs.empty()) return;
  TranscriptReader reader(league);
  for (const auto& path : audit::log::find_logs(logs)) {
    if (!path.filename().string().starts_with("REF")) continue;
    auto read =
        audit::log::read_log(path, [&](const audit::log::LogEntry& entry) { reader.read(entry); });
    if (!read) league.notes.push_back(read.error().message);
  }
  for (auto& [match, record] : league.matches) {
    record->sort_transcript();  // logs record an answer only after it was handled
    auto view = book.league().match(match);
    if (view && view->result) record->enter("FINISHED", book.note(match).finished_at);
  }
}

}  // namespace league::tools::auditor
