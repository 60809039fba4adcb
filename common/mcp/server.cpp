#include "common/mcp/server.h"

#include <algorithm>
#include <array>

#include "common/mcp/answers.h"
#include "common/rpc/json_object.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"
#include "common/transport/http/batch_handler.h"

namespace league::mcp {
namespace {

using nlohmann::json;
using transport::link::OutboundReply;
using transport::link::ReplySlot;

constexpr std::size_t kMostInBatch = 64;
/// The first revision without batches.
constexpr std::string_view kFirstWithoutBatches = "2025-06-18";
constexpr std::string_view kFirstResumable = "2025-11-25";

void refuse(const rpc::Id& id, rpc::StandardCode code, const core::Error& why, int http_status,
            rpc::MessageNotes& notes, ReplySlot& slot) {
  notes.verdict = why.code;
  notes.fault = why.message;
  OutboundReply reply;
  reply.bytes = encode_fault(id, code, why);
  reply.http_status = http_status;
  slot.send(std::move(reply));
}

void refuse_request(const rpc::Id& id, std::string why, int http_status, rpc::MessageNotes& notes,
                    ReplySlot& slot) {
  refuse(id, rpc::StandardCode::kInvalidRequest,
         {core::ErrorCode::kMalformedMessage, std::move(why), ""}, http_status, notes, slot);
}

void accept(ReplySlot& slot) {
  OutboundReply nothing;
  nothing.http_status = 202;
  slot.send(std::move(nothing));
}

rpc::Id id_of_document(const json& document) {
  return rpc::Id::from_json(schema::field_at(document, "id")).value_or(rpc::Id());
}

bool is_notification_method(std::string_view method) {
  return method.starts_with("notifications/");
}

bool is_answer(const json& document) {
  return !document.contains("method") &&
         (document.contains("result") || document.contains("error"));
}

/// For the log: clients choose the names.
std::string short_name(std::string_view method) { return std::string(method.substr(0, 64)); }

std::string server_info(const ServerOptions& options) {
  std::string out;
  rpc::JsonObject object(out);
  object.text("name", options.name);
  if (!options.title.empty()) object.text("title", options.title);
  object.text("version", options.version);
  object.end();
  return out;
}

}  // namespace

Server::Server(ServerOptions options, Application& application, const core::Clock& clock)
    : options_(std::move(options)),
      application_(application),
      server_info_(server_info(options_)),
      modern_tail_(R"(,"resultType":"complete","_meta":{")" + std::string(kServerInfoKey) +
                   "\":" + server_info_ + "}"),
      modern_read_tail_(R"(,"ttlMs":0,"cacheScope":"private")" + modern_tail_),
      registry_(options_.page_size),
      sessions_(options_.sessions, options_.random ? *options_.random : system_random_, clock),
      client_requests_(options_.timer),
      listeners_(options_.most_listeners) {}

Server::~Server() = default;

void Server::on_message(transport::link::Inbound message, ReplySlot slot) {
  Arrival arrival{std::move(message.context), message.notes, std::move(message.channel)};
  const auto tree = schema::JsonTree::parse(message.bytes);
  if (tree && is_plain(arrival) && application_.on_plain(tree->root(), arrival, slot)) return;
  auto document = tree ? tree->root().to_json() : schema::parse_json(message.bytes);
  if (!document) {
    bool is_syntax = document.error().code == core::ErrorCode::kMalformedMessage;
    auto code = is_syntax ? rpc::StandardCode::kParseError : rpc::StandardCode::kInvalidRequest;
    return refuse(rpc::Id{}, code, document.error(), 400, *arrival.notes, slot);
  }
  if (document->is_array())
    return on_batch(std::move(*document), std::move(arrival), std::move(slot));
  on_document(std::move(*document), std::move(arrival), std::move(slot));
}

void Server::on_batch(json batch, Arrival arrival, ReplySlot slot) {
  auto refuse_batch = [&](std::string why, int status) {
    refuse_request(rpc::Id{}, std::move(why), status, *arrival.notes, slot);
  };
  RequestSigns signs = read_signs(arrival.context);
  bool has_modern = std::ranges::any_of(batch, [&](const json& item) {
    return item.is_object() && read_signs(item, arrival.context).is_modern();
  });
  if (signs.is_modern() || has_modern)
    return refuse_batch("revision 2026-07-28 has no batches; send one message at a time", 400);
  auto client = client_of(signs, arrival);
  if (auto* refusal = std::get_if<Refusal>(&client))
    return refuse_batch(std::move(refusal->why), refusal->http_status);
  const auto& session = std::get<Client>(client).session;
  std::string_view revision = session ? std::string_view(session->revision())
                                      : signs.version_header.value_or(std::string_view());
  if (revision >= kFirstWithoutBatches)
    return refuse_batch("this revision has no batches; send one message at a time", 400);
  if (batch.empty()) return refuse_batch("a batch must hold at least one message", 400);
  if (batch.size() > kMostInBatch) {
    return refuse_batch("the batch has " + std::to_string(batch.size()) +
                            " messages; at most 64 are allowed, send several batches",
                        400);
  }
  auto whole = std::make_shared<transport::http::BatchReply>(batch.size(), std::move(slot));
  for (json& item : batch) {
    Arrival part{arrival.context, std::make_shared<rpc::MessageNotes>(), arrival.channel, true};
    auto notes = part.notes;
    on_document(std::move(item), std::move(part), whole->part());
    if (arrival.notes->message_type.empty()) *arrival.notes = *notes;
  }
}

