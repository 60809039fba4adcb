#include "common/transport/front/httplib_server.h"

#include <httplib.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "common/core/clock.h"
#include "common/transport/front/httplib_parts.h"
#include "common/transport/front/plain_post.h"
#include "common/transport/front/response_head.h"
#include "common/transport/http/edge_rules.h"
#include "common/transport/link/sse_writer.h"
#include "common/transport/stream/stream_routes.h"

namespace league::transport::front {

namespace {

constexpr std::size_t kMostRequests = 1'000'000;  ///< on one connection
constexpr const char* kJson = "application/json";
constexpr const char* kEventStream = "text/event-stream";
constexpr std::string_view kLegacyMessages = "/message";
/// The path at which bots of other leagues register without JSON-RPC. No registration is possible
/// there, but the handler receives the request, so that it is logged and the answer explains what
/// to do.
constexpr std::string_view kRestRegistration = "/register";
constexpr std::string_view kCodeParameter = "registration_code";

/// The request that a thread is serving; httplib's handlers have no other access to it.
struct Current {
  const RawRequest* request = nullptr;
  std::shared_ptr<http::HttpExchange>* exchange = nullptr;
  std::shared_ptr<rpc::HeaderMap> headers;
  stream::AcceptedTypes accepted;
  HttplibServer::Served served;
};
thread_local Current* current = nullptr;

void refuse(httplib::Response& response, const http::HttpRefusal& refusal) {
  response.status = refusal.status;
  response.set_content(http::refusal_body(refusal), kJson);
}

}  // namespace

class HttplibServer::Adapter final : public httplib::Server {
 public:
  Adapter(const http::HttpServerOptions& options, link::MessageHandler& handler,
          stream::StreamHost& streams)
      : options_(options),
        path_(options.path),
        path_text_(options.path),
        edge_(options),
        handler_(handler),
        routes_(options, handler, streams) {
    auto idle = std::chrono::duration_cast<std::chrono::seconds>(options.limits.idle_timeout);
    const auto timeout = std::max<time_t>(1, idle.count() - 1);
    set_keep_alive_timeout(timeout);
    set_keep_alive_max_count(kMostRequests);
    keep_alive_ = "timeout=" + std::to_string(timeout) + ", max=" + std::to_string(kMostRequests);
    set_payload_max_length(options.limits.max_body);
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      response.set_header("Date", http::date_now());
      return check_edge(request, response) ? HandlerResponse::Unhandled : HandlerResponse::Handled;
    });
    set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (response.body.empty())
        refuse(response, {response.status, http::refusal_text(response.status)});
    });
    set_exception_handler(
        [](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
          refuse(response, {500, "internal error"});
        });
    for (const std::string& path : {path_, std::string(kRestRegistration)}) {
      Post(escaped_path(path), [this](const httplib::Request& request,
                                      httplib::Response& response) { on_post(request, response); });
    }
    add_stream_routes();
  }

  void add_page(http::Page page) {
    Get(escaped_path(page.path) + (page.is_folder() ? ".+" : ""),
        [this, page](const httplib::Request& asked, httplib::Response& out) {
          auto name = std::string_view(asked.path).substr(page.path.size());
          write(routes_.on_page(route_request(asked), name, page.handler), out);
        });
    pages_.push_back(std::move(page));
  }

  Served serve(const RawRequest& request, std::shared_ptr<http::HttpExchange>& exchange,
               std::string& out) {
    static_assert(
        std::is_invocable_r_v<bool, decltype(&Adapter::process_request), Adapter&, httplib::Stream&,
                              bool, bool&, const std::function<void(httplib::Request&)>&>,
        "this version of cpp-httplib has another process_request: adapt this file");
    Current work{&request, &exchange, nullptr, {}, {}};
    Current* outer = std::exchange(current, &work);
    if (serve_plain_post(work, out)) {
      current = outer;
      return std::move(work.served);
    }
    std::size_t begin = out.size();
    MemoryStream stream(request, out);
    bool is_closed = false;
    bool is_good = process_request(stream, request.close_after, is_closed, prepare_);
    current = outer;
    if (request.bytes.starts_with("HEAD ")) correct_head(out, begin);
    if (work.served.is_deferred || work.served.take_over) {
      out.resize(begin);
    } else {
      work.served.keeps_connection = is_good && !is_closed && !request.close_after;
    }
    return std::move(work.served);
  }

 private:
  /// Runs between httplib's parser and its router.
  static void prepare(httplib::Request& request) {
    current->headers = copy_headers(request);
    // Somebody who cannot change a bot can still choose the URL that it uses (protocol 8.26).
    if (const std::string name(kCodeParameter); request.has_param(name))
      current->headers->emplace(std::string(rpc::kRegistrationCodeHeader),
                                request.get_param_value(name));
    request.headers.erase("Expect");  // the front has answered it
    request.headers.erase("Accept-Encoding");  // else httplib compresses each answer
  }

  /// The methods allowed at a path; empty if nothing is served there.
  [[nodiscard]] std::string_view methods_at(const std::string& path) const {
    if (path == path_) return "POST, GET, DELETE";
    if (path == kRestRegistration) return "POST";
    if (is_legacy_path(path)) return path == options_.sse_path ? "GET" : "POST";
    return is_page(path) ? "GET, HEAD" : "";
  }

  void answer_preflight(const httplib::Request& request, httplib::Response& response) const {
    for (const auto& [name, value] :
         http::CorsRules::preflight_fields(*current->headers, methods_at(request.path)))
      response.set_header(name, value);
    response.status = 204;
  }

  /// The address at which the request arrived; empty if its connection is unknown.
  [[nodiscard]] static std::string_view local_address() {
    const auto& connection = current->request->connection;
    return connection ? std::string_view(connection->local_address) : std::string_view{};
  }

  /// False if it has answered the request.
  bool check_edge(const httplib::Request& request, httplib::Response& response) const {
    auto refusal = edge_.check_peer(*current->headers, request.version, local_address());
    if (!refusal) {
      for (const auto& [name, value] : edge_.cors().answer_fields(*current->headers))
        response.set_header(name, value);
    }
    if (!refusal && edge_.cors().is_preflight(request.method, *current->headers) &&
        !methods_at(request.path).empty()) {
      answer_preflight(request, response);
      return false;
    }
    if (!refusal && request.path == path_) {
      refusal = check_message_path(request, response);
    } else if (!refusal && request.path == kRestRegistration && request.method == "POST") {
      current->accepted = stream::accepted_types(*current->headers);
    } else if (!refusal && is_legacy_path(request.path)) {
      refusal = check_legacy_path(request, response);
    } else if (!refusal && !is_page(request.path)) {
      refusal = http::HttpRefusal{404, "there is nothing at this path; messages go to " + path_};
    } else if (!refusal && request.method != "GET" && request.method != "HEAD") {
      response.set_header("Allow", "GET, HEAD");
      refusal = http::HttpRefusal{405, "this page can only be read"};
    }
    if (refusal) refuse(response, *refusal);
    return !refusal;
  }

  std::optional<http::HttpRefusal> check_message_path(const httplib::Request& request,
                                                      httplib::Response& response) const {
    if (request.method == "GET" || request.method == "DELETE") return std::nullopt;
    if (request.method != "POST") {
      response.set_header("Allow", "POST, GET, DELETE");
      return http::HttpRefusal{405, "send messages here with POST"};
    }
    current->accepted = stream::accepted_types(*current->headers);
    if (!current->accepted.json && !current->accepted.event_stream) {
      return http::HttpRefusal{406,
                               "answers are application/json or text/event-stream: accept one"};
    }
    return http::EdgeRules::check_content_type(*current->headers);
  }

  [[nodiscard]] bool is_legacy_path(const std::string& path) const {
    return !options_.sse_path.empty() && path.starts_with(options_.sse_path) &&
           (path.size() == options_.sse_path.size() ||
            std::string_view(path).substr(options_.sse_path.size()) == kLegacyMessages);
  }

  std::optional<http::HttpRefusal> check_legacy_path(const httplib::Request& request,
                                                     httplib::Response& response) const {
    bool is_stream = request.path == options_.sse_path;
    std::string allowed = is_stream ? "GET" : "POST";
    if (request.method != allowed) {
      response.set_header("Allow", allowed);
      return http::HttpRefusal{
          405, is_stream ? "a stream is opened here with GET" : "send messages here with POST"};
    }
    return is_stream ? std::nullopt : http::EdgeRules::check_content_type(*current->headers);
  }

  [[nodiscard]] bool is_page(const std::string& path) const {
    return std::ranges::any_of(pages_, [&](const http::Page& page) { return page.is_at(path); });
  }

  void add_stream_routes() {
    using Request = httplib::Request;
    using Response = httplib::Response;
    auto answer_by =
        [this](stream::RouteAnswer (stream::StreamRoutes::*route)(const stream::RouteRequest&)) {
          return [this, route](const Request& request, Response& response) {
            write((routes_.*route)(route_request(request)), response);
          };
        };
    Get(escaped_path(path_), answer_by(&stream::StreamRoutes::on_get));
    Delete(escaped_path(path_), answer_by(&stream::StreamRoutes::on_delete));
    if (options_.sse_path.empty()) return;
    Get(escaped_path(options_.sse_path), answer_by(&stream::StreamRoutes::on_legacy_get));
    Post(escaped_path(options_.sse_path + std::string(kLegacyMessages)),
         [this](const Request& request, Response& response) {
           write(
               routes_.on_legacy_post(route_request(request), request.get_param_value("sessionId")),
               response);
         });
  }

  static stream::RouteRequest route_request(const httplib::Request& request) {
    return {std::move(current->headers),
            current->request->connection,
            request.method,
            request.version,
            request.body,
            current->request->meter};
  }

  static void write(stream::RouteAnswer answer, httplib::Response& response) {
    current->served.take_over = std::move(answer.take_over);
    response.status = answer.status;
    for (const auto& [name, value] : answer.headers) response.set_header(name, value);
    if (!answer.content_type.empty()) response.set_header("Content-Type", answer.content_type);
    response.body = std::move(answer.body);
  }

  /// Passes a new message to the handler. The answer, if it is ready and is not a stream.
  std::optional<link::OutboundReply> exchange_message(Current& work, std::string body,
                                                      const rpc::SharedText& path) {
    auto& exchange = *work.exchange;
    if (!exchange) {
      exchange = std::make_shared<http::HttpExchange>();
      dispatch(work, std::move(body), path);
    }
    if (auto take_over = exchange->take_over()) {
      work.served.take_over = std::move(take_over);
      return std::nullopt;
    }
    auto reply = exchange->take_reply();
    if (!reply) {
      work.served.is_deferred = true;
      return std::nullopt;
    }
    exchange.reset();
    work.served.after_sent = std::move(reply->after_sent);
    return reply;
  }

  /// Whether an answer to a message is sent as an event.
  [[nodiscard]] bool is_event(const link::OutboundReply& reply,
                              const stream::AcceptedTypes& accepted) const {
    return reply.http_status == 200 && accepted.event_stream &&
           (options_.prefers_event_stream || !accepted.json);
  }

  void on_post(const httplib::Request& request, httplib::Response& response) {
    auto reply =
        exchange_message(*current, request.body, request.path == path_ ? path_text_ : request.path);
    if (!reply) return;
    response.status = reply->http_status;
    for (const auto& [name, value] : reply->headers) response.set_header(name, value);
    if (reply->bytes.empty()) return;
    const bool as_event = is_event(*reply, current->accepted);
    response.set_header("Content-Type", as_event ? kEventStream : kJson);
    response.body = as_event ? link::sse_event_text(reply->bytes) : reply->bytes.str();
  }

  /// As httplib would serve it, by the same rules, but without reading the head once more, and
  /// without its regular expressions. False, without having done anything: httplib has to serve it,
  /// because it is another request or is refused.
  bool serve_plain_post(Current& work, std::string& out) {
    const RawRequest& request = *work.request;
    if (!is_plain_post(request, path_)) return false;
    const auto headers = headers_of(request);
    work.headers = headers;
    work.accepted = stream::accepted_types(*headers);
    if ((!work.accepted.json && !work.accepted.event_stream) ||
        edge_.check_peer(*headers, "HTTP/1.1", local_address()) ||
        http::EdgeRules::check_content_type(*headers)) {
      work.headers = nullptr;
      return false;
    }
    PlainAnswer answer;
    for (const auto& [name, value] : edge_.cors().answer_fields(*headers))
      add_field(answer.fields, name, value);
    auto reply =
        exchange_message(work, std::string(request.bytes.substr(request.head->body)), path_text_);
    if (!reply) return true;
    answer.status = reply->http_status;
    for (const auto& [name, value] : reply->headers) add_field(answer.fields, name, value);
    const bool as_event = is_event(*reply, work.accepted);
    std::string made;
    if (reply->bytes.empty() && answer.status >= 400)
      made = http::refusal_body({answer.status, http::refusal_text(answer.status)});
    else if (as_event)
      made = link::sse_event_text(reply->bytes);
    answer.body = made.empty() ? reply->bytes.view() : made;
    if (!answer.body.empty())
      add_field(answer.fields, "Content-Type", as_event ? kEventStream : kJson);
    write_answer(out, std::move(answer), keep_alive_);
    return true;
  }

  void dispatch(Current& work, std::string body, const rpc::SharedText& path) {
    const auto& exchange = *work.exchange;
    link::Inbound inbound;
    inbound.channel = routes_.answer_channel(exchange, work.accepted, work.headers);
    inbound.watch = exchange;
    inbound.meter = work.request->meter;
    inbound.bytes = std::move(body);
    inbound.context =
        rpc::MessageContext::now(clock_, rpc::MessageDirection::kClientToServer,
                                 rpc::TransportContext::http(std::move(work.headers), "POST", path)
                                     .with_connection(work.request->connection));
    try {
      handler_.on_message(std::move(inbound), exchange->make_slot());
    } catch (...) {  // NOLINT(bugprone-empty-catch)
      // When the slot is destroyed, it answers with an internal error; the exception's text stays
      // here.
    }
  }

  const http::HttpServerOptions options_;
  std::string path_;
  rpc::SharedText path_text_;
  std::string keep_alive_;  ///< the value of that field
  http::EdgeRules edge_;
  link::MessageHandler& handler_;
  stream::StreamRoutes routes_;
  core::SystemClock clock_;
  std::vector<http::Page> pages_;
  std::function<void(httplib::Request&)> prepare_ = prepare;
};

HttplibServer::HttplibServer(const http::HttpServerOptions& options, link::MessageHandler& handler,
                             stream::StreamHost& streams)
    : adapter_(std::make_unique<Adapter>(options, handler, streams)) {
  // httplib initialises its parser's tables at the first request. One request is parsed here,
  // before several threads serve: ThreadSanitizer does not see the guards of such tables in a
  // library built without it.
  const link::SocketAddress nobody;
  RawRequest request;
  request.bytes = "GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n";
  request.remote = &nobody;
  std::shared_ptr<http::HttpExchange> exchange;
  std::string refused;
  (void)serve(request, exchange, refused);
}

HttplibServer::~HttplibServer() = default;

void HttplibServer::add_page(http::Page page) { adapter_->add_page(std::move(page)); }

HttplibServer::Served HttplibServer::serve(const RawRequest& request,
                                           std::shared_ptr<http::HttpExchange>& exchange,
                                           std::string& out) {
  return adapter_->serve(request, exchange, out);
}

}  // namespace league::transport::front
