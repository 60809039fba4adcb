#include "bus/commands/event_readers.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "common/agent/bus/event_signature.h"
#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

using nlohmann::json;

using schema::field_at;
using schema::text_at;

/// A summary of a message for people.
std::string gist_of(const json& params) {
  std::string gist;
  if (auto round = schema::number_at(params, "round_id"))
    gist += "  round " + std::to_string(*round);
  if (const json& matches = field_at(params, "matches"); matches.is_array())
    gist += "  " + std::to_string(matches.size()) + " matches";
  const json& table = field_at(params, "standings");
  if (table.is_array() && !table.empty() && table.front().is_object())
    gist += "  first: " + text_at(table.front(), "player_id") + " " +
            text_at(table.front(), "display_name");
  if (const json& champion = field_at(params, "champion"); champion.is_object())
    gist +=
        "  champion: " + text_at(champion, "player_id") + " " + text_at(champion, "display_name");
  return gist;
}

}  // namespace

std::string event_line(std::uint64_t sequence, std::string_view payload,
                       const EventLineOptions& options) {
  auto parsed = schema::parse_json(payload);
  const json event = parsed ? *parsed : json();
  const json& params = field_at(event, "params");
  std::optional<bool> is_verified;
  if (!options.key.empty())
    is_verified = static_cast<bool>(
        agent::bus::check_event_signature(payload, text_at(params, "signature"), options.key));
  if (options.is_json) {
    json line = {{"sequence", nullptr}, {"verified", nullptr}};
    if (sequence != 0) line["sequence"] = sequence;
    if (is_verified) line["verified"] = *is_verified;
    if (parsed)
      line["event"] = event;
    else
      line["text"] = payload;
    return rpc::to_json_text(line);
  }
  std::string type = text_at(params, "message_type");
  std::string line = (sequence == 0 ? std::string("-") : std::to_string(sequence)) + "  " +
                     text_at(params, "timestamp") + "  " +
                     (type.empty() ? std::string("no league message") : type) + gist_of(params);
  if (is_verified) line += *is_verified ? "  (signed)" : "  (NOT SIGNED by the league's manager)";
  return safe_text(line);
}

}  // namespace league::tools
