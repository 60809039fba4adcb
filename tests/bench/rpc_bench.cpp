#include <benchmark/benchmark.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "common/core/clock.h"
#include "common/rpc/codec.h"
#include "common/rpc/delivery.h"

// The limit: creation and copy of a delivery together cost less than 1 % of the CPU of one handled
// HTTP call (40-80 µs), so less than 400 ns. Creation covers what each call needs anew; connection
// and headers exist already.
namespace league::rpc {
namespace {

const std::string kRequestBytes =
    R"({"jsonrpc":"2.0","id":4711,"method":"choose_parity","params":{"protocol":"league.v2",)"
    R"("message_type":"CHOOSE_PARITY_CALL","sender":"referee:REF01","timestamp":"2025-01-15T10:30:00Z",)"
    R"("conversation_id":"convr1m1001","auth_token":"tok_ref01_abcdefghijklmnopqrstuvwxyz234567abcdefgh",)"
    R"("league_id":"league_2025_even_odd","round_id":1,"match_id":"R1M1","player_id":"P01",)"
    R"("game_type":"even_odd","deadline":"2025-01-15T10:30:30Z","context":{"opponent_id":"P02",)"
    R"("round_id":1,"your_standings":{"wins":0,"losses":0,"draws":0}}}})";

const std::string kResultBytes =
    R"({"protocol":"league.v2","message_type":"CHOOSE_PARITY_RESPONSE","sender":"player:P01",)"
    R"("timestamp":"2025-01-15T10:30:00Z","conversation_id":"convr1m1001","match_id":"R1M1",)"
    R"("player_id":"P01","parity_choice":"even"})";

std::shared_ptr<const HeaderMap> headers() {
  return std::make_shared<const HeaderMap>(HeaderMap{{"Content-Type", "application/json"},
                                                     {"Accept", "application/json"},
                                                     {"Host", "localhost:8101"},
                                                     {"Content-Length", "468"}});
}

std::shared_ptr<const ConnectionInfo> connection() {
  ConnectionInfo info;
  info.remote_address = "127.0.0.1:45678";
  info.local_address = "127.0.0.1:8101";
  info.connection_id = "connection-4711";
  return std::make_shared<const ConnectionInfo>(std::move(info));
}

struct Parts {
  core::SystemClock clock;
  std::shared_ptr<const HeaderMap> headers = rpc::headers();
  std::shared_ptr<const ConnectionInfo> connection = rpc::connection();
  SessionId session{"0f9b2c6e-session-of-36-characters-00"};

  [[nodiscard]] MessageContext context() const {
    auto context =
        MessageContext::now(clock, MessageDirection::kClientToServer,
                            TransportContext::http(headers, "POST", SharedText::literal("/mcp"))
                                .with_connection(connection));
    context.session = session;
    return context;
  }
  [[nodiscard]] Delivery delivery() const { return {std::string(kRequestBytes), context()}; }
};

void create_context(benchmark::State& state) {
  Parts parts;
  for (auto _ : state) benchmark::DoNotOptimize(parts.context());
}
BENCHMARK(create_context);

/// A delivery with its clock readings and a copy of the bytes.
void create_delivery(benchmark::State& state) {
  Parts parts;
  for (auto _ : state) {
    Delivery delivery = parts.delivery();
    benchmark::DoNotOptimize(delivery);
  }
}
BENCHMARK(create_delivery);

void copy_delivery(benchmark::State& state) {
  Delivery original = Parts().delivery();
  for (auto _ : state) {
    Delivery copy = original;
    benchmark::DoNotOptimize(copy);
  }
}
BENCHMARK(copy_delivery);

/// The whole of what the context costs one call: created, copied once, answered.
void context_of_one_call(benchmark::State& state) {
  Parts parts;
  for (auto _ : state) {
    Delivery request = parts.delivery();
    Delivery copy = request;
    MessageContext answer = copy.context.for_response(parts.clock);
    benchmark::DoNotOptimize(copy);
    benchmark::DoNotOptimize(answer);
  }
}
BENCHMARK(context_of_one_call);

void copy_message_deeply(benchmark::State& state) {
  const Message original =
      std::move(std::get<Message>(decode(nlohmann::json::parse(kRequestBytes)).frames[0]));
  for (auto _ : state) {
    Message copy = original;
    benchmark::DoNotOptimize(copy);
  }
}
BENCHMARK(copy_message_deeply);

void parse_json(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(nlohmann::json::parse(kRequestBytes));
}
BENCHMARK(parse_json);

void parse_and_decode_request(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(decode(nlohmann::json::parse(kRequestBytes)));
}
BENCHMARK(parse_and_decode_request);

void parse_and_decode_response(benchmark::State& state) {
  const std::string bytes = encode_result(Id(4711), kResultBytes);
  for (auto _ : state) {
    benchmark::DoNotOptimize(decode_response(nlohmann::json::parse(bytes), Id(4711)));
  }
}
BENCHMARK(parse_and_decode_response);

void encode_result_around_bytes(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(encode_result(Id(4711), kResultBytes));
}
BENCHMARK(encode_result_around_bytes);

void encode_request_around_bytes(benchmark::State& state) {
  const std::string params = nlohmann::json::parse(kRequestBytes)["params"].dump();
  for (auto _ : state) benchmark::DoNotOptimize(encode_request(Id(4711), "choose_parity", params));
}
BENCHMARK(encode_request_around_bytes);

void encode_message(benchmark::State& state) {
  Delivery delivery = Parts().delivery();
  for (auto _ : state) benchmark::DoNotOptimize(encode(delivery.message()));
}
BENCHMARK(encode_message);

}  // namespace
}  // namespace league::rpc

int main(int argc, char** argv) {
  // Until a program has had a second thread, libstdc++ counts references without atomics.
  std::thread([] {}).join();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
