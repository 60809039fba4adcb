#include "common/audit/record/context_text.h"

#include <algorithm>
#include <string_view>

#include "common/rpc/shown_subject.h"
#include "common/schema/json_string.h"
#include "common/schema/parse_json.h"

namespace league::audit::record {
namespace {

constexpr std::size_t kShownOfSecretName = 8;

/// Writes members of one object; the first brings the brace.
class Members {
 public:
  explicit Members(std::string& out) : out_(out) {}

  void text(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    name(key);
    schema::append_utf8_json_string(out_, schema::is_utf8(value) ? value : "?");
  }
  void number(std::string_view key, std::int64_t value) {
    name(key);
    out_.append(std::to_string(value));
  }
  void flag(std::string_view key, bool value) {
    name(key);
    out_.append(value ? "true" : "false");
  }
  void end() {
    if (!is_empty_) out_ += '}';
  }

 private:
  void name(std::string_view key) {
    out_.append(is_empty_ ? "{\"" : ",\"").append(key).append("\":");
    is_empty_ = false;
  }

  std::string& out_;
  bool is_empty_ = true;
};

/// The beginning of a name that opens a session or a stream.
std::string shown(std::string_view name) {
  bool is_short = name.size() <= kShownOfSecretName;
  return std::string(name.substr(0, kShownOfSecretName)) + (is_short ? "" : "...");
}

/// The same, and the number behind it, which says where in the stream one is.
std::string shown_event(std::string_view name) {
  auto dash = std::min(name.rfind('-'), name.size());
  auto digits = name.substr(dash).substr(std::min<std::size_t>(1, name.size() - dash));
  bool is_number = !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos;
  if (!is_number || dash < kShownOfSecretName) return shown(name);
  return shown(name.substr(0, dash)) + std::string(name.substr(dash));
}

struct MetadataWriter {
  Members& out;

  void operator()(std::monostate) const {}
  void operator()(const rpc::StdioMetadata& stdio) const {
    out.number("process", stdio.process_id);
  }
  void operator()(const rpc::HttpMetadata& http) const {
    out.text("method", http.method.view());
    out.text("uri", http.uri.view().substr(0, http.uri.view().find('?')));
  }
  void operator()(const std::shared_ptr<const rpc::SseMetadata>& sse) const {
    if (!sse) return;
    out.text("stream", shown(sse->stream_id));
    if (sse->event_id) out.text("event_id", shown_event(*sse->event_id));
    if (sse->event_type) out.text("event_type", *sse->event_type);
    if (sse->retry_after) out.number("retry_ms", sse->retry_after->count());
    if (sse->last_event_id) out.text("last_event_id", shown_event(*sse->last_event_id));
  }
  void operator()(const rpc::WebSocketMetadata& web_socket) const {
    out.text("frame", rpc::to_string(web_socket.frame_type));
    out.flag("final", web_socket.is_final);
    out.flag("compressed", web_socket.is_compressed);
  }
  void operator()(const std::shared_ptr<const rpc::NatsMetadata>& nats) const {
    if (!nats) return;
    out.text("subject", rpc::shown_subject(nats->subject));
    out.text("reply", rpc::shown_subject(nats->reply));
    out.text("trace", nats->trace_id);
  }
};

}  // namespace

void append_context(const rpc::TransportContext& transport,
                    const std::optional<rpc::SessionId>& session, std::string& out) {
  Members members(out);
  if (session) members.text("session", shown(session->view()));
  if (const auto& connection = transport.connection) {
    members.text("connection", connection->connection_id);
    members.text("remote", connection->remote_address);
    members.text("local", connection->local_address);
    if (connection->tls) members.text("tls", connection->tls->version);
  }
  std::visit(MetadataWriter{members}, transport.metadata);
  members.end();
}

}  // namespace league::audit::record
