#include "tools/bench/bench_stages.h"

#include <ctime>
#include <nlohmann/json.hpp>

#include "common/audit/record/record_writer.h"
#include "common/envelope/message_schemas.h"
#include "common/rpc/json_text.h"
#include "common/schema/parse_json.h"

namespace league::tools::bench {
namespace {

using nlohmann::json;

constexpr double kMeasuredSeconds = 0.02;

double thread_cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// The processor time of one call of `step`, averaged over many.
template <typename Step>
double seconds_of(Step step) {
  step();
  int runs = 0;
  double begin = thread_cpu_seconds();
  double used = 0;
  while (used < kMeasuredSeconds) {
    for (int i = 0; i < 8; ++i) step();
    runs += 8;
    used = thread_cpu_seconds() - begin;
  }
  return used / runs;
}

/// The league message inside a frame; null for an acknowledgement.
json message_in(const json& frame) {
  for (const char* key : {"params", "result"}) {
    auto found = frame.find(key);
    if (found != frame.end() && found->is_object() && found->contains("message_type"))
      return *found;
  }
  return nullptr;
}

audit::record::Record record_of(const MessageGroup& group) {
  audit::record::Record record;
  record.kind = group.is_reply ? audit::record::Kind::kReply : audit::record::Kind::kRequest;
  record.context.type = rpc::TransportType::kHttp;
  record.notes.message_type = group.message_type;
  record.notes.peer = "player:P01";
  record.notes.conversation_id = "convr1m1001";
  record.body = group.sample;
  return record;
}

/// Adds up the costs of all kinds of messages.
class Stages {
 public:
  explicit Stages(const envelope::MessageSchemas& schemas) : schemas_(schemas) {}

  void add(const MessageGroup& group) {
    auto document = schema::parse_json(group.sample);
    if (!document) return;
    auto count = static_cast<double>(group.count);
    parse_ += count * seconds_of([&] { (void)schema::parse_json(group.sample); });
    encode_ += count * seconds_of([&] {
                 std::string text;
                 rpc::append_json(text, *document);
               });
    audit::record::RecordWriter writer;
    audit::record::Record record = record_of(group);
    std::string line;
    // Times two, since both sides log each message.
    log_ += 2 * count * seconds_of([&] {
              line.clear();
              writer.append(record, 1, line);
            });
    add_validation(message_in(*document), count);
  }

  [[nodiscard]] std::vector<StageCost> costs() const {
    return {{"parse", parse_}, {"validate", validate_}, {"encode", encode_}, {"log", log_}};
  }

 private:
  void add_validation(const json& message, double count) {
    if (!message.is_object()) return;
    auto type = envelope::MessageSchemas::type_of(message);
    // Measure validation only with valid messages, since explaining a fault takes long. Masking of
    // tokens keeps messages valid.
    if (!type || !schemas_.validate(*type, message)) return;
    validate_ += count * seconds_of([&] { (void)schemas_.validate(*type, message); });
  }

  const envelope::MessageSchemas& schemas_;
  double parse_ = 0;
  double validate_ = 0;
  double encode_ = 0;
  double log_ = 0;
};

}  // namespace

core::Result<std::vector<StageCost>> measure_stages(const LeagueTraffic& traffic) {
  auto schemas = envelope::MessageSchemas::load();
  if (!schemas) return schemas.error();
  Stages stages(*schemas);
  for (const auto& group : traffic.groups) stages.add(group);
  return stages.costs();
}

}  // namespace league::tools::bench
