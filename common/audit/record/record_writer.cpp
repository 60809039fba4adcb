#include "common/audit/record/record_writer.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "common/audit/record/context_text.h"
#include "common/audit/record/masking.h"
#include "common/core/base64.h"
#include "common/core/crypto.h"
#include "common/core/error_code.h"
#include "common/core/text.h"
#include "common/schema/json_string.h"
#include "common/schema/parse_json.h"

namespace league::audit::record {
namespace {

/// `key` comes with its comma, quotes and colon.
void append_text(std::string_view key, std::string_view value, std::string& out) {
  if (value.empty()) return;
  out.append(key);
  schema::append_utf8_json_string(out, schema::is_utf8(value) ? value : "?");
}

/// Text from the other side may contain a token, and is masked like the body. Nearly none does: it
/// is searched only if it contains one of `signs`.
void append_foreign(std::string_view key, std::string_view value, std::string_view signs,
                    std::string& out) {
  if (value.find_first_of(signs) == value.npos) return append_text(key, value, out);
  append_text(key, mask_secrets(value), out);
}

void append_leniencies(const std::vector<std::string_view>& names, std::string& out) {
  if (names.empty()) return;
  out.append(",\"leniencies\":[");
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += ',';
    schema::append_utf8_json_string(out, names[i]);
  }
  out += ']';
}

void append_way(const Record& record, std::string& out) {
  std::size_t begin = out.size();
  out.append(",\"context\":");
  std::size_t value = out.size();
  append_context(record.context, record.session, out);
  if (out.size() == value) out.resize(begin);
}

// Bodies of several kilobytes that differ in a few bytes: whole pieces are compared as such.
constexpr std::size_t kPiece = 64;

std::size_t common_prefix(std::string_view a, std::string_view b) {
  std::size_t most = std::min(a.size(), b.size());
  std::size_t done = 0;
  while (done + kPiece <= most && std::memcmp(a.data() + done, b.data() + done, kPiece) == 0)
    done += kPiece;
  while (done < most && a[done] == b[done]) ++done;
  return done;
}

std::size_t common_suffix(std::string_view a, std::string_view b) {
  std::size_t most = std::min(a.size(), b.size());
  const char* a_end = a.data() + a.size();
  const char* b_end = b.data() + b.size();
  std::size_t done = 0;
  while (done + kPiece <= most &&
         std::memcmp(a_end - done - kPiece, b_end - done - kPiece, kPiece) == 0)
    done += kPiece;
  while (done < most && *(a_end - done - 1) == *(b_end - done - 1)) ++done;
  return done;
}

}  // namespace

void append_header(const LogHeader& header, std::string& out) {
  RecordWriter().append_header(header, out);
}

void RecordWriter::append_header(const LogHeader& header, std::string& out) {
  std::size_t begin = out.size();
  out.append("{\"format\":\"").append(kLogFormat).append("\",\"version\":");
  core::append_number(out, kLogVersion);
  append_text(",\"agent\":", header.agent, out);
  append_text(",\"league_id\":", header.league_id, out);
  append_text(",\"league_key\":", header.league_key, out);
  append_text(",\"created\":", header.created.to_log(), out);
  out.append(",\"segment\":");
  core::append_number(out, header.segment);
  out.append(",\"first_seq\":");
  core::append_number(out, header.first_seq);
  append_text(",\"public_key\":", header.public_key, out);
  if (header.seal_interval.count() > 0) {
    out.append(",\"seal_interval_ms\":");
    core::append_number(out, header.seal_interval.count());
  }
  append_text(",\"continues\":", header.continues, out);
  if (header.starts) out.append(",\"starts\":true");
  end_line(begin, out);
}

void RecordWriter::append_seal(const Seal& seal, std::string& out) {
  std::size_t begin = out.size();
  out.append("{\"seal\":");
  core::append_number(out, seal.seq);
  append_text(",\"time\":", seal.time.to_log(), out);
  if (seal.closed) out.append(",\"closed\":true");
  append_text(",\"signature\":", seal.signature, out);
  end_line(begin, out);
}

void RecordWriter::end_line(std::size_t begin, std::string& out) {
  if (options_.chained) {
    chain_.close_line(begin, out);
  } else {
    out.append("}\n");
  }
}

void RecordWriter::append(const Record& record, std::uint64_t seq, std::string& out) {
  std::size_t begin = out.size();
  if (record.kind == Kind::kNote) {
    append_note(record, out);
    return end_line(begin, out);
  }
  append_facts(record, seq, out);
  if (!record.body.empty()) append_body(record, seq, out);
  end_line(begin, out);
}

void RecordWriter::append_note(const Record& note, std::string& out) {
  out.append("{\"note\":");
  schema::append_json_string(out, note.notes.message_type);
  append_text(",\"time\":", note.time.to_log(), out);
  out.append(",\"mono_ns\":");
  core::append_number(out, note.mono.time_since_epoch().count());
  out.append(",\"content\":").append(note.body.empty() ? "{}" : std::string_view(note.body));
}

