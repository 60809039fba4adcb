// What is correct though unusual, and has to be accepted.
#include "tools/league/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

/// An invitation or call that differs from the ordinary one, and is right all the same.
struct Variant {
  const char* id;
  const char* text;
  const char* fix;
  MessageType type;
  void (*change)(json&);
  Level level = Level::kMust;
};

constexpr const char* kReadTime =
    "Read timestamps by a rule of the protocol's forms, or do not read them at all.";
constexpr const char* kIgnore = "Read the fields that you know, and ignore the rest.";

const Variant kVariants[] = {
    {"P-3/accepts-extended", "2025-01-15T10:30:00Z is a timestamp.", kReadTime, kInvite,
     [](json& m) { m["timestamp"] = "2025-01-15T10:30:00Z"; }},
    {"P-3/accepts-half-compact", "20250115T10:30:00Z is a timestamp.", kReadTime, kInvite,
     [](json& m) { m["timestamp"] = "20250115T10:30:00Z"; }},
    {"P-3/accepts-compact", "20250115T103000Z is a timestamp.", kReadTime, kInvite,
     [](json& m) { m["timestamp"] = "20250115T103000Z"; }},
    {"P-3/accepts-zero-offset", "2025-01-15T10:30:00+00:00 is a timestamp.", kReadTime, kInvite,
     [](json& m) { m["timestamp"] = "2025-01-15T10:30:00+00:00"; }},
    {"P-3/accepts-compact-zero-offset", "20250115T103000+00:00 is a timestamp.", kReadTime, kInvite,
     [](json& m) { m["timestamp"] = "20250115T103000+00:00"; }},
    {"P-3/accepts-fraction", "2025-01-15T10:30:00.5Z is a timestamp.", kReadTime, kInvite,
     [](json& m) { m["timestamp"] = "2025-01-15T10:30:00.5Z"; }},
    {"P-3/accepts-long-fraction", "A fraction of nine digits is right.", kReadTime, kInvite,
     [](json& m) { m["timestamp"] = "2025-01-15T10:30:00.123456789Z"; }},
    {"P-3/accepts-compact-deadline", "A deadline has the forms of a timestamp.", kReadTime, kCall,
     [](json& m) { m["deadline"] = "20990115T103000.25Z"; }},
    {"P-9/past-deadline", "A deadline that is past on arrival is no reason to refuse.",
     "Answer whatever the deadline says; clocks differ.", kCall,
     [](json& m) { m["deadline"] = "2020-01-15T10:30:00Z"; }},
    {"P-2/protocol-minor", "`league.v2.1` is the same protocol.",
     "Compare the part up to the major version only.", kInvite,
     [](json& m) { m["protocol"] = "league.v2.1"; }},
    {"P-2/extra-field", "An unknown field is ignored.", kIgnore, kInvite,
     [](json& m) { m["league_check_extra"] = "anything"; }},
    {"P-2/extra-object", "An unknown field that is an object is ignored.", kIgnore, kInvite,
     [](json& m) {
       m["league_check_extra"] = {{"nested", {1, 2, {{"deep", nullptr}}}}};
     }},
    {"P-2/extra-field-in-call", "An unknown field in CHOOSE_PARITY_CALL is ignored.", kIgnore,
     kCall,
     [](json& m) {
       m["league_check_extra"] = {1, 2, 3};
     }},
    {"P-2/extra-field-in-context", "An unknown field in `context` is ignored.", kIgnore, kCall,
     [](json& m) { m["context"]["league_check_extra"] = true; }},
    {"P-2/long-conversation", "A conversation_id of 100 characters is right.",
     "Take conversation_id as it comes, up to 100 characters.", kInvite,
     [](json& m) { m["conversation_id"] = std::string(100, 'c'); }},
    {"P-2/odd-conversation",
     "A conversation_id may hold blanks, slashes and letters of any script.",
     "Take conversation_id as an opaque text.", kInvite,
     [](json& m) { m["conversation_id"] = "conv /\xC3\xA4\xE6\x97\xA5 #1"; }},
    {"P-4.6/player-b", "The bot may be PLAYER_B.", "Accept both values of role_in_match.", kInvite,
     [](json& m) { m["role_in_match"] = "PLAYER_B"; }},
    {"P-4.6/no-draw-commitment", "`draw_commitment` may be missing.",
     "Play without committing where no draw_commitment is given.", kInvite,
     [](json& m) { m.erase("draw_commitment"); }},
    {"P-4.6/large-opponent-id", "Ids go beyond P99.", "Take ids as texts.", kInvite,
     [](json& m) { m["opponent_id"] = "P1234"; }},
    {"P-4.6/large-round", "`round_id` may have four digits.", "Take round_id as an integer.",
     kInvite, [](json& m) { m["round_id"] = 1999; }},
    {"P-4.8/no-context", "`context` may be missing.",
     "Use context only where it is there: params.get(\"context\") or {}.", kCall,
     [](json& m) { m.erase("context"); }},
    {"P-4.8/empty-context", "`context` may be empty.",
     "Use each part of context only where it is there.", kCall,
     [](json& m) { m["context"] = json::object(); }},
    {"P-4.8/no-standings", "`your_standings` may be missing.",
     "Use each part of context only where it is there.", kCall,
     [](json& m) { m["context"].erase("your_standings"); }},
    {"P-4.8/uncommitted-opponent", "`opponent_commitment` may be missing: the opponent has none.",
     "Play on where the opponent does not commit itself.", kCall,
     [](json& m) { m["context"].erase("opponent_commitment"); }},
};

Verdict run_variant(PlayerBench& bench, const Variant& variant) {
  const TestMatch match = bench.new_match();
  if (variant.type == kInvite) {
    json message = bench.invitation(match);
    variant.change(message);
    return expect_accepted(bench.ask(kInvite, message),
                           "this is right: " + std::string(variant.text));
  }
  (void)bench.ask(kInvite, bench.invitation(match));
  json message = bench.choice_call(match);
  variant.change(message);
  return expect_choice(bench.ask(kCall, message), "this is right: " + std::string(variant.text));
}

}  // namespace

void add_tolerance_checks(PlayerBench& bench, Checks& out) {
  for (const Variant& variant : kVariants) {
    out.push_back(
        {{.id = variant.id, .level = variant.level, .text = variant.text, .fix = variant.fix},
         [&bench, &variant] { return run_variant(bench, variant); }});
  }
}

}  // namespace league::tools::check