bool Server::is_plain(const Arrival& arrival) {
  const RequestSigns signs = read_signs(arrival.context);
  if (signs.headers != nullptr) return !signs.version_header && !signs.session_header;
  return !arrival.channel || !sessions_.find_connection(arrival.channel->id());
}

std::variant<Server::Client, Server::Refusal> Server::client_of(const RequestSigns& signs,
                                                                const Arrival& arrival) {
  Client client;
  if (signs.version_header) {
    if (!is_legacy_revision(*signs.version_header)) {
      return Refusal{400, "MCP-Protocol-Version names an unsupported revision; use " +
                              std::string(kNewestLegacyRevision)};
    }
    client.is_declared = true;
  }
  if (signs.session_header) {
    client.session = sessions_.find(std::string(*signs.session_header));
    if (!client.session) return Refusal{404, "the session is unknown or has ended; initialize"};
  } else if (signs.headers == nullptr && arrival.channel) {
    client.session = sessions_.find_connection(arrival.channel->id());
  }
  client.is_declared = client.is_declared || client.session != nullptr;
  return client;
}

void Server::on_document(json document, Arrival arrival, ReplySlot slot) {
  if (!document.is_object()) {
    return refuse_request(rpc::Id{}, "a JSON-RPC message must be an object", 400, *arrival.notes,
                          slot);
  }
  RequestSigns signs = read_signs(document, arrival.context);
  if (signs.is_modern())
    return on_modern(std::move(document), signs, std::move(arrival), std::move(slot));
  auto found = client_of(signs, arrival);
  if (auto* refusal = std::get_if<Refusal>(&found)) {
    return refuse_request(id_of_document(document), std::move(refusal->why), refusal->http_status,
                          *arrival.notes, slot);
  }
  const auto& client = std::get<Client>(found);
  bool is_ours =
      is_notification_method(signs.method) ||
      (legacy_method(signs.method) != nullptr && (client.is_declared || signs.method != "ping")) ||
      (client.is_declared && is_answer(document));
  // The session of a bus stays: it is the client's address there.
  if (client.session && !arrival.context.session)
    arrival.context.session = rpc::SessionId(client.session->id());
  if (!is_ours)
    return application_.on_document(std::move(document), std::move(arrival), std::move(slot));
  on_legacy(std::move(document), std::move(arrival), client, std::move(slot));
}

std::string Server::scope_of(const Arrival& arrival,
                             const std::shared_ptr<ServerSession>& session) {
  if (session) return session->id();
  bool is_connection = arrival.channel && arrival.context.transport.as_http() == nullptr;
  return is_connection ? arrival.channel->id() : std::string();
}

void Server::on_notification(const rpc::Notification& notification, const std::string& scope) {
  if (notification.method != "notifications/cancelled") return;
  auto id = rpc::Id::from_json(schema::field_at(notification.params, "requestId"));
  if (id) running_.cancel(scope, *id);
}

void Server::on_legacy(json document, Arrival arrival, const Client& client, ReplySlot slot) {
  auto decoded = rpc::decode(std::move(document), {.refuse_null_id = true});
  if (auto* invalid = std::get_if<rpc::InvalidRequest>(&decoded.frames.front())) {
    return refuse(invalid->id, rpc::StandardCode::kInvalidRequest, invalid->fault, 400,
                  *arrival.notes, slot);
  }
  auto& message = std::get<rpc::Message>(decoded.frames.front());
  std::string scope = scope_of(arrival, client.session);
  arrival.notes->message_type = short_name(rpc::method_of(message));
  if (auto* response = std::get_if<rpc::Response>(&message)) {
    client_requests_.answer(scope, std::move(*response));
    return accept(slot);
  }
  if (auto* notification = std::get_if<rpc::Notification>(&message)) {
    on_notification(*notification, scope);
    return accept(slot);
  }
  auto& request = std::get<rpc::Request>(message);
  Method method = legacy_method(request.method);
  Served served = serve(std::move(request), std::move(arrival), Dialect::kLegacy, client.session,
                        std::move(slot));
  served.is_declared = client.is_declared;
  if (method != nullptr) return run(method, std::move(served));
  served.reply.refuse(rpc::StandardCode::kMethodNotFound, "this server has no such method");
}

