// What HTTP servers have to bear. Only for bots at an http:// address.
#include <thread>

#include "tools/league/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

void add_over_http(PlayerBench& bench, Checks& out, CheckInfo info, std::function<Verdict()> run) {
  out.push_back({std::move(info), [&bench, run = std::move(run)] {
                   return bench.is_http() ? run() : skip("only over http");
                 }});
}

std::string invitation_body(PlayerBench& bench, const TestMatch& match, std::int64_t id) {
  return bench.frame(MessageType::kGameInvitation, bench.invitation(match), rpc::Id(id));
}

/// A reply of a raw exchange, for the usual questions.
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

/// Good for every dialect: a result, and no error.
Verdict expect_result(const BotReply& reply, const std::string& why) {
  if (reply.has_answer() && reply.document.is_object() && reply.error.is_null()) return pass();
  return fail(reply.exchange, "", "the answer to the invitation, although " + why,
              shown_answer(reply));
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
                 .text = "A request that arrives in several TCP segments is read completely.",
                 .fix = "Read Content-Length bytes, in a loop; one recv() is not a request."},
                [&bench] {
                  const std::string whole = http_post(
                      bench.bot().endpoint, invitation_body(bench, bench.new_match(), 8801));
                  const std::size_t head = whole.find("\r\n\r\n") + 4;
                  return send_pieces(bench,
                                     {whole.substr(0, 20), whole.substr(20, head - 20),
                                      whole.substr(head, 30), whole.substr(head + 30)},
                                     milliseconds(30), "it came in four pieces");
                });
  add_over_http(bench, out,
                {.id = "P-1/lower-case-headers",
                 .level = Level::kMust,
                 .text = "Header field names are case-insensitive.",
                 .fix = "Compare header field names without regard to case, or use a library."},
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
                 .text = "`application/json; charset=utf-8` is JSON.",
                 .fix = "Compare Content-Type up to the semicolon, or ignore it."},
                [&bench] {
                  const std::string body = invitation_body(bench, bench.new_match(), 8803);
                  return send_pieces(bench,
                                     {"POST " + bench.bot().endpoint.path +
                                      " HTTP/1.1\r\nHost: " + bench.bot().endpoint.authority() +
                                      "\r\nContent-Type: application/json; charset=utf-8\r\n"
                                      "Connection: close\r\nContent-Length: " +
                                      std::to_string(body.size()) + "\r\n\r\n" + body},
                                     milliseconds(0), "its type names a charset");
                });
  add_over_http(bench, out,
                {.id = "P-1/extra-headers",
                 .level = Level::kMust,
                 .text = "Unknown header fields are ignored.",
                 .fix = "Read the header fields that you need, and ignore the others."},
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
       .text = "Two requests on one connection are both answered, unless the bot closes it after "
               "the first with a word.",
       .fix = "Send Content-Length with each answer, and read the next request; or answer "
              "Connection: close."},
      [&bench] {
        const std::string one = http_post(
            bench.bot().endpoint, invitation_body(bench, bench.new_match(), 8805), {}, true);
        const auto answers = raw_http(
            bench.bot().endpoint,
            {.pieces = {one, one}, .between = milliseconds(100), .limit = bench.limit()}, 2);
        auto first = expect_result(raw_reply(bench, one, answers.front()), "it asks to keep alive");
        if (!first.passed() || answers.size() < 2) return first;
        const RawAnswer& second = answers[1];
        const bool has_closed = !second.trouble.empty() && !second.has_timed_out;
        if (has_closed) return pass();
        return expect_result(raw_reply(bench, one + one, second),
                             "it is the second of a connection");
      });
}

void add_strange_requests(PlayerBench& bench, Checks& out) {
  struct Strange {
    const char* id;
    const char* text;
    const char* head;
  };
  static const Strange kStrange[] = {
      {"P-1/get", "A GET does no harm.",
       "GET /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"},
      {"P-1/no-length", "A POST without a length does no harm.",
       "POST /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"},
      {"P-1/bad-length", "A Content-Length that is no number does no harm.",
       "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\nConnection: close\r\n\r\n{}"},
      {"P-1/no-http", "Bytes that are no HTTP do no harm.", "\x16\x03\x01 not http at all\r\n\r\n"},
      {"P-1/long-header", "A header of 64 KiB does no harm.", nullptr},
  };
  for (const Strange& strange : kStrange) {
    add_over_http(
        bench, out,
        {.id = strange.id,
         .level = Level::kRobust,
         .text = strange.text,
         .fix =
             "Refuse requests that are not a POST with a JSON body, and serve the next request."},
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

/// Holds `held` open in `count` connections for a while, and expects the bot to play on meanwhile.
Verdict play_beside(PlayerBench& bench, const std::string& held, std::size_t count) {
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
  return expect_result(raw_reply(bench, body, answer),
                       std::to_string(count) + " other connections are silent");
}

void add_slow_peers(PlayerBench& bench, Checks& out) {
  add_over_http(
      bench, out,
      {.id = "P-1/half-a-request",
       .level = Level::kRobust,
       .text = "A peer that sends half a request and then stays silent does not block other peers.",
       .fix = "Serve each connection in a thread of its own (ThreadingHTTPServer), with a timeout.",
       .is_slow = true},
      [&bench] {
        return play_beside(bench,
                           "POST " + bench.bot().endpoint.path +
                               " HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{\"jsonrpc\"",
                           1);
      });
  add_over_http(
      bench, out,
      {.id = "P-1/silent-connection",
       .level = Level::kRobust,
       .text = "Idle connections do not block other peers.",
       .fix = "Serve each connection in a thread of its own (ThreadingHTTPServer), with a timeout.",
       .is_slow = true},
      [&bench] { return play_beside(bench, "", bench.is_fast() ? 8 : 40); });
}

}  // namespace

void add_http_checks(PlayerBench& bench, Checks& out) {
  add_request_forms(bench, out);
  add_header_forms(bench, out);
  add_strange_requests(bench, out);
  add_slow_peers(bench, out);
}

}  // namespace league::tools::check