void RecordWriter::append_facts(const Record& record, std::uint64_t seq, std::string& out) {
  const rpc::MessageNotes& notes = record.notes;
  out.append("{\"seq\":");
  core::append_number(out, seq);
  out.append(",\"time\":\"");
  record.time.append_log(out);
  out.append("\",\"mono_ns\":");
  core::append_number(out, record.mono.time_since_epoch().count());
  out.append(",\"dir\":\"").append(direction_name(record.direction));
  out.append("\",\"kind\":\"").append(kind_name(record.kind)) += '"';
  if (record.call != 0) {
    out.append(",\"call\":");
    core::append_number(out, record.call);
  }
  append_foreign(",\"peer\":", notes.peer, "_", out);
  append_foreign(",\"said_by\":", notes.said_by, "_", out);
  if (!notes.via.empty()) append_text(",\"via\":", notes.via, out);
  append_text(",\"transport\":", rpc::to_string(record.context.type), out);
  append_way(record, out);
  // The body of a message with a longer one is cut before it.
  if (notes.conversation_id.size() <= options_.max_body)
    append_foreign(",\"conversation_id\":", notes.conversation_id, "_=:", out);
  append_text(",\"message_type\":", notes.message_type, out);
  append_foreign(",\"match_id\":", notes.match_id, "_=:", out);
  if (record.http_status != 0) {
    out.append(",\"http_status\":");
    core::append_number(out, record.http_status);
  }
  if (record.elapsed) {
    out.append(",\"elapsed_us\":");
    core::append_number(
        out, std::chrono::duration_cast<std::chrono::microseconds>(*record.elapsed).count());
  }
  append_leniencies(notes.leniencies, out);
  if (notes.verdict) append_text(",\"verdict\":", core::wire_code(*notes.verdict), out);
  if (!notes.fault.empty()) append_text(",\"fault\":", mask_secrets(notes.fault), out);
}

void RecordWriter::append_body(const Record& record, std::uint64_t seq, std::string& out) {
  std::string_view raw = record.body;
  bool cut = raw.size() > options_.max_body;
  masked_.clear();
  append_masked(cut ? core::utf8_prefix(raw, options_.max_body) : raw, masked_);
  bool text = schema::is_utf8(masked_);
  std::string_view shown = masked_;
  if (record.broadcast && text) shown = append_reference(record, seq, out);
  if (cut) {
    out.append(",\"raw_bytes\":");
    core::append_number(out, raw.size());
  }
  if (cut || options_.chained) {
    out.append(",\"raw_sha256\":\"");
    core::append_hex(chain_.sha256(raw), out);
    out += '"';
  }
  if (text) {
    out.append(",\"raw\":");
    schema::append_utf8_json_string(out, shown);
  } else {
    out.append(",\"raw_base64\":\"");
    core::append_base64(shown, out);
    out += '"';
  }
}

std::optional<RecordWriter::Shared> RecordWriter::shared_with(const Broadcast& earlier) const {
  const std::string_view all = masked_;
  std::size_t before = common_prefix(all, earlier.masked);
  while (before > 0 && before < all.size() && core::is_utf8_tail(all[before])) --before;
  std::size_t after =
      common_suffix(all.substr(before), std::string_view(earlier.masked).substr(before));
  while (after > 0 && core::is_utf8_tail(all[all.size() - after])) --after;
  if (before + after < all.size() / 2) return std::nullopt;
  return Shared{earlier.seq, before, after};
}

/// The part of `masked_` to write: all of it, or the text between the parts that an earlier record
/// also has.
std::string_view RecordWriter::append_reference(const Record& record, std::uint64_t seq,
                                                std::string& out) {
  const rpc::MessageNotes& notes = record.notes;
  // An answer's conversation is its request's, and says nothing about its body.
  const bool is_answer = record.kind != Kind::kRequest;
  auto& remembered = is_answer ? answers_ : broadcasts_;
  bool is_first = true;
  std::optional<Shared> shared;
  for (const Broadcast& earlier : remembered) {
    if (earlier.message_type != notes.message_type) continue;
    if (!is_answer && earlier.conversation_id != notes.conversation_id) continue;
    shared = shared_with(earlier);
    is_first = is_answer;  // of a type there are many answers, which need not be alike
    if (shared || !is_answer) break;
  }
  if (!shared && is_first) {
    if (remembered.size() == kRememberedBroadcasts) remembered.pop_front();
    remembered.push_back({notes.message_type, notes.conversation_id, seq, masked_});
    out.append(",\"broadcast\":true");
  }
  if (!shared) return masked_;
  out.append(",\"raw_ref\":");
  core::append_number(out, shared->seq);
  out.append(",\"raw_keep\":[");
  core::append_number(out, shared->before);
  out += ',';
  core::append_number(out, shared->after);
  out += ']';
  return std::string_view(masked_).substr(shared->before,
                                          masked_.size() - shared->before - shared->after);
}

}  // namespace league::audit::record
