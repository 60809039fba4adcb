#include "common/transport/httplib_client.h"

#include <httplib.h>

#include <exception>
#include <type_traits>

#include "common/transport/client/media_type.h"

namespace league::transport {

namespace {

class StreamAdapter final : public httplib::Stream {
 public:
  explicit StreamAdapter(DeadlineStream& stream) : stream_(stream) {}
  [[nodiscard]] bool is_readable() const override { return true; }
  [[nodiscard]] bool is_writable() const override { return true; }
  ssize_t read(char* to, std::size_t size) override {
    return static_cast<ssize_t>(stream_.read(to, size));
  }
  ssize_t write(const char* from, std::size_t size) override {
    stream_.write(from, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  [[nodiscard]] socket_t socket() const override { return INVALID_SOCKET; }

 private:
  DeadlineStream& stream_;
};

bool asks_to_close(const httplib::Response& response) {
  std::string connection = response.get_header_value("Connection");
  for (char& c : connection) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (response.version == "HTTP/1.0") return connection.find("keep-alive") == std::string::npos;
  return connection.find("close") != std::string::npos;
}

}  // namespace

class HttplibClient::Adapter final : public httplib::ClientImpl {
 public:
  explicit Adapter(const Endpoint& endpoint)
      : ClientImpl(endpoint.host, endpoint.port), authority_(endpoint.authority()) {
    set_decompress(false);
    set_follow_location(false);
    set_url_encode(false);
    set_keep_alive(true);
  }

  bool exchange(const HttpAsk& ask, DeadlineStream& stream, HttpAnswer& answer) {
    static_assert(
        std::is_invocable_r_v<bool, decltype(&Adapter::process_request), Adapter&, httplib::Stream&,
                              httplib::Request&, httplib::Response&, bool, httplib::Error&>,
        "this version of cpp-httplib has another process_request: adapt this file");
    httplib::Request request;
    request.method = ask.json != nullptr ? "POST" : "GET";
    request.path = ask.path;
    request.headers = ask.json != nullptr ? headers_ : headers_of_get(ask);
    if (ask.json != nullptr) request.body = *ask.json;
    request.response_handler = [&](const httplib::Response& head) {
      take_head(head, answer);
      return true;
    };
    request.content_receiver = [&](const char* from, std::size_t size, std::uint64_t /*offset*/,
                                   std::uint64_t /*total*/) {
      if (answer.is_events && ask.events) return ask.events({from, size});
      answer.body.append(from, size);
      return true;
    };
    httplib::Response response;
    httplib::Error error = httplib::Error::Success;
    StreamAdapter adapter(stream);
    if (!process_request(adapter, request, response, false, error)) return false;
    if (!answer.headers) take_head(response, answer);  // there was no body
    return true;
  }

 private:
  static void take_head(const httplib::Response& response, HttpAnswer& answer) {
    answer.status = response.status;
    answer.keeps_connection = !asks_to_close(response);
    auto headers = std::make_shared<rpc::HeaderMap>();
    for (const auto& [name, value] : response.headers)
      headers->emplace_hint(headers->end(), name, value);
    answer.is_events = response.status == 200 && media_type_of(*headers) == "text/event-stream";
    answer.headers = std::move(headers);
  }

  [[nodiscard]] httplib::Headers headers_of_get(const HttpAsk& ask) const {
    auto headers = headers_;
    headers.erase("Content-Type");
    headers.erase("Accept");
    headers.emplace("Accept", "text/event-stream");
    headers.emplace("Last-Event-ID", ask.last_event_id);
    return headers;
  }

  std::string authority_;
  httplib::Headers headers_{{"Host", authority_},
                            {"User-Agent", "league/" LEAGUE_VERSION},
                            {"Accept", "application/json, text/event-stream"},
                            {"Accept-Encoding", "identity"},
                            {"Content-Type", "application/json"}};
};

HttplibClient::HttplibClient(const Endpoint& endpoint)
    : adapter_(std::make_unique<Adapter>(endpoint)) {}

HttplibClient::~HttplibClient() = default;

bool HttplibClient::ask(const HttpAsk& ask, DeadlineStream& stream, HttpAnswer& answer) {
  try {
    return adapter_->exchange(ask, stream, answer);
  } catch (const std::exception&) {
    return false;  // such as a Content-Length beyond all memory
  }
}

}  // namespace league::transport
