#include "tools/league/client/event_line.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "common/agent/bus/event_signature.h"
#include "common/schema/parse_json.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

using nlohmann::json;

const json& params_in(const json& event) {
  static const json kNone = json::object();
  auto params = event.is_object() ? event.find("params") : event.end();
  return event.is_object() && params != event.end() && params->is_object() ? *params : kNone;
}

std::string word_at(const json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// A summary of a message for people.
std::string gist_of(const json& params) {
  std::string gist;
  if (auto round = params.find("round_id"); round != params.end() && round->is_number_integer())
    gist += "  round " + std::to_string(round->get<std::int64_t>());
  if (auto matches = params.find("matches"); matches != params.end() && matches->is_array())
    gist += "  " + std::to_string(matches->size()) + " matches";
  auto table = params.find("standings");
  if (table != params.end() && table->is_array() && !table->empty() && table->front().is_object())
    gist += "  first: " + word_at(table->front(), "player_id") + " " +
            word_at(table->front(), "display_name");
  if (auto champion = params.find("champion"); champion != params.end() && champion->is_object())
    gist +=
        "  champion: " + word_at(*champion, "player_id") + " " + word_at(*champion, "display_name");
  return gist;
}

}  // namespace

std::string event_line(std::uint64_t sequence, std::string_view payload,
                       const EventLineOptions& options) {
  auto parsed = schema::parse_json(payload);
  const json event = parsed ? *parsed : json();
  const json& params = params_in(event);
  std::optional<bool> is_verified;
  if (!options.key.empty())
    is_verified = static_cast<bool>(
        agent::check_event_signature(payload, word_at(params, "signature"), options.key));
  if (options.is_json) {
    json line = {{"sequence", nullptr}, {"verified", nullptr}};
    if (sequence != 0) line["sequence"] = sequence;
    if (is_verified) line["verified"] = *is_verified;
    if (parsed)
      line["event"] = event;
    else
      line["text"] = payload;
    return line.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  std::string type = word_at(params, "message_type");
  std::string line = (sequence == 0 ? std::string("-") : std::to_string(sequence)) + "  " +
                     word_at(params, "timestamp") + "  " +
                     (type.empty() ? std::string("no league message") : type) + gist_of(params);
  if (is_verified) line += *is_verified ? "  (signed)" : "  (NOT SIGNED by the league's manager)";
  return safe_text(line);
}

}  // namespace league::tools
