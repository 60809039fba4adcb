// Unusual HTTP requests that a server must handle. Only for bots at an http:// address.
#include <thread>

#include "tools/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

void add_over_http(PlayerBench& bench, Checks& out, CheckInfo info, std::function<Verdict()> run) {
  out.push_back({std::move(info), [&bench, run = std::move(run)] {
                   return bench.is_http() ? run() : skip("this can be checked over HTTP only");
                 }});
}

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
  if (reply.has_answer() && reply.document.is_object() && reply.error.is_null()) return pass();
  return fail(reply.exchange, "", "an answer to the invitation; " + why, shown_answer(reply));
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

void add_request_forms(PlayerBench& bench, Checks& out) {
  add_over_http(bench, out,
                {.id = "P-1/segmented-request",
                 .level = Level::kMust,
                 .text = "The bot reads a request completely if it arrives in several parts.",
                 .fix = "Read until you have as many bytes as Content-Length says. One recv() may "
                        "return only a part."},
                [&bench] {
                  const std::string whole = http_post(
                      bench.bot().endpoint, invitation_body(bench, bench.new_match(), 8801));
                  const std::size_t head = whole.find("\r\n\r\n") + 4;
                  return send_pieces(bench,
                                     {whole.substr(0, 20), whole.substr(20, head - 20),
                                      whole.substr(head, 30), whole.substr(head + 30)},
                                     milliseconds(30), "it arrived in four parts");
                });
  add_over_http(bench, out,
                {.id = "P-1/lower-case-headers",
                 .level = Level::kMust,
                 .text = "The bot reads header names in any case.",
                 .fix = "Compare header names case-insensitively, or use an HTTP library."},
                [&bench] {
                  const std::string body = invitation_body(bench, bench.new_match(), 8802);
                  return send_pieces(bench,
                                     {"POST " + bench.bot().endpoint.path +
                                      " HTTP/1.1\r\nhost: " + bench.bot().endpoint.authority() +
                                      "\r\ncontent-type: application/json\r\nconnection: close\r\n"
                                      "content-length: " +
                                      std::to_string(body.size()) + "\r\n\r\n" + body},
                                     milliseconds(0), "its header names are in lower case");
                });
}

void add_header_forms(PlayerBench& bench, Checks& out) {
  add_over_http(bench, out,
                {.id = "P-1/charset",
                 .level = Level::kMust,
                 .text = "The bot accepts `Content-Type: application/json; charset=utf-8`.",
                 .fix = "Compare Content-Type only up to the semicolon, or ignore it."},
                [&bench] {
                  const std::string body = invitation_body(bench, bench.new_match(), 8803);
                  return send_pieces(bench,
                                     {"POST " + bench.bot().endpoint.path +
                                      " HTTP/1.1\r\nHost: " + bench.bot().endpoint.authority() +
                                      "\r\nContent-Type: application/json; charset=utf-8\r\n"
                                      "Connection: close\r\nContent-Length: " +
                                      std::to_string(body.size()) + "\r\n\r\n" + body},
                                     milliseconds(0), "its Content-Type has a charset");
                });
  add_over_http(bench, out,
                {.id = "P-1/extra-headers",
                 .level = Level::kMust,
                 .text = "The bot ignores unknown headers.",
                 .fix = "Read the headers that you need, and ignore all others."},
                [&bench] {
                  return send_pieces(bench,
                                     {http_post(bench.bot().endpoint,
                                                invitation_body(bench, bench.new_match(), 8804),
                                                "X-League-Check: 1\r\nTraceparent: 00-0-0-01\r\n")},
                                     milliseconds(0), "it has unknown headers");
                });
  add_over_http(
      bench, out,
      {.id = "P-1/keep-alive",
       .level = Level::kRobust,
       .text = "The bot answers two requests on one connection, or closes the connection after the "
               "first.",
       .fix = "Send Content-Length with each response and then read the next request, or send "
              "Connection: close."},
      [&bench] {
        const std::string one = http_post(
            bench.bot().endpoint, invitation_body(bench, bench.new_match(), 8805), {}, true);
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
      });
}

void add_strange_requests(PlayerBench& bench, Checks& out) {
  struct Strange {
    const char* id;
    const char* text;
    const char* head;
  };
  static const Strange kStrange[] = {
      {"P-1/get", "The bot keeps working after a GET request.",
       "GET /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"},
      {"P-1/no-length", "The bot keeps working after a POST without Content-Length.",
       "POST /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"},
      {"P-1/bad-length", "The bot keeps working after a Content-Length that is not a number.",
       "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\nConnection: close\r\n\r\n{}"},
      {"P-1/no-http", "The bot keeps working after bytes that are not HTTP.",
       "\x16\x03\x01 not http at all\r\n\r\n"},
      {"P-1/long-header", "The bot keeps working after a header of 64 KiB.", nullptr},
  };
  for (const Strange& strange : kStrange) {
    add_over_http(
        bench, out,
        {.id = strange.id,
         .level = Level::kRobust,
         .text = strange.text,
         .fix = "Answer requests other than a POST with a JSON body with an error, and continue "
                "with the next request."},
        [&bench, &strange] {
          const std::string head =
              strange.head != nullptr
                  ? std::string(strange.head)
                  : "POST /mcp HTTP/1.1\r\nX-Long: " + std::string(65'536, 'h') + "\r\n\r\n";
          const auto answer =
              raw_http(bench.bot().endpoint,
                       {.pieces = {head}, .limit = std::min(bench.limit(), milliseconds(600))})
                  .front();
          return expect_alive(bench, raw_reply(bench, head.substr(0, 200), answer));
        });
  }
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

void add_slow_peers(PlayerBench& bench, Checks& out) {
  add_over_http(bench, out,
                {.id = "P-1/half-a-request",
                 .level = Level::kRobust,
                 .text = "The bot answers others while one caller has sent only half a request.",
                 .fix = "Serve each connection in its own thread (in Python: ThreadingHTTPServer), "
                        "with a timeout.",
                 .is_slow = true},
                [&bench] {
                  return play_beside(
                      bench,
                      "POST " + bench.bot().endpoint.path +
                          " HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{\"jsonrpc\"",
                      1, "another connection has sent only half a request");
                });
  add_over_http(bench, out,
                {.id = "P-1/silent-connection",
                 .level = Level::kRobust,
                 .text = "The bot answers others while idle connections are open.",
                 .fix = "Serve each connection in its own thread (in Python: ThreadingHTTPServer), "
                        "with a timeout.",
                 .is_slow = true},
                [&bench] {
                  const std::size_t count = bench.is_fast() ? 8 : 40;
                  return play_beside(
                      bench, "", count,
                      std::to_string(count) + " other connections are open and idle");
                });
}

}  // namespace

void add_http_checks(PlayerBench& bench, Checks& out) {
  add_request_forms(bench, out);
  add_header_forms(bench, out);
  add_strange_requests(bench, out);
  add_slow_peers(bench, out);
}

}  // namespace league::tools::check
