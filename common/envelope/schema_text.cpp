#include "common/envelope/schema_text.h"

#include <array>
#include <nlohmann/json.hpp>

#include "common/core/text.h"
#include "common/envelope/described_field.h"
#include "common/envelope/error_messages.h"
#include "common/envelope/field_rules.h"
#include "common/envelope/game_messages.h"
#include "common/envelope/query_messages.h"
#include "common/envelope/registration_messages.h"
#include "common/envelope/round_messages.h"

namespace league::envelope {
namespace {

using Json = nlohmann::ordered_json;  // people read it: the order of the description stays

constexpr int kIndent = 2;

constexpr std::array<DescribedMessage (*)(), 18> kDescribed{described<RefereeRegisterRequest>,
                                                            described<RefereeRegisterResponse>,
                                                            described<LeagueRegisterRequest>,
                                                            described<LeagueRegisterResponse>,
                                                            described<RoundAnnouncement>,
                                                            described<GameInvitation>,
                                                            described<GameJoinAck>,
                                                            described<ChooseParityCall>,
                                                            described<ChooseParityResponse>,
                                                            described<GameOver>,
                                                            described<MatchResultReport>,
                                                            described<LeagueStandingsUpdate>,
                                                            described<RoundCompleted>,
                                                            described<LeagueCompleted>,
                                                            described<LeagueQuery>,
                                                            described<LeagueQueryResponse>,
                                                            described<LeagueError>,
                                                            described<GameError>};

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
                            .matching(R"(^league\.v2(\.[0-9]+)?$)")
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
          .matching(R"(^(league_manager|(referee|player):\w+)$)")
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

Json object_of(const std::vector<DescribedField>& fields);

void add_limits(Json& out, const Rule& rule) {
  const auto limit = [&out](const char* name, int value, int none) {
    if (value != none) out[name] = value;
  };
  if (!rule.pattern.empty()) out["pattern"] = rule.pattern;
  limit("minLength", rule.min_length, Rule::kNoLimit);
  limit("maxLength", rule.max_length, Rule::kNoLimit);
  limit("minimum", rule.minimum, std::numeric_limits<int>::min());
  limit("maximum", rule.maximum, std::numeric_limits<int>::max());
}

Json schema_of(const DescribedField& field) {
  Json out = Json::object();
  out["type"] = field.type;
  if (field.may_be_null) out["type"] = Json::array({field.type, "null"});
  if (!field.rule.description.empty()) out["description"] = field.rule.description;
  add_limits(out, field.rule);
  if (!field.names.empty()) out["enum"] = field.names;
  const bool is_list = field.type == "array";
  if (field.rule.min_size != Rule::kNoLimit) out["minItems"] = field.rule.min_size;
  if (field.rule.max_size != Rule::kNoLimit)
    out[is_list ? "maxItems" : "maxProperties"] = field.rule.max_size;
  if (!field.element.empty())
    out[is_list ? "items" : "additionalProperties"] = schema_of(field.element.front());
  if (!field.fields.empty()) out.update(object_of(field.fields));
  if (field.rule.example.empty()) return out;
  out["examples"] = Json::array(
      {field.type == "string" ? Json(field.rule.example) : Json::parse(field.rule.example)});
  return out;
}

/// `required`, if anything is, and `properties`.
Json object_of(const std::vector<DescribedField>& fields) {
  Json required = Json::array();
  Json properties = Json::object();
  for (const auto& field : fields) {
    if (field.is_required) required.push_back(field.name);
    properties[std::string(field.name)] = schema_of(field);
  }
  Json out = Json::object();
  if (!required.empty()) out["required"] = std::move(required);
  out["properties"] = std::move(properties);
  return out;
}

std::string print(std::string_view title, const std::string& description, const Json& fields) {
  Json out = {{"$schema", "http://json-schema.org/draft-07/schema#"},
              {"title", title},
              {"description", description},
              {"type", "object"}};
  out.update(fields);
  return out.dump(kIndent) + "\n";
}

/// Who sends such a message, as an example: before its registration an agent has a name of its own.
std::string sender_of(const MessageSpec& row) {
  const bool is_registration = row.type == MessageType::kRefereeRegisterRequest ||
                               row.type == MessageType::kLeagueRegisterRequest;
  if (row.senders.contains(Role::kLeagueManager)) return "league_manager";
  if (row.senders.contains(Role::kPlayer)) return is_registration ? "player:alpha" : "player:P01";
  return is_registration ? "referee:alpha" : "referee:REF01";
}

}  // namespace

std::string schema_text(MessageType type) {
  const auto& row = spec(type);
  const DescribedMessage message = kDescribed.at(static_cast<std::size_t>(type) - 1)();
  const std::string sender = sender_of(row);
  auto fields = envelope_fields(sender, message.about);
  fields.insert(fields.end(), message.fields.begin(), message.fields.end());
  Json object = object_of(fields);
  object["properties"]["message_type"] = {{"const", row.wire_name},
                                          {"description", "Which message this is."}};
  return print(row.wire_name,
               std::string(message.about.description) +
                   " Fields that are not listed here are allowed and ignored.",
               object);
}

std::string envelope_schema_text() {
  return print("Envelope of league.v2",
               "The fields that every league message carries in addition to its own, side by side "
               "with them in params or result.",
               object_of(envelope_fields("player:P01", {})));
}

}  // namespace league::envelope
