#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/core/text.h"
#include "common/mcp/server.h"
#include "common/rpc/codec.h"
#include "common/rpc/http_headers.h"
#include "common/rpc/json_object.h"
#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"

namespace league::mcp {
namespace {

using nlohmann::json;
using enum rpc::StandardCode;
using transport::link::StreamAcceptance;
using transport::link::StreamAnswer;
using transport::link::StreamRefusal;

constexpr std::string_view kUpdated = "notifications/resources/updated";

/// A text parameter, or null.
const std::string* text_param(const json& params, const char* name) {
  return schema::field_at(params, name).get_ptr<const std::string*>();
}

struct ListNews {
  std::string_view method;
  bool ListenFilter::*which;
};

ListNews news_of(Registry::List list) {
  switch (list) {
    case Registry::List::kTools:
      return {"notifications/tools/list_changed", &ListenFilter::tools};
    case Registry::List::kPrompts:
      return {"notifications/prompts/list_changed", &ListenFilter::prompts};
    default:
      return {"notifications/resources/list_changed", &ListenFilter::resources};
  }
}

}  // namespace

Server::Method Server::legacy_method(std::string_view name) {
  struct Row {
    std::string_view name;
    Method method;
  };
  static constexpr auto kMethods =
      std::to_array<Row>({{"tools/call", &Server::call_tool},
                          {"tools/list", &Server::list_tools},
                          {"initialize", &Server::initialize},
                          {"ping", &Server::ping},
                          {"resources/list", &Server::list_resources},
                          {"resources/templates/list", &Server::list_resource_templates},
                          {"resources/read", &Server::read_resource},
                          {"resources/subscribe", &Server::subscribe},
                          {"resources/unsubscribe", &Server::unsubscribe},
                          {"prompts/list", &Server::list_prompts},
                          {"prompts/get", &Server::get_prompt},
                          {"completion/complete", &Server::complete},
                          {"logging/setLevel", &Server::set_log_level}});
  const auto* row = std::ranges::find(kMethods, name, &Row::name);
  return row == kMethods.end() ? nullptr : row->method;
}

Server::Method Server::modern_method(std::string_view name) {
  if (name == "server/discover") return &Server::discover;
  if (name == "subscriptions/listen") return &Server::listen;
  constexpr auto kRemoved = std::to_array<std::string_view>(
      {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"});
  if (std::ranges::find(kRemoved, name) != kRemoved.end()) return nullptr;
  return legacy_method(name);
}

std::string Server::capabilities() const {
  // All lists are served, even if they are empty.
  json all = {
      {"tools", json::object()}, {"resources", json::object()}, {"prompts", json::object()}};
  auto add = [&all](const char* name, bool is_there) {
    if (is_there) all[name] = json::object();
  };
  add("completions", registry_.completion() != nullptr);
  add("logging", options_.has_logging);
  if (options_.tools_change) all["tools"]["listChanged"] = true;
  if (options_.prompts_change) all["prompts"]["listChanged"] = true;
  if (options_.resources_change) all["resources"]["listChanged"] = true;
  if (registry_.has_subscribable_resources()) all["resources"]["subscribe"] = true;
  return all.dump();
}

bool Server::has_news() const {
  return options_.tools_change || options_.prompts_change || options_.resources_change ||
         registry_.has_subscribable_resources();
}

void Server::initialize(Served served) {
  const json& params = served.request.params;
  const std::string* wanted = text_param(params, "protocolVersion");
  if (wanted == nullptr) {
    return served.reply.refuse(kInvalidParams,
                               "initialize needs the string params.protocolVersion");
  }
  // A connection may be passed on to a new client, for example by a proxy whose own client was
  // restarted; that client initialises again. On HTTP a new client sends no session id.
  bool is_http = served.arrival.context.transport.as_http() != nullptr;
  bool has_session = served.session && is_http;
  if (has_session || served.arrival.in_batch) {
    return served.reply.refuse(kInvalidRequest,
                               has_session ? "this session is initialized already"
                                           : "initialize must not be part of a batch",
                               400);
  }
  ServerSession::Setup setup;
  setup.revision = is_legacy_revision(*wanted) ? *wanted : std::string(kNewestLegacyRevision);
  const json& client = schema::field_at(params, "capabilities");
  setup.client_capabilities = client.is_object() ? client : json::object();
  std::string result;
  rpc::JsonObject object(result);
  object.text("protocolVersion", setup.revision)
      .raw("capabilities", capabilities())
      .raw("serverInfo", server_info_);
  if (!options_.instructions.empty()) object.text("instructions", options_.instructions);
  object.end();
  transport::link::OutboundReply reply;
  if (is_http) {
    auto session = sessions_.create(std::move(setup));
    if (!session) {
      return served.reply.refuse(kInternalError, "too many sessions are listening; try again later",
                                 503);
    }
    reply.headers.emplace_back(rpc::kSessionHeader, session->id());
  } else if (served.arrival.channel) {
    setup.connection = served.arrival.channel;
    setup.id = served.arrival.channel->id();
    sessions_.create_for_connection(std::move(setup));
  }
  reply.bytes = rpc::encode_result(served.reply.id(), result);
  served.reply.request_context().finish(std::move(reply));
}

void Server::ping(Served served) { served.reply.send_text("{}"); }

void Server::set_log_level(Served served) {
  if (!options_.has_logging) {
    return served.reply.refuse(kMethodNotFound, "this server sends no logs");
  }
  const std::string* name = text_param(served.request.params, "level");
  auto level = name == nullptr ? std::nullopt : parse_log_level(*name);
  if (!level) {
    return served.reply.refuse(kInvalidParams,
                               "level must be one of debug, info, notice, warning, "
                               "error, critical, alert, emergency");
  }
  if (served.session) served.session->set_log_level(*level);
  served.reply.send_text("{}");
}

void Server::subscribe(Served served) {
  const std::string* uri = text_param(served.request.params, "uri");
  if (uri == nullptr) {
    return served.reply.refuse(kInvalidParams, "resources/subscribe needs the string params.uri");
  }
  auto found = registry_.find_resource(*uri);
  if (!found) {
    return served.reply.fail(kResourceNotFound, "Resource not found",
                             {{"uri", core::excerpt(*uri, core::kMostEchoed)}});
  }
  if (!found->resource->is_subscribable) {
    return served.reply.refuse(kInvalidParams, "changes of this resource are not announced");
  }
  if (!served.session) {
    return served.reply.refuse(kInvalidRequest, "a subscription needs a session; initialize first");
  }
  if (!served.session->subscribe(*uri)) {
    return served.reply.refuse(kInvalidParams, "this session has too many subscriptions");
  }
  ++subscriptions_;
  served.reply.send_text("{}");
}

void Server::unsubscribe(Served served) {
  const std::string* uri = text_param(served.request.params, "uri");
  if (uri == nullptr) {
    return served.reply.refuse(kInvalidParams, "resources/unsubscribe needs the string params.uri");
  }
  if (served.session) served.session->unsubscribe(*uri);
  served.reply.send_text("{}");
}

void Server::discover(Served served) {
  std::string result;
  rpc::JsonObject object(result);
  object.raw("supportedVersions", json::array({kModernRevision}).dump())
      .raw("capabilities", capabilities());
  if (!options_.instructions.empty()) object.text("instructions", options_.instructions);
  object.number("ttlMs", 60000).text("cacheScope", "public").end();
  served.reply.send_text(std::move(result));
}

void Server::listen(Served served) {
  if (!has_news()) {
    return served.reply.refuse(kMethodNotFound, "this server announces no changes", 404);
  }
  auto filter = ListenFilter::parse(served.request.params);
  if (!filter) {
    return served.reply.refuse(kInvalidParams,
                               "subscriptions/listen needs the object params.notifications", 400);
  }
  filter->tools = filter->tools && options_.tools_change;
  filter->prompts = filter->prompts && options_.prompts_change;
  filter->resources = filter->resources && options_.resources_change;
  std::erase_if(filter->uris, [this](const std::string& uri) {
    auto found = registry_.find_resource(uri);
    return !found || !found->resource->is_subscribable;
  });
  if (listeners_.open(served.number, served.reply, *filter)) return;
  served.reply.refuse(kInvalidRequest,
                      "the answer to subscriptions/listen is a stream; accept "
                      "text/event-stream, or come back when there are fewer listeners",
                      406);
}

void Server::notify_list_changed(Registry::List list) {
  ListNews news = news_of(list);
  listeners_.list_changed(news.method, news.which);
  auto sessions = sessions_.all();
  if (sessions.empty()) return;
  auto bytes = std::make_shared<const std::string>(rpc::encode_notification(news.method, {}));
  for (const auto& session : sessions) session->push(bytes);
}

void Server::notify_resource_updated(const std::string& uri) {
  if (!listeners_.is_empty()) listeners_.resource_updated(uri);
  if (subscriptions_ == 0) return;
  std::shared_ptr<const std::string> bytes;
  for (const auto& session : sessions_.all()) {
    if (!session->is_subscribed(uri)) continue;
    if (!bytes) {
      bytes = std::make_shared<const std::string>(
          rpc::encode_notification(kUpdated, rpc::to_json_text({{"uri", uri}})));
    }
    session->push(bytes);
  }
}

StreamAnswer Server::on_stream(transport::link::StreamRequest request) {
  RequestSigns signs = read_signs(request.context);
  if (signs.is_modern())
    return StreamRefusal{405, "revision 2026-07-28 listens with POST subscriptions/listen"};
  if (signs.version_header && !is_legacy_revision(*signs.version_header))
    return StreamRefusal{400, "MCP-Protocol-Version names an unsupported revision"};
  if (!signs.session_header)
    return StreamRefusal{405, "a stream needs a session; initialize with POST first"};
  auto session = sessions_.find(std::string(*signs.session_header));
  if (!session) return StreamRefusal{404, "the session is unknown or has ended; initialize"};
  auto reservation = session->reserve_stream();
  if (!reservation) return StreamRefusal{409, "this session has a stream already"};
  StreamAcceptance acceptance;
  if (session->revision() >= kNewestLegacyRevision)
    acceptance.options = {.is_resumable = true, .retry = options_.retry};
  acceptance.opened = [this, session, reservation = std::move(reservation)](
                          std::shared_ptr<transport::link::PeerChannel> channel) {
    sessions_.note_stream(channel->id(), session);
    session->set_stream(std::move(channel));
  };
  return acceptance;
}

std::optional<StreamRefusal> Server::on_session_end(const rpc::MessageContext& context) {
  RequestSigns signs = read_signs(context);
  if (signs.is_modern()) return StreamRefusal{405, "revision 2026-07-28 has no sessions"};
  if (!signs.session_header) return StreamRefusal{400, "the header Mcp-Session-Id is missing"};
  auto session = sessions_.remove(std::string(*signs.session_header));
  if (!session) return StreamRefusal{404, "the session is unknown or has ended"};
  session->close();
  running_.cancel_scope(session->id());
  client_requests_.forget(session->id());
  return std::nullopt;
}

void Server::on_channel_closed(const transport::link::PeerChannel& channel) {
  const std::string& id = channel.id();
  if (auto session = sessions_.on_channel_closed(id)) client_requests_.forget(session->id());
  running_.cancel_channel(id);
  running_.cancel_scope(id);
}

}  // namespace league::mcp
