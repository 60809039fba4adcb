// What one league message costs in each stage of its way.
#include <benchmark/benchmark.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/agent/dialects/request_dialect.h"
#include "common/audit/record/masking.h"
#include "common/core/timestamp.h"
#include "common/envelope/codec.h"
#include "common/envelope/leniency.h"
#include "common/envelope/message_schemas.h"
#include "common/rpc/codec.h"
#include "common/schema/parse_json.h"

namespace league {
namespace {

using nlohmann::json;

std::string golden(const char* name) {
  std::ifstream in(std::string(LEAGUE_SOURCE_DIR) + "/tests/golden/messages/" + name + ".json");
  std::stringstream text;
  text << in.rdbuf();
  return json::parse(text.str()).dump();
}

const envelope::MessageSchemas& schemas() {
  static const auto kSchemas = *envelope::MessageSchemas::load();
  return kSchemas;
}

void parse(benchmark::State& state) {
  std::string text = golden("choose_parity_call");
  for (auto _ : state) benchmark::DoNotOptimize(schema::parse_json(text));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK(parse);

void validate(benchmark::State& state) {
  json message = json::parse(golden("choose_parity_call"));
  auto type = envelope::MessageType::kChooseParityCall;
  for (auto _ : state) benchmark::DoNotOptimize(schemas().validate(type, message));
}
BENCHMARK(validate);

void normalise(benchmark::State& state) {
  json message = json::parse(golden("choose_parity_response"));
  for (auto _ : state) {
    envelope::Leniencies taken;
    benchmark::DoNotOptimize(envelope::normalise(
        message, envelope::MessageType::kChooseParityResponse, envelope::Mode::kOpen, {}, taken));
  }
}
BENCHMARK(normalise);

void timestamp(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(core::UtcTimestamp::parse("2025-01-15T10:30:00.123456Z"));
}
BENCHMARK(timestamp);

void decode(benchmark::State& state) {
  json message = json::parse(golden("choose_parity_call"));
  for (auto _ : state) {
    benchmark::DoNotOptimize(envelope::decode_envelope(message));
    benchmark::DoNotOptimize(envelope::decode<envelope::ChooseParityCall>(message));
  }
}
BENCHMARK(decode);

void encode(benchmark::State& state) {
  json message = json::parse(golden("choose_parity_call"));
  auto envelope = *envelope::decode_envelope(message);
  auto call = *envelope::decode<envelope::ChooseParityCall>(message);
  for (auto _ : state) benchmark::DoNotOptimize(envelope::encode(envelope, call).dump());
}
BENCHMARK(encode);

void route(benchmark::State& state) {
  agent::dialects::RequestReader reader{envelope::Role::kPlayer,
                                        [](std::string_view name) { return name == "ping"; }};
  json message = json::parse(golden("choose_parity_call"));
  for (auto _ : state) {
    benchmark::DoNotOptimize(reader.read(rpc::make_request(rpc::Id(1), "choose_parity", message)));
  }
}
BENCHMARK(route);

void mask(benchmark::State& state) {
  std::string text = golden("choose_parity_call");
  for (auto _ : state) benchmark::DoNotOptimize(audit::record::mask_secrets(text));
}
BENCHMARK(mask);

}  // namespace
}  // namespace league

BENCHMARK_MAIN();
