#include "common/envelope/described_field.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "common/core/text.h"
#include "common/envelope/envelope.h"
#include "common/envelope/field_rules.h"

namespace league::envelope {
namespace {

template <typename... Messages>
auto all_codecs(MessageList<Messages...> /*unused*/) {
  return std::array{&Messages::codec()...};
}

bool is_our_protocol(std::string_view text) {
  if (text == kProtocol) return true;
  if (!text.starts_with(kProtocol)) return false;
  text.remove_prefix(kProtocol.size());
  return text.size() > 1 && text.front() == '.' &&
         text.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

bool is_sender(std::string_view text) { return static_cast<bool>(Sender::parse(text)); }

/// The fields of the envelope. `sender` is an example.
std::vector<DescribedField> envelope_fields(std::string_view sender, const MessageAbout& needs) {
  const auto text = [](std::string_view name, const Rule& rule, bool is_required) {
    return DescribedField{.name = name, .type = "string", .rule = rule, .is_required = is_required};
  };
  std::vector<DescribedField> fields;
  fields.push_back(text("protocol",
                        rule::text("Protocol and major version; league.v2.N is accepted too. "
                                   "Another major version is refused with E018.",
                                   32)
                            .matching(R"(^league\.v2(\.[0-9]+)?$)", is_our_protocol)
                            .such_as("league.v2"),
                        true));
  fields.push_back(text("message_type",
                        rule::text("Which message this is.", 1, 64).such_as("GAME_INVITATION"),
                        true));
  fields.push_back(text(
      "sender",
      rule::text("Who sends this: league_manager, referee:ID or player:ID. ID is letters, digits "
                 "and underscores, at most 64; before registration a temporary name of your own.",
                 72)
          .matching(R"(^(league_manager|(referee|player):\w+)$)", is_sender)
          .such_as(sender),
      true));
  fields.push_back(text("timestamp",
                        rule::time("When the message was made. ISO 8601 in UTC, with Z or +00:00; "
                                   "dates and times must exist."),
                        true));
  fields.push_back(
      text("conversation_id",
           rule::text("Links the messages of one exchange. A reply carries the id of its request.",
                      1, 100)
               .such_as("convr1m1001"),
           true));
  fields.push_back(
      text("auth_token",
           rule::text("The sender's credential, as it was given at registration. Opaque.", 1, 512),
           false));
  fields.push_back(text("league_id",
                        rule::text("The league.", 1, 64).such_as("league_2025_even_odd"),
                        needs.needs_league));
  fields.push_back({.name = "round_id",
                    .type = "integer",
                    .rule = rule::number("Number of the round, from 1.", 1).such_as("1"),
                    .is_required = needs.needs_round});
  fields.push_back(
      text("match_id", rule::text("The match.", 1, 64).such_as("R1M1"), needs.needs_match));
  return fields;
}

/// Who sends such a message, as an example: before its registration an agent has a name of its own.
std::string_view sender_of(const MessageSpec& row) {
  const bool is_registration = row.type == MessageType::kRefereeRegisterRequest ||
                               row.type == MessageType::kLeagueRegisterRequest;
  if (row.senders.contains(Role::kLeagueManager)) return "league_manager";
  if (row.senders.contains(Role::kPlayer)) return is_registration ? "player:alpha" : "player:P01";
  return is_registration ? "referee:alpha" : "referee:REF01";
}

std::vector<DescribedMessage> describe_all() {
  std::vector<DescribedMessage> all;
  for (const MessageCodec* codec : all_codecs(AllMessages{})) {
    const auto& row = spec(codec->type);
    auto fields = envelope_fields(sender_of(row), codec->about);
    fields[1] = {.name = "message_type",
                 .type = "string",
                 .rule = rule::value("Which message this is."),
                 .is_required = true,
                 .names = {row.wire_name}};
    auto own = codec->fields.list({}).fields;
    fields.insert(fields.end(), std::make_move_iterator(own.begin()),
                  std::make_move_iterator(own.end()));
    all.push_back({.type = codec->type, .about = codec->about, .fields = std::move(fields)});
  }
  return all;
}

bool follows(schema::JsonNode node, const DescribedField& field);

bool follows_all(schema::JsonNode object, const std::vector<DescribedField>& fields) {
  std::size_t named = 0;
  for (const auto& field : fields) {
    const auto member = object.find(field.name);
    if (!member && field.is_required) return false;
    if (!member) continue;
    ++named;
    if (!follows(member, field)) return false;
  }
  return named == object.size();
}

bool is_within(std::size_t size, int least, int most) {
  const auto is = static_cast<std::int64_t>(size);
  return is >= least && (most == Rule::kNoLimit || is <= most);
}

bool follows_text(std::string_view text, const DescribedField& field) {
  const Rule& rule = field.rule;
  if (!field.names.empty() && std::ranges::find(field.names, text) == field.names.end())
    return false;
  if (!is_within(core::count_characters(text), rule.min_length, rule.max_length)) return false;
  // Regular expressions cost more than all the rest: what only they can judge is not exact.
  return rule.pattern.empty() || (rule.check != nullptr && rule.check(text));
}

bool follows(schema::JsonNode node, const DescribedField& field) {
  using schema::JsonType;
  if (node.is(JsonType::kNull)) return field.may_be_null;
  const Rule& rule = field.rule;
  if (field.type == "string") return node.is(JsonType::kString) && follows_text(node.text(), field);
  if (field.type == "integer")
    return node.is_whole() && node.number() >= rule.minimum && node.number() <= rule.maximum;
  if (field.type == "boolean") return node.is(JsonType::kBoolean);
  if (!node.is(field.type == "array" ? JsonType::kArray : JsonType::kObject) ||
      !is_within(node.size(), rule.min_size, rule.max_size))
    return false;
  if (!field.fields.empty()) return follows_all(node, field.fields);
  if (field.element.empty()) return true;
  for (const schema::JsonNode child : node) {
    if (!follows(child, field.element.front())) return false;
  }
  return true;
}

}  // namespace

const DescribedMessage& description_of(MessageType type) {
  static const auto kAll = describe_all();
  return kAll.at(static_cast<std::size_t>(type) - 1);
}

std::vector<DescribedField> envelope_description() { return envelope_fields("player:P01", {}); }

bool is_as_described(MessageType type, schema::JsonNode message) {
  return message.is(schema::JsonType::kObject) && follows_all(message, description_of(type).fields);
}

}  // namespace league::envelope
