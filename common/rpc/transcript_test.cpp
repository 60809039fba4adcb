#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/rpc/codec.h"

namespace league::rpc {
namespace {

using nlohmann::json;

/// The server of the specification's examples, as small as the codec allows.
class ExampleServer {
 public:
  /// The bytes of the answer; empty where there must be none.
  std::string handle(const std::string& bytes) {
    json document = json::parse(bytes, nullptr, false);
    if (document.is_discarded()) return encode_error(Id(), StandardCode::kParseError);
    Decoded decoded = decode(std::move(document));
    std::vector<std::string> answers;
    for (const Frame& frame : decoded.frames) answer(frame, answers);
    if (decoded.is_batch) return encode_batch(answers);
    return answers.empty() ? std::string() : answers.front();
  }

  std::vector<std::string> notified;

 private:
  void answer(const Frame& frame, std::vector<std::string>& answers) {
    if (const auto* invalid = std::get_if<InvalidRequest>(&frame)) {
      answers.push_back(encode(to_response(*invalid)));
      return;
    }
    const auto& message = std::get<Message>(frame);
    if (const auto* notification = std::get_if<Notification>(&message)) {
      notified.push_back(notification->method);
    } else if (const auto* request = std::get_if<Request>(&message)) {
      answers.push_back(encode(dispatch(*request)));
    }
  }

  static Response dispatch(const Request& request) {
    if (request.method == "subtract") return subtract(request);
    if (request.method == "sum") {
      std::int64_t sum = 0;
      for (const json& value : request.params) sum += value.get<std::int64_t>();
      return make_result(request.id, sum);
    }
    if (request.method == "get_data") return make_result(request.id, json::array({"hello", 5}));
    if (request.method == "crash") return make_error(request.id, StandardCode::kInternalError);
    return make_error(request.id, StandardCode::kMethodNotFound);
  }

  static Response subtract(const Request& request) {
    const json& params = request.params;
    if (params.is_object()) {
      return make_result(request.id, params.at("minuend").get<std::int64_t>() -
                                         params.at("subtrahend").get<std::int64_t>());
    }
    if (params.size() != 2) return make_error(request.id, StandardCode::kInvalidParams);
    return make_result(request.id, params[0].get<std::int64_t>() - params[1].get<std::int64_t>());
  }
};

struct Exchange {
  int line = 0;
  std::string sent;
  std::string answer;  ///< empty: none
};

std::vector<Exchange> read_transcript(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<Exchange> exchanges;
  std::string* continued = nullptr;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.starts_with("-->")) {
      exchanges.push_back({number, line.substr(3), ""});
      continued = &exchanges.back().sent;
    } else if (line.starts_with("<--")) {
      exchanges.back().answer = line.substr(3);
      continued = &exchanges.back().answer;
    } else if (line.starts_with(" ")) {
      *continued += "\n" + line;
    } else {
      EXPECT_TRUE(line.empty() || line.starts_with("#")) << path << ":" << number;
    }
  }
  return exchanges;
}

std::size_t play(const std::string& name, ExampleServer& server) {
  std::filesystem::path path =
      std::filesystem::path(LEAGUE_SOURCE_DIR) / "tests/conformance/jsonrpc" / name;
  std::vector<Exchange> exchanges = read_transcript(path);
  for (const Exchange& exchange : exchanges) {
    SCOPED_TRACE(name + ":" + std::to_string(exchange.line));
    std::string answer = server.handle(exchange.sent);
    if (exchange.answer.empty() || answer.empty()) {
      EXPECT_EQ(answer, exchange.answer);
    } else {
      EXPECT_EQ(json::parse(answer), json::parse(exchange.answer));
    }
  }
  return exchanges.size();
}

TEST(Transcript, SpecificationExamples) {
  ExampleServer server;
  EXPECT_EQ(play("specification.txt", server), 15U);
  EXPECT_EQ(server.notified, (std::vector<std::string>{"update", "foobar", "notify_hello",
                                                       "notify_sum", "notify_hello"}));
}

TEST(Transcript, Ids) {
  ExampleServer server;
  EXPECT_EQ(play("ids.txt", server), 11U);
  EXPECT_TRUE(server.notified.empty());
}

TEST(Transcript, Frames) {
  ExampleServer server;
  EXPECT_EQ(play("frames.txt", server), 24U);
  EXPECT_TRUE(server.notified.empty());
}

}  // namespace
}  // namespace league::rpc
