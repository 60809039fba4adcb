// Unusual HTTP requests that a server must handle. Only for bots at an http:// address.
#include <thread>

#include "tools/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

std::string invitation_body(PlayerBench& bench, const TestMatch& match, std::int64_t id) {
  return bench.frame(MessageType::kGameInvitation, bench.invitation(match), rpc::Id(id));
}

/// Converts the answer of a raw exchange to a BotReply.
BotReply raw_reply(PlayerBench& bench, const std::string& sent, const RawAnswer& answer) {
  BotReply reply;
  reply.exchange.url = bench.bot().endpoint.url();
  reply.exchange.sent = sent;
  reply.exchange.is_raw = true;
  reply.exchange.received = answer.body;
  reply.exchange.status = answer.status;
  reply.exchange.trouble = answer.trouble;
  reply.exchange.has_timed_out = answer.has_timed_out;
  reply.document = json::parse(answer.body, nullptr, false);
  if (reply.document.is_object() && reply.document.contains("result"))
    reply.message = reply.document["result"];
  if (reply.document.is_object() && reply.document.contains("error"))
    reply.error = reply.document["error"];
  return reply;
}

/// Expects a result without an error, in any dialect.
Verdict expect_result(const BotReply& reply, const std::string& why) {
  return expect(reply.has_answer() && reply.document.is_object() && reply.error.is_null(),
                reply.exchange, "", "an answer to the invitation; " + why, shown_answer(reply));
}

Verdict send_pieces(PlayerBench& bench, const std::vector<std::string>& pieces,
                    milliseconds between, const std::string& why) {
  std::string sent;
  for (const std::string& piece : pieces) sent += piece;
  const auto answer =
      raw_http(bench.bot().endpoint, {.pieces = pieces, .between = between, .limit = bench.limit()})
          .front();
  return expect_result(raw_reply(bench, sent, answer), why);
}

constexpr const char* kRefuse =
    "Answer requests other than a POST with a JSON body with an error, and continue with the next "
    "request.";

/// Sends `head`, and expects the bot to play on.
Verdict survive_request(PlayerBench& bench, const std::string& head) {
  const auto answer =
      raw_http(bench.bot().endpoint,
               {.pieces = {head}, .limit = std::min(bench.limit(), milliseconds(600))})
          .front();
  return expect_alive(bench, raw_reply(bench, head.substr(0, 200), answer));
}

/// Sends the incomplete request `held` on `count` connections, keeps them open for a while, and
/// expects the bot to play on meanwhile.
Verdict play_beside(PlayerBench& bench, const std::string& held, std::size_t count,
                    const std::string& why) {
  const milliseconds hold(bench.is_fast() ? 900 : 2500);
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&bench, &held, hold] {
      (void)raw_http(bench.bot().endpoint, {.pieces = {held}, .limit = hold});
    });
  }
  std::this_thread::sleep_for(milliseconds(200));
  const TestMatch match = bench.new_match();
  const std::int64_t id = bench.next_id();
  const std::string body = invitation_body(bench, match, id);
  const auto answer =
      raw_http(bench.bot().endpoint, {.pieces = {http_post(bench.bot().endpoint, body)},
                                      .limit = hold - milliseconds(300)})
          .front();
  return expect_result(raw_reply(bench, body, answer), why);
}

