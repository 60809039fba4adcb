#include "common/transport/front/httplib_server.h"

#include <httplib.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "common/transport/front/plain_post.h"
#include "common/transport/front/response_head.h"
#include "common/transport/http/edge_rules.h"
#include "common/transport/link/sse_writer.h"
#include "common/transport/stream/stream_routes.h"

namespace league::transport::front {

namespace {

constexpr std::string_view kLegacyMessages = "/message";
/// The path at which bots of other leagues register without JSON-RPC. No registration is possible
/// there, but the handler receives the request, so that it is logged and the answer explains what
/// to do.
constexpr std::string_view kRestRegistration = "/register";
constexpr std::string_view kCodeParameter = "registration_code";

/// The request that a thread is serving; httplib's handlers have no other access to it.
thread_local MessagePost* current = nullptr;

/// A request in memory from which httplib reads, and the response that it writes.
class MemoryStream final : public httplib::Stream {
 public:
  MemoryStream(const RawRequest& request, std::string& out) : request_(request), out_(out) {}

  [[nodiscard]] bool is_readable() const override { return position_ < request_.bytes.size(); }
  [[nodiscard]] bool is_writable() const override { return true; }
  ssize_t read(char* to, std::size_t size) override {
    std::size_t count = std::min(size, request_.bytes.size() - position_);
    if (count == 1) {  // httplib reads the head like this
      *to = request_.bytes[position_++];
      return 1;
    }
    std::memcpy(to, request_.bytes.data() + position_, count);
    position_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    out_.append(from, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip = request_.remote->ip;
    port = request_.remote->port;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  [[nodiscard]] socket_t socket() const override { return INVALID_SOCKET; }

 private:
  const RawRequest& request_;
  std::string& out_;
  std::size_t position_ = 0;
};

/// The request's headers, except those that httplib adds.
std::shared_ptr<rpc::HeaderMap> copy_headers(const httplib::Request& request) {
  auto headers = std::make_shared<rpc::HeaderMap>();
  for (const auto& [name, value] : request.headers) {
    if (!is_added_by_httplib(name)) headers->emplace_hint(headers->end(), name, value);
  }
  return headers;
}

/// httplib matches paths as regular expressions, so special characters are escaped.
std::string escaped_path(const std::string& path) {
  std::string out;
  for (char c : path) {
    if (std::strchr(R"(\^$.|?*+()[]{})", c) != nullptr) out += '\\';
    out += c;
  }
  return out;
}

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
        routes_(options, handler, streams),
        posts_(options_, edge_, handler, routes_) {
    set_keep_alive_timeout(keep_alive_seconds(options));
    set_keep_alive_max_count(kMostRequests);
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
    if (!options_.folder.empty()) {
      Post(escaped_path(options_.folder) + ".+",
           [this](const httplib::Request& request, httplib::Response& response) {
             on_post(request, response);
           });
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
    MessagePost work{&request, &exchange, nullptr, {}, {}};
    MessagePost* outer = std::exchange(current, &work);
    if (posts_.serve_plain(work, out)) {
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
    if (path == kRestRegistration || is_in_folder(path)) return "POST";
    if (is_legacy_path(path)) return path == options_.sse_path ? "GET" : "POST";
    return is_page(path) ? "GET, HEAD" : "";
  }

  void answer_preflight(const httplib::Request& request, httplib::Response& response) const {
    for (const auto& [name, value] :
         http::CorsRules::preflight_fields(*current->headers, methods_at(request.path)))
      response.set_header(name, value);
    response.status = 204;
  }

  /// False if it has answered the request.
  bool check_edge(const httplib::Request& request, httplib::Response& response) const {
    auto refusal =
        edge_.check_peer(*current->headers, request.version, local_address(*current->request));
    if (!refusal) {
      for (const auto& [name, value] : edge_.cors().answer_fields(*current->headers))
        response.set_header(name, value);
    }
    if (!refusal && edge_.cors().is_preflight(request.method, *current->headers) &&
        !methods_at(request.path).empty()) {
      answer_preflight(request, response);
      return false;
    }
    if (!refusal && is_in_folder(request.path) && request.method != "POST") {
      response.set_header("Allow", "POST");
      refusal = http::HttpRefusal{405, "send messages here with POST"};
    } else if (!refusal && (request.path == path_ || is_in_folder(request.path))) {
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

  [[nodiscard]] bool is_in_folder(std::string_view path) const {
    return !options_.folder.empty() && path.size() > options_.folder.size() &&
           path.starts_with(options_.folder);
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

  void on_post(const httplib::Request& request, httplib::Response& response) {
    auto reply =
        posts_.exchange(*current, request.body, request.path == path_ ? path_text_ : request.path);
    if (!reply) return;
    response.status = reply->http_status;
    for (const auto& [name, value] : reply->headers) response.set_header(name, value);
    if (reply->bytes.empty()) return;
    const bool as_event = posts_.is_event(*reply, current->accepted);
    response.set_header("Content-Type", as_event ? kEventStream : kJson);
    response.body = as_event ? link::sse_event_text(reply->bytes) : reply->bytes.str();
  }

  const http::HttpServerOptions options_;
  std::string path_;
  rpc::SharedText path_text_;
  http::EdgeRules edge_;
  stream::StreamRoutes routes_;
  MessagePosts posts_;
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
