#include "bus/standby/stream_format.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/core/compression.h"
#include "common/core/private_file.h"
#include "common/schema/fields.h"
#include "common/transport/link/subject.h"
#include "league_manager/events/event_codec.h"

namespace league {
namespace {

std::optional<core::Digest> digest_in(std::string_view hex) {
  const auto bytes = core::from_hex(hex);
  core::Digest digest{};
  if (!bytes || bytes->size() != digest.size()) return std::nullopt;
  std::ranges::copy(*bytes, digest.begin());
  return digest;
}

void describe_digest(schema::Fields& a, std::string_view name, core::Digest& digest) {
  std::string hex = core::to_hex(digest);
  a.required(name, hex);
  if (!a.reads()) return;
  const auto read = digest_in(hex);
  read ? void(digest = *read) : a.fail(core::ErrorCode::kInvalidFieldValue, name, "is no digest");
}

}  // namespace

namespace journal {

void describe(schema::Fields& a, JournalPosition& place) {
  a.required("sequence", place.sequence);
  describe_digest(a, "digest", place.digest);
}

/// As a list of the two.
void write_value(schema::FieldSink& out, const EventRecord& record) {
  schema::write_value(out, std::vector{record.type, record.payload});
}
bool read_value(schema::Reading& reading, schema::JsonNode in, EventRecord& record,
                const schema::FieldPath& at) {
  std::vector<std::string> texts;
  if (!schema::read_value(reading, in, texts, at)) return false;
  if (texts.size() < 2) return reading.fail(core::ErrorCode::kInvalidFieldValue, at, "is no entry");
  record = {std::move(texts[0]), std::move(texts[1])};
  return true;
}

}  // namespace journal

namespace league_manager::stream {
namespace {

using nlohmann::json;

constexpr const char* kId = "Nats-Msg-Id";
/// The first byte of a gzip member, which JSON never begins with.
constexpr char kGzip = '\x1f';
constexpr std::size_t kWorthCompressing = 2048;
/// The limit when decompressing, far more than a manager puts into one message.
constexpr std::size_t kMost = 64 << 20;

core::Error unreadable(const std::string& why) {
  return {core::ErrorCode::kInvalidReply, "it is no message of this league's managers: " + why, ""};
}

template <typename T>
core::Result<T> read_text(std::string_view text) {
  try {
    auto read = schema::read<T>(events::parse_journal_json(text));
    return read ? std::move(read) : unreadable(read.error().message);
  } catch (const std::exception& problem) {
    return unreadable(problem.what());
  }
}

void describe_time(schema::Fields& a, std::string_view name, Time& time) {
  std::int64_t milliseconds = time.count();
  a.required(name, milliseconds);
  if (a.reads()) time = Time(milliseconds);
}

/// The number of a directory, which a copy does not have.
std::uint64_t number_of(const std::filesystem::path& directory) {
  struct stat found {};
  return ::stat(directory.c_str(), &found) == 0 ? found.st_ino : 0;
}

std::string new_name(core::RandomSource& random) {
  std::array<char, 64> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return std::string(host.data()) + "-" + core::to_hex(random.bytes<2>());
}

/// The contents of a ReplicationFile.
struct Remembered {
  std::string name;
  json directory;  ///< its number, which may have 64 bits
  Knowledge knowledge;
};

void describe(schema::Fields& a, Remembered& file) {
  Knowledge& knowledge = file.knowledge;
  a.required("name", file.name);
  a.required("directory", file.directory);
  a.required("stream", knowledge.incarnation);
  a.required("term", knowledge.term);
  a.required("leader", knowledge.leader);
  a.required("acknowledged", knowledge.acknowledged.sequence);
  describe_digest(a, "digest", knowledge.acknowledged.digest);
  a.required("kept", knowledge.kept);
  a.required("members", knowledge.members);
}

}  // namespace

constexpr auto enum_names(schema::Of<MessageKind> /*unused*/) {
  return std::to_array<schema::EnumName<MessageKind>>({{MessageKind::kOpen, "open"},
                                                       {MessageKind::kEntries, "entries"},
                                                       {MessageKind::kClaim, "claim"},
                                                       {MessageKind::kAffirm, "affirm"}});
}

void describe(schema::Fields& a, Message& message) {
  a.required("kind", message.kind);
  a.required("writer", message.writer);
  a.required("term", message.term);
  a.required("first", message.first);
  a.required("last", message.last);
  a.required("records", message.records);
  a.flag("more", message.has_more);
  describe_digest(a, "digest", message.digest);
  a.required("members", message.members);
  a.optional("lose_after", message.lose_after);
  describe_digest(a, "previous", message.previous);
  if (a.reads() && message.kind == MessageKind::kEntries &&
      (message.last < message.first || message.records.size() != message.last - message.first + 1))
    a.fail(core::ErrorCode::kInvalidFieldValue, "records", "has other entries than it says");
}

void describe(schema::Fields& a, Heartbeat::Heard& other) {
  a.required("name", other.name);
  describe_time(a, "sent", other.sent);
  a.required("in_sync", other.is_in_sync);
}

void describe(schema::Fields& a, Heartbeat& beat) {
  a.required("name", beat.name);
  a.required("stream", beat.incarnation);
  a.required("term", beat.term);
  a.required("leads", beat.is_leading);
  a.required("journal", beat.journal);
  a.required("acknowledged", beat.acknowledged);
  a.required("members", beat.members);
  describe_time(a, "sent", beat.sent);
  a.required("heard", beat.heard);
}

transport::bus::BusMessage write_message(const std::string& league, std::uint64_t incarnation,
                                         const Message& message) {
  transport::bus::BusMessage sent;
  sent.subject = transport::link::journal_subject(league, incarnation);
  sent.payload = schema::to_json(message).dump(-1, ' ', false, json::error_handler_t::replace);
  if (sent.payload.size() > kWorthCompressing) sent.payload = core::compress(sent.payload);
  return sent;
}

core::Result<Message> read_message(const transport::bus::BusMessage& message) {
  auto text = message.payload.starts_with(kGzip) ? core::decompress(message.payload, kMost)
                                                 : core::Result<std::string>(message.payload);
  if (!text) return unreadable(text.error().message);
  auto read = read_text<Message>(*text);
  if (!read) return read;
  const auto id = digest_in(transport::bus::bus_header(message, kId));
  if (!id) return unreadable("a digest is damaged");
  read->id = *id;
  return read;
}

std::string write_heartbeat(const Heartbeat& heartbeat) {
  return schema::to_json(heartbeat).dump();
}

core::Result<Heartbeat> read_heartbeat(std::string_view payload) {
  return read_text<Heartbeat>(payload);
}

transport::bus::StreamConfig stream_config(const std::string& league, std::uint64_t incarnation,
                                           int replicas, std::int64_t max_bytes) {
  transport::bus::StreamConfig config;
  config.name = transport::link::journal_stream(league, incarnation);
  config.subjects = {transport::link::journal_subject(league, incarnation)};
  config.max_bytes = max_bytes;
  config.refuses_when_full = true;
  config.denies_removal = true;
  config.replicas = replicas;
  return config;
}

core::Result<ReplicationFile> ReplicationFile::open(std::filesystem::path file,
                                                    core::RandomSource& random) {
  ReplicationFile opened;
  opened.file_ = std::move(file);
  opened.name_ = new_name(random);
  auto text = core::read_private_file(opened.file_, std::size_t{1} << 20);
  if (!text) return text.error();
  if (!*text) return opened;
  const auto in = schema::parse_json(**text);
  auto read = in ? schema::read<Remembered>(*in) : in.error();
  if (!read)
    return core::Error{core::ErrorCode::kInternalError,
                       opened.file_.string() + " is damaged (" + read.error().message +
                           "): move it away, and what this manager knew of the others is read "
                           "from their stream",
                       ""};
  opened.knowledge_ = std::move(read->knowledge);
  if (read->directory == number_of(opened.file_.parent_path())) {
    opened.name_ = std::move(read->name);
  } else {  // the original may have more than its copy
    opened.knowledge_.members.push_back(std::move(read->name));
    std::ranges::sort(opened.knowledge_.members);
  }
  return opened;
}

core::Result<void> ReplicationFile::write(const Knowledge& knowledge) const {
  const Remembered out{name_, number_of(file_.parent_path()), knowledge};
  return core::write_private_file(file_, schema::to_json(out).dump(2) + "\n");
}

}  // namespace league_manager::stream
}  // namespace league