void Server::on_modern(json document, const RequestSigns& signs, Arrival arrival, ReplySlot slot) {
  rpc::Id id = id_of_document(document);
  bool is_request = document.contains("id");
  arrival.notes->message_type = short_name(signs.method);
  auto fault = check_modern(signs, document, is_request,
                            [this](std::string_view tool) { return registry_.headers_of(tool); });
  if (fault) {
    arrival.notes->verdict = core::ErrorCode::kMalformedMessage;
    arrival.notes->fault = fault->message;
    OutboundReply reply;
    std::string data = fault->data.is_null() ? std::string() : fault->data.dump();
    reply.bytes = rpc::encode_error(id, fault->code, fault->message, data);
    reply.http_status = fault->http_status;
    return slot.send(std::move(reply));
  }
  auto decoded = rpc::decode(std::move(document), {.refuse_null_id = true});
  if (auto* invalid = std::get_if<rpc::InvalidRequest>(&decoded.frames.front())) {
    return refuse(invalid->id, rpc::StandardCode::kInvalidRequest, invalid->fault, 400,
                  *arrival.notes, slot);
  }
  auto& message = std::get<rpc::Message>(decoded.frames.front());
  auto* request = std::get_if<rpc::Request>(&message);
  if (request == nullptr) {
    if (auto* notification = std::get_if<rpc::Notification>(&message))
      on_notification(*notification, scope_of(arrival, nullptr));
    return accept(slot);
  }
  Method method = modern_method(request->method);
  Served served =
      serve(std::move(*request), std::move(arrival), Dialect::kModern, nullptr, std::move(slot));
  if (method != nullptr) return run(method, std::move(served));
  served.reply.refuse(rpc::StandardCode::kMethodNotFound,
                      "this server has no such method in revision 2026-07-28", 404);
}

Server::Served Server::serve(rpc::Request request, Arrival arrival, Dialect dialect,
                             std::shared_ptr<ServerSession> session, ReplySlot slot) {
  RequestContext::Setup setup;
  setup.id = request.id;
  setup.dialect = dialect;
  setup.scope = scope_of(arrival, session);
  setup.channel = arrival.channel;
  setup.client_requests = &client_requests_;
  bool is_modern = dialect == Dialect::kModern;
  const json& meta = schema::field_at(request.params, "_meta");
  const json& token = schema::field_at(meta, "progressToken");
  if (rpc::Id::from_json(token)) setup.progress_token = token;
  if (is_modern) {
    setup.result_tail = request.method == "resources/read" ? modern_read_tail_ : modern_tail_;
    setup.client_capabilities = schema::field_at(meta, kClientCapabilitiesKey);
    setup.log_threshold = parse_log_level(schema::text_at(meta, kLogLevelKey));
  } else {
    setup.log_threshold = session ? session->log_level() : LogLevel::kDebug;
    if (session) setup.client_capabilities = session->client_capabilities();
    bool is_resumable = session && session->revision() >= kFirstResumable;
    if (is_resumable) setup.stream = {.is_resumable = true, .retry = options_.retry};
  }
  // A request can be cancelled only if the client can name it or the end of its channel is noticed.
  bool ends_with_channel = is_modern && arrival.channel;
  std::uint64_t number = 0;
  if (!setup.scope.empty() || ends_with_channel) {
    number = running_.reserve({.scope = setup.scope,
                               .id = request.id,
                               .channel = ends_with_channel ? arrival.channel->id() : ""});
    setup.ended = [this, number] {
      running_.remove(number);
      listeners_.remove(number);
    };
  }
  auto request_context = std::make_shared<RequestContext>(std::move(setup), std::move(slot));
  if (number != 0) running_.set(number, request_context);
  return {std::move(request), std::move(arrival), std::move(session),
          Responder(std::move(request_context)), number};
}

void Server::run(Method method, Served served) {
  Responder reply = served.reply;
  const auto notes = served.arrival.notes;
  try {
    (this->*method)(std::move(served));
  } catch (const std::exception& thrown) {
    // The exception's text is not sent to the client.
    if (options_.on_exception) options_.on_exception(*notes, thrown.what());
    reply.fail(static_cast<int>(rpc::StandardCode::kInternalError), "Internal error");
  }
}

}  // namespace league::mcp
