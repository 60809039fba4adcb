// Unusual HTTP requests that a server must handle. Only for bots at an http:// address.
#include <numeric>
#include <thread>

#include "tools/check/cases/cases.h"
#include "tools/check/cases/conversation.h"

namespace league::tools::check {
namespace {

using nlohmann::json;

/// What a raw exchange makes of `answer`, without the tolerance of a league.
BotReply raw_reply(PlayerBench& bench, const std::string& sent, const RawAnswer& answer) {
  BotReply reply;
  reply.exchange = {.url = bench.bot().endpoint.url(),
                    .sent = sent,
                    .received = answer.body,
                    .status = answer.status,
                    .trouble = answer.trouble,
                    .has_timed_out = answer.has_timed_out,
                    .is_raw = true};
  reply.document = json::parse(answer.body, nullptr, false);
  reply.message = value_at(reply.document, "result");
  reply.error = value_at(reply.document, "error");
  return reply;
}

/// An invitation to a match of its own, as the body of a POST.
std::string invitation_body(PlayerBench& bench) {
  return bench.frame(kInvite, bench.invitation(bench.new_match()), rpc::Id(bench.next_id()));
}

/// Expects a result without an error, in any dialect.
Verdict expect_result(const BotReply& reply, const std::string& why) {
  return expect(reply.has_answer() && reply.document.is_object() && reply.error.is_null(),
                reply.exchange, "", "an answer to the invitation; " + why, shown_answer(reply));
}

Verdict send_pieces(PlayerBench& bench, const std::vector<std::string>& pieces,
                    milliseconds between, const std::string& why) {
  const std::string sent = std::accumulate(pieces.begin(), pieces.end(), std::string());
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
  const std::string body = invitation_body(bench);
  const auto answer =
      raw_http(bench.bot().endpoint, {.pieces = {http_post(bench.bot().endpoint, body)},
                                      .limit = hold - milliseconds(300)})
          .front();
  return expect_result(raw_reply(bench, body, answer), why);
}

/// A POST with this body and these header lines besides Content-Length, whose name is `length`.
std::string post_with(PlayerBench& bench, const std::string& headers, const std::string& length) {
  const std::string body = invitation_body(bench);
  return "POST " + bench.bot().endpoint.path + " HTTP/1.1\r\n" + headers + length + ": " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

Verdict takes_parts(const Talk& talk) {
  const std::string whole = http_post(talk.bench.bot().endpoint, invitation_body(talk.bench));
  const std::size_t head = whole.find("\r\n\r\n") + 4;
  return send_pieces(talk.bench,
                     {whole.substr(0, 20), whole.substr(20, head - 20), whole.substr(head, 30),
                      whole.substr(head + 30)},
                     milliseconds(30), "it arrived in four parts");
}

Verdict keeps_alive(const Talk& talk) {
  PlayerBench& bench = talk.bench;
  const std::string one = http_post(bench.bot().endpoint, invitation_body(bench), {}, true);
  const auto answers =
      raw_http(bench.bot().endpoint,
               {.pieces = {one, one}, .between = milliseconds(100), .limit = bench.limit()}, 2);
  Verdict first =
      expect_result(raw_reply(bench, one, answers.front()), "it has Connection: keep-alive");
  if (!first.passed() || answers.size() < 2) return first;
  const RawAnswer& second = answers[1];
  const bool has_closed = !second.trouble.empty() && !second.has_timed_out;
  if (has_closed) return pass();
  return expect_result(raw_reply(bench, one + one, second),
                       "it is the second request on its connection");
}

const Conversation kHttp[] = {
    {"P-1/segmented-request", kRobust,
     "The bot reads a request completely if it arrives in several parts.",
     "Read until you have as many bytes as Content-Length says. One recv() may return only a part.",
     "", takes_parts},
    {"P-1/lower-case-headers", kRobust, "The bot reads header names in any case.",
     "Compare header names case-insensitively, or use an HTTP library.", "",
     [](const Talk& talk) {
       const std::string host = talk.bench.bot().endpoint.authority();
       return send_pieces(talk.bench,
                          {post_with(talk.bench,
                                     "host: " + host +
                                         "\r\ncontent-type: application/json\r\n"
                                         "connection: close\r\n",
                                     "content-length")},
                          milliseconds(0), "its header names are in lower case");
     }},
    {"P-1/charset", kRobust, "The bot accepts `Content-Type: application/json; charset=utf-8`.",
     "Compare Content-Type only up to the semicolon, or ignore it.", "",
     [](const Talk& talk) {
       const std::string host = talk.bench.bot().endpoint.authority();
       return send_pieces(talk.bench,
                          {post_with(talk.bench,
                                     "Host: " + host +
                                         "\r\nContent-Type: application/json; charset=utf-8\r\n"
                                         "Connection: close\r\n",
                                     "Content-Length")},
                          milliseconds(0), "its Content-Type has a charset");
     }},
    {"P-1/extra-headers", kRobust, "The bot ignores unknown headers.",
     "Read the headers that you need, and ignore all others.", "",
     [](const Talk& talk) {
       return send_pieces(talk.bench,
                          {http_post(talk.bench.bot().endpoint, invitation_body(talk.bench),
                                     "X-League-Check: 1\r\nTraceparent: 00-0-0-01\r\n")},
                          milliseconds(0), "it has unknown headers");
     }},
    {"P-1/keep-alive", kRobust,
     "The bot answers two requests on one connection, or closes the connection after the first.",
     "Send Content-Length with each response and then read the next request, or send Connection: "
     "close.",
     "", keeps_alive},
    {"P-1/get", kRobust, "The bot keeps working after a GET request.", kRefuse, "",
     [](const Talk& talk) {
       return survive_request(talk.bench,
                              "GET /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
     }},
    {"P-1/no-length", kRobust, "The bot keeps working after a POST without Content-Length.",
     kRefuse, "",
     [](const Talk& talk) {
       return survive_request(talk.bench,
                              "POST /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
     }},
    {"P-1/bad-length", kRobust,
     "The bot keeps working after a Content-Length that is not a number.", kRefuse, "",
     [](const Talk& talk) {
       return survive_request(
           talk.bench,
           "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\nConnection: close\r\n\r\n{}");
     }},
    {"P-1/no-http", kRobust, "The bot keeps working after bytes that are not HTTP.", kRefuse, "",
     [](const Talk& talk) {
       return survive_request(talk.bench, "\x16\x03\x01 not http at all\r\n\r\n");
     }},
    {"P-1/long-header", kRobust, "The bot keeps working after a header of 64 KiB.", kRefuse, "",
     [](const Talk& talk) {
       return survive_request(
           talk.bench, "POST /mcp HTTP/1.1\r\nX-Long: " + std::string(65'536, 'h') + "\r\n\r\n");
     }},
    {"P-1/half-a-request", kRobust,
     "The bot answers others while one caller has sent only half a request.",
     "Serve each connection in its own thread (in Python: ThreadingHTTPServer), with a timeout.",
     "",
     [](const Talk& talk) {
       return play_beside(talk.bench,
                          "POST " + talk.bench.bot().endpoint.path +
                              " HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{\"jsonrpc\"",
                          1, "another connection has sent only half a request");
     },
     "", kSlow},
    {"P-1/silent-connection", kRobust, "The bot answers others while idle connections are open.",
     "Serve each connection in its own thread (in Python: ThreadingHTTPServer), with a timeout.",
     "",
     [](const Talk& talk) {
       const std::size_t count = talk.bench.is_fast() ? 8 : 40;
       return play_beside(talk.bench, "", count,
                          std::to_string(count) + " other connections are open and idle");
     },
     "", kSlow},
};

}  // namespace

void add_http_cases(PlayerBench& bench, Checks& out) {
  add_conversations(bench, kHttp, out, &only_over_http);
}

}  // namespace league::tools::check
