#include "bus/transport/jet_stream_api.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>

#include "common/core/base64.h"

namespace league::transport::bus {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

std::int64_t nanoseconds(milliseconds time) { return std::chrono::nanoseconds(time).count(); }

core::Error unreadable(const char* what) {
  return {core::ErrorCode::kInvalidReply,
          std::string("the broker's answer about ") + what + " cannot be read",
          {}};
}

std::uint64_t unsigned_of(const json& object, const char* name) {
  auto found = object.find(name);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::string text_of(const json& object, const char* name) {
  auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// `NATS/1.0` and a line for each.
void read_stored_headers(std::string_view text, BusMessage& into) {
  auto next_line = [&text] {
    auto end = text.find("\r\n");
    auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
    return line;
  };
  next_line();
  while (!text.empty()) {
    auto line = next_line();
    auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    auto value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    into.headers.emplace_back(std::string(line.substr(0, colon)), std::string(value));
  }
}

bool read_number(std::string_view token, std::uint64_t& into) {
  auto end = token.data() + token.size();
  auto read = std::from_chars(token.data(), end, into);
  return read.ec == std::errc() && read.ptr == end;
}

std::vector<std::string_view> tokens_of(std::string_view subject) {
  std::vector<std::string_view> tokens;
  for (;;) {
    auto dot = subject.find('.');
    tokens.push_back(subject.substr(0, dot));
    if (dot == std::string_view::npos) return tokens;
    subject.remove_prefix(dot + 1);
  }
}

}  // namespace

std::string jet_subject(std::string_view what) { return "$JS.API." + std::string(what); }

bool allows_direct(int replicas) { return replicas <= 1; }

core::Result<void> check_jet_name(std::string_view name) {
  constexpr std::size_t kLongest = 200;
  bool is_good = !name.empty() && name.size() <= kLongest &&
                 std::all_of(name.begin(), name.end(), [](unsigned char c) {
                   return std::isalnum(c) != 0 || c == '-' || c == '_';
                 });
  if (is_good) return {};
  return core::Error{core::ErrorCode::kInvalidFieldValue,
                     "a stream or a consumer is named with letters, digits, - and _", "name"};
}

std::string stream_request(const StreamConfig& config) {
  json request = {{"name", config.name},
                  {"subjects", config.subjects},
                  {"retention", "limits"},
                  {"discard", config.refuses_when_full ? "new" : "old"},
                  {"storage", "file"},
                  {"max_consumers", -1},
                  {"max_msgs", -1},
                  {"max_bytes", config.max_bytes},
                  {"max_msgs_per_subject", config.max_messages_per_subject},
                  {"max_age", nanoseconds(config.max_age)},
                  {"num_replicas", config.replicas},
                  {"deny_delete", config.denies_removal},
                  {"deny_purge", config.denies_removal},
                  {"allow_direct", allows_direct(config.replicas)}};
  // A broker refuses a duplicate window that is longer than the maximum age.
  auto window = config.max_age.count() > 0 ? std::min(config.duplicate_window, config.max_age)
                                           : config.duplicate_window;
  request["duplicate_window"] = nanoseconds(window);
  return request.dump();
}

std::string consumer_request(const std::string& stream, const std::string& name,
                             const ConsumerConfig& config) {
  constexpr milliseconds kUnusedAfter{60'000};
  bool is_from_start = config.start_sequence == 0;
  json consumer = {{"name", name},
                   {"deliver_policy", is_from_start ? "all" : "by_start_sequence"},
                   {"ack_policy", config.is_acknowledged ? "explicit" : "none"},
                   {"replay_policy", "instant"}};
  if (!is_from_start) consumer["opt_start_seq"] = config.start_sequence;
  if (!config.filter_subject.empty()) consumer["filter_subject"] = config.filter_subject;
  if (config.durable_name.empty()) {
    consumer["inactive_threshold"] = nanoseconds(kUnusedAfter);
  } else {
    consumer["durable_name"] = config.durable_name;
  }
  if (config.is_acknowledged) {
    consumer["ack_wait"] = nanoseconds(config.ack_wait);
    consumer["max_ack_pending"] = config.max_ack_pending;
  }
  return json{{"stream_name", stream}, {"config", consumer}}.dump();
}

std::string fetch_request(int batch, milliseconds expires) {
  json request = {{"batch", batch}};
  if (expires.count() > 0) {
    request["expires"] = nanoseconds(expires);
  } else {
    request["no_wait"] = true;
  }
  return request.dump();
}

std::optional<JetRefusal> read_refusal(std::string_view answer) {
  if (answer.find("\"error\"") == std::string_view::npos) return std::nullopt;
  json parsed = json::parse(answer, nullptr, false);
  if (!parsed.is_object()) return std::nullopt;
  auto error = parsed.find("error");
  if (error == parsed.end() || !error->is_object()) return std::nullopt;
  return JetRefusal{static_cast<int>(unsigned_of(*error, "code")),
                    static_cast<int>(unsigned_of(*error, "err_code")),
                    text_of(*error, "description")};
}

core::Error refusal_error(const JetRefusal& refusal) {
  return {
      core::ErrorCode::kInvalidReply,
      "the broker refuses: " + refusal.description + " (" + std::to_string(refusal.number) + ")",
      {}};
}

bool is_refused_for_room(const JetRefusal& refusal) {
  constexpr int kAccountFull = 10002;
  constexpr int kInsufficientResources = 10023;
  constexpr int kStoreFull = 10047;
  constexpr int kStreamStoreFailed = 10077;  // "maximum bytes exceeded", and what the disk says
  constexpr std::array kNumbers = {kAccountFull, kInsufficientResources, kStoreFull,
                                   kStreamStoreFailed};
  return std::ranges::find(kNumbers, refusal.number) != kNumbers.end();
}

bool is_not_ready(std::string_view answer) {
  constexpr int kUnavailable = 503;
  constexpr int kIsBeingStored = 10158;  // an earlier copy of the same message is being stored
  constexpr int kNoPeers = 10005;  // too few brokers of the cluster are up to keep a new stream
  auto refusal = read_refusal(answer);
  // A full store has the same code, but is permanent.
  return refusal && !is_refused_for_room(*refusal) &&
         (refusal->code == kUnavailable || refusal->number == kIsBeingStored ||
          refusal->number == kNoPeers);
}

namespace {

core::Result<StreamState> state_of(const json& stream) {
  if (!stream.is_object()) return unreadable("a stream");
  auto state = stream.find("state");
  if (state == stream.end() || !state->is_object()) return unreadable("a stream");
  StreamState read{unsigned_of(*state, "messages"), unsigned_of(*state, "first_seq"),
                   unsigned_of(*state, "last_seq")};
  auto config = stream.find("config");
  read.bytes = unsigned_of(*state, "bytes");
  if (config != stream.end() && config->is_object()) {
    read.replicas = static_cast<int>(unsigned_of(*config, "num_replicas"));
    const auto most = config->find("max_bytes");
    if (most != config->end() && most->is_number_integer())
      read.max_bytes = most->get<std::int64_t>();
    const auto direct = config->find("allow_direct");
    read.is_direct = direct != config->end() && *direct == true;
  }
  return read;
}

}  // namespace

core::Result<StreamState> read_stream_state(std::string_view answer) {
  return state_of(json::parse(answer, nullptr, false));
}

core::Result<std::vector<StreamListing>> read_stream_list(std::string_view answer) {
  const json parsed = json::parse(answer, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("total")) return unreadable("all streams");
  // In a cluster, a stream whose leader does not answer is missing: the list would be a lie.
  const auto missing = parsed.find("missing");
  if (missing != parsed.end() && !missing->empty()) return unreadable("all streams");
  std::vector<StreamListing> all;
  const auto streams = parsed.find("streams");
  if (streams == parsed.end() || !streams->is_array()) return all;
  for (const json& each : *streams) {
    auto state = state_of(each);
    if (!state) return state.error();
    all.push_back(
        {text_of(each.value("config", json::object()), "name"), text_of(each, "created"), *state});
  }
  return all;
}

core::Result<std::optional<StoredMessage>> read_direct_message(BusMessage answer) {
  constexpr std::string_view kMissing = "404";
  constexpr std::string_view kOfStream = "Nats-";
  const std::string status(bus_header(answer, "Status"));
  if (status == kMissing) return std::optional<StoredMessage>();
  StoredMessage stored;
  stored.message.subject = bus_header(answer, "Nats-Subject");
  const bool is_message = status.empty() && !stored.message.subject.empty() &&
                          read_number(bus_header(answer, "Nats-Sequence"), stored.sequence);
  if (!is_message) return unreadable("a message");
  // What the stream has added about the message.
  for (const char* added : {"Stream", "Subject", "Sequence", "Time-Stamp", "Last-Sequence"}) {
    std::erase_if(answer.headers, [&](const auto& header) {
      return header.first == std::string(kOfStream) + added;
    });
  }
  stored.message.headers = std::move(answer.headers);
  stored.message.payload = std::move(answer.payload);
  return std::optional<StoredMessage>(std::move(stored));
}

core::Result<StoredMessage> read_stored_message(std::string_view answer) {
  json parsed = json::parse(answer, nullptr, false);
  if (!parsed.is_object()) return unreadable("a message");
  auto message = parsed.find("message");
  if (message == parsed.end() || !message->is_object()) return unreadable("a message");
  StoredMessage stored;
  stored.sequence = unsigned_of(*message, "seq");
  stored.message.subject = text_of(*message, "subject");
  auto payload = core::decode_base64(text_of(*message, "data"));
  auto headers = core::decode_base64(text_of(*message, "hdrs"));
  if (stored.sequence == 0 || !payload || !headers) return unreadable("a message");
  stored.message.payload = std::move(*payload);
  read_stored_headers(*headers, stored.message);
  return stored;
}

PublishAck read_publish_ack(std::string_view answer) {
  PublishAck ack;
  if (auto refusal = read_refusal(answer)) {
    ack.why = refusal_error(*refusal);
    bool is_conflict = refusal->number == kWrongLastSequence ||
                       refusal->number == kWrongLastSequenceToo || refusal->number == kWrongLastId;
    if (is_conflict) ack.status = PublishAck::Status::kConflict;
    if (is_refused_for_room(*refusal)) ack.status = PublishAck::Status::kFull;
    return ack;
  }
  json parsed = json::parse(answer, nullptr, false);
  ack.sequence = parsed.is_object() ? unsigned_of(parsed, "seq") : 0;
  if (ack.sequence == 0) {
    ack.why = unreadable("what was published");
    return ack;
  }
  ack.status = PublishAck::Status::kStored;
  auto duplicate = parsed.find("duplicate");
  ack.is_duplicate = duplicate != parsed.end() && duplicate->is_boolean() && duplicate->get<bool>();
  return ack;
}

std::optional<JetDelivery> read_delivery(BusMessage message) {
  constexpr std::size_t kShort = 9;
  constexpr std::size_t kWithDomain = 11;  // and later brokers may add to it
  auto tokens = tokens_of(message.reply);
  if (tokens.size() < kShort || tokens[0] != "$JS" || tokens[1] != "ACK") return std::nullopt;
  // $JS.ACK.[DOMAIN.ACCOUNT.]STREAM.CONSUMER.DELIVERED.SEQUENCE.ITS_SEQUENCE.TIME.PENDING
  std::size_t at = tokens.size() >= kWithDomain ? 4 : 2;
  JetDelivery read;
  read.stream = tokens[at];
  read.consumer = tokens[at + 1];
  auto& delivery = read.delivery;
  bool is_good = read_number(tokens[at + 2], delivery.delivered) &&
                 read_number(tokens[at + 3], delivery.sequence) &&
                 read_number(tokens[at + 6], delivery.pending);
  if (!is_good) return std::nullopt;
  delivery.message = std::move(message);
  return read;
}

}  // namespace league::transport::bus
