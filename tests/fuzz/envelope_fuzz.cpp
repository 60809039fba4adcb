// Hostile messages of the league. The first byte chooses who receives them and how strictly, the
// second as what they come: admission never throws, every call is answered with JSON, and what was
// admitted is the same again when it is written and read.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/agent/host/agent_server.h"
#include "common/envelope/codec.h"
#include "common/envelope/leniency.h"
#include "common/rpc/codec.h"
#include "common/schema/parse_json.h"
#include "tests/support/fake_clock.h"

namespace {

using namespace league;
using envelope::Mode;
using nlohmann::json;

const envelope::MessageSchemas& schemas() {
  static const auto loaded = *envelope::MessageSchemas::load();
  return loaded;
}

template <typename Message>
void check_written(const envelope::Envelope& envelope, const Message& message) {
  json wire = envelope::encode(envelope, message);
  auto again = envelope::decode<Message>(wire);
  if (!again || envelope::encode(envelope, *again) != wire) std::abort();
}

/// The way of a message that is a reply, which no server receives.
template <typename Message>
void read(json message, Mode mode) {
  envelope::Leniencies taken;
  if (!envelope::normalise(message, Message::kType, mode, {}, taken)) return;
  if (!schemas().validate(Message::kType, message)) return;
  auto envelope = envelope::decode_envelope(message);
  if (!envelope) std::abort();  // the schema has passed it
  auto decoded = envelope::decode<Message>(message);
  if (decoded) return check_written(*envelope, *decoded);
  if (decoded.error().message.empty()) std::abort();
}

/// What the last handler was given; null if none was called.
json& heard() {
  static json message;
  return message;
}

using Read = void (*)(json, Mode);

template <typename List>
struct Types;
template <typename... Messages>
struct Types<envelope::MessageList<Messages...>> {
  static constexpr std::array<envelope::MessageType, sizeof...(Messages)> kTypes{
      Messages::kType...};
  static constexpr std::array<Read, sizeof...(Messages)> kRead{read<Messages>...};

  static void bind(agent::host::AgentServer& server, envelope::Role role) {
    (bind_one<Messages>(server, role), ...);
  }

 private:
  template <typename Message>
  static void bind_one(agent::host::AgentServer& server, envelope::Role role) {
    const auto& row = envelope::spec(Message::kType);
    if (row.method.empty() || !row.receivers.contains(role)) return;
    server.bind<Message>([](agent::host::Call<Message> call) {
      check_written(call.envelope, call.message);
      heard() = envelope::encode(call.envelope, call.message);
      call.reply.acknowledge();
    });
  }
};

using AllTypes = Types<envelope::AllMessages>;

agent::host::AgentServer& server_of(std::uint8_t which) {
  static testing::FakeTime clock;
  static std::array<std::unique_ptr<agent::host::AgentServer>, 6> servers;
  auto& server = servers[which % servers.size()];
  if (server) return *server;
  constexpr std::array kRoles{envelope::Role::kPlayer, envelope::Role::kReferee,
                              envelope::Role::kLeagueManager};
  agent::host::AgentServerOptions options;
  options.role = kRoles[which % kRoles.size()];
  options.mode = which % servers.size() < kRoles.size() ? Mode::kOpen : Mode::kStrict;
  server = std::make_unique<agent::host::AgentServer>(std::move(options), schemas(), clock);
  AllTypes::bind(*server, kRoles[which % kRoles.size()]);
  return *server;
}

/// What came of a message: all that its sender, the agent and the log see.
struct Outcome {
  json answer;
  json heard;
  std::vector<std::string> notes;
  bool operator==(const Outcome&) const = default;
};

Outcome ask(agent::host::AgentServer& server, std::string bytes) {
  static testing::FakeTime clock;
  int answers = 0;
  transport::link::Inbound message;
  message.bytes = std::move(bytes);
  message.context = rpc::MessageContext::now(clock);
  const auto notes = message.notes;
  Outcome outcome;
  heard() = nullptr;
  server.on_message(std::move(message),
                    transport::link::ReplySlot([&](const transport::link::OutboundReply& reply) {
                      ++answers;
                      bool is_nothing = reply.bytes.empty() && reply.http_status != 200;
                      if (is_nothing) return;
                      outcome.answer = json::parse(reply.bytes, nullptr, false);
                      if (outcome.answer.is_discarded()) std::abort();
                    }));
  if (answers != 1) std::abort();
  outcome.heard = heard();
  outcome.notes = {notes->message_type, notes->conversation_id, notes->match_id,
                   notes->peer,         notes->said_by,         notes->fault};
  for (const auto leniency : notes->leniencies) outcome.notes.emplace_back(leniency);
  return outcome;
}

/// A call goes the exact path if it can, a batch of one never does: both must come to the same.
void ask_both_ways(agent::host::AgentServer& server, const std::string& request) {
  const Outcome plain = ask(server, request);
  Outcome batch = ask(server, "[" + request + "]");
  if (batch.answer.is_array()) batch.answer = json(batch.answer.at(0));
  const bool is_modern = request.find("_meta") != std::string::npos;  // which has no batches
  if (!is_modern && plain != batch) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);
  auto& server = server_of(data[0]);
  std::size_t type = data[1] % (AllTypes::kTypes.size() + 1);
  if (type == AllTypes::kTypes.size()) {
    ask(server, std::string(body));
    return 0;
  }
  auto message = schema::parse_json(body);
  if (!message) return 0;
  AllTypes::kRead[type](*message, data[0] % 6 < 3 ? Mode::kOpen : Mode::kStrict);
  auto method = envelope::spec(AllTypes::kTypes[type]).method;
  if (!method.empty()) ask_both_ways(server, rpc::encode_request(rpc::Id(1), method, body));
  return 0;
}