const Probe<PlayerBench> kHttpProbes[] = {
    {"P-1/segmented-request", Level::kRobust,
     "The bot reads a request completely if it arrives in several parts.",
     "Read until you have as many bytes as Content-Length says. One recv() may return only a part.",
     [](PlayerBench& bench) {
       const std::string whole =
           http_post(bench.bot().endpoint, invitation_body(bench, bench.new_match(), 8801));
       const std::size_t head = whole.find("\r\n\r\n") + 4;
       return send_pieces(bench,
                          {whole.substr(0, 20), whole.substr(20, head - 20), whole.substr(head, 30),
                           whole.substr(head + 30)},
                          milliseconds(30), "it arrived in four parts");
     }},
    {"P-1/lower-case-headers", Level::kRobust, "The bot reads header names in any case.",
     "Compare header names case-insensitively, or use an HTTP library.",
     [](PlayerBench& bench) {
       const std::string body = invitation_body(bench, bench.new_match(), 8802);
       return send_pieces(
           bench,
           {"POST " + bench.bot().endpoint.path +
            " HTTP/1.1\r\nhost: " + bench.bot().endpoint.authority() +
            "\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: " +
            std::to_string(body.size()) + "\r\n\r\n" + body},
           milliseconds(0), "its header names are in lower case");
     }},
    {"P-1/charset", Level::kRobust,
     "The bot accepts `Content-Type: application/json; charset=utf-8`.",
     "Compare Content-Type only up to the semicolon, or ignore it.",
     [](PlayerBench& bench) {
       const std::string body = invitation_body(bench, bench.new_match(), 8803);
       return send_pieces(bench,
                          {"POST " + bench.bot().endpoint.path +
                           " HTTP/1.1\r\nHost: " + bench.bot().endpoint.authority() +
                           "\r\nContent-Type: application/json; charset=utf-8\r\nConnection: "
                           "close\r\nContent-Length: " +
                           std::to_string(body.size()) + "\r\n\r\n" + body},
                          milliseconds(0), "its Content-Type has a charset");
     }},
    {"P-1/extra-headers", Level::kRobust, "The bot ignores unknown headers.",
     "Read the headers that you need, and ignore all others.",
     [](PlayerBench& bench) {
       return send_pieces(
           bench,
           {http_post(bench.bot().endpoint, invitation_body(bench, bench.new_match(), 8804),
                      "X-League-Check: 1\r\nTraceparent: 00-0-0-01\r\n")},
           milliseconds(0), "it has unknown headers");
     }},
    {"P-1/keep-alive", Level::kRobust,
     "The bot answers two requests on one connection, or closes the connection after the first.",
     "Send Content-Length with each response and then read the next request, or send Connection: "
     "close.",
     [](PlayerBench& bench) {
       const std::string one = http_post(bench.bot().endpoint,
                                         invitation_body(bench, bench.new_match(), 8805), {}, true);
       const auto answers = raw_http(
           bench.bot().endpoint,
           {.pieces = {one, one}, .between = milliseconds(100), .limit = bench.limit()}, 2);
       auto first =
           expect_result(raw_reply(bench, one, answers.front()), "it has Connection: keep-alive");
       if (!first.passed() || answers.size() < 2) return first;
       const RawAnswer& second = answers[1];
       const bool has_closed = !second.trouble.empty() && !second.has_timed_out;
       if (has_closed) return pass();
       return expect_result(raw_reply(bench, one + one, second),
                            "it is the second request on its connection");
     }},
    {"P-1/get", Level::kRobust, "The bot keeps working after a GET request.", kRefuse,
     [](PlayerBench& bench) {
       return survive_request(bench, "GET /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
     }},
    {"P-1/no-length", Level::kRobust, "The bot keeps working after a POST without Content-Length.",
     kRefuse,
     [](PlayerBench& bench) {
       return survive_request(bench, "POST /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
     }},
    {"P-1/bad-length", Level::kRobust,
     "The bot keeps working after a Content-Length that is not a number.", kRefuse,
     [](PlayerBench& bench) {
       return survive_request(
           bench,
           "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\nConnection: close\r\n\r\n{}");
     }},
    {"P-1/no-http", Level::kRobust, "The bot keeps working after bytes that are not HTTP.", kRefuse,
     [](PlayerBench& bench) {
       return survive_request(bench, "\x16\x03\x01 not http at all\r\n\r\n");
     }},
    {"P-1/long-header", Level::kRobust, "The bot keeps working after a header of 64 KiB.", kRefuse,
     [](PlayerBench& bench) {
       return survive_request(
           bench, "POST /mcp HTTP/1.1\r\nX-Long: " + std::string(65'536, 'h') + "\r\n\r\n");
     }},
    {"P-1/half-a-request",
     Level::kRobust,
     "The bot answers others while one caller has sent only half a request.",
     "Serve each connection in its own thread (in Python: ThreadingHTTPServer), with a timeout.",
     [](PlayerBench& bench) {
       return play_beside(bench,
                          "POST " + bench.bot().endpoint.path +
                              " HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{\"jsonrpc\"",
                          1, "another connection has sent only half a request");
     },
     {.is_slow = true}},
    {"P-1/silent-connection",
     Level::kRobust,
     "The bot answers others while idle connections are open.",
     "Serve each connection in its own thread (in Python: ThreadingHTTPServer), with a timeout.",
     [](PlayerBench& bench) {
       const std::size_t count = bench.is_fast() ? 8 : 40;
       return play_beside(bench, "", count,
                          std::to_string(count) + " other connections are open and idle");
     },
     {.is_slow = true}},
};

}  // namespace

void add_http_checks(PlayerBench& bench, Checks& out) {
  add_probes(bench, kHttpProbes, out, &only_over_http);
}

}  // namespace league::tools::check
