// Unusual but correct messages, which have to be accepted.
#include "tools/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

/// An invitation or call that differs from the ordinary one, but is correct.
struct Variant {
  const char* id;
  const char* text;
  const char* fix;
  MessageType type;
  void (*change)(json&);
  Level level = Level::kRobust;
};

constexpr const char* kReadTime =
    "Accept every format of the protocol (section 3), or do not read timestamps at all.";
constexpr const char* kIgnore = "Read the fields that you know, and ignore all others.";

const Variant kVariants[] = {
    {"P-3/accepts-extended", "The timestamp 2025-01-15T10:30:00Z is accepted.", kReadTime, kInvite,
     [](json& m) { m["timestamp"] = "2025-01-15T10:30:00Z"; }},
    {"P-3/accepts-half-compact", "The timestamp 20250115T10:30:00Z is accepted.", kReadTime,
     kInvite, [](json& m) { m["timestamp"] = "20250115T10:30:00Z"; }},
    {"P-3/accepts-compact", "The timestamp 20250115T103000Z is accepted.", kReadTime, kInvite,
     [](json& m) { m["timestamp"] = "20250115T103000Z"; }},
    {"P-3/accepts-zero-offset", "The timestamp 2025-01-15T10:30:00+00:00 is accepted.", kReadTime,
     kInvite, [](json& m) { m["timestamp"] = "2025-01-15T10:30:00+00:00"; }},
    {"P-3/accepts-compact-zero-offset", "The timestamp 20250115T103000+00:00 is accepted.",
     kReadTime, kInvite, [](json& m) { m["timestamp"] = "20250115T103000+00:00"; }},
    {"P-3/accepts-fraction", "The timestamp 2025-01-15T10:30:00.5Z is accepted.", kReadTime,
     kInvite, [](json& m) { m["timestamp"] = "2025-01-15T10:30:00.5Z"; }},
    {"P-3/accepts-long-fraction",
     "A timestamp with nine digits after the decimal point is accepted.", kReadTime, kInvite,
     [](json& m) { m["timestamp"] = "2025-01-15T10:30:00.123456789Z"; }},
    {"P-3/accepts-compact-deadline", "A `deadline` in any format of a timestamp is accepted.",
     kReadTime, kCall, [](json& m) { m["deadline"] = "20990115T103000.25Z"; }},
    {"P-9/past-deadline", "The bot answers even if `deadline` has already passed.",
     "Answer whatever the deadline says, because clocks differ.", kCall,
     [](json& m) { m["deadline"] = "2020-01-15T10:30:00Z"; }},
    {"P-2/protocol-minor", "The protocol `league.v2.1` is accepted.",
     "Compare only the beginning, league.v2.", kInvite,
     [](json& m) { m["protocol"] = "league.v2.1"; }},
    {"P-2/extra-field", "An unknown field is ignored.", kIgnore, kInvite,
     [](json& m) { m["league_check_extra"] = "anything"; }},
    {"P-2/extra-object", "An unknown field whose value is an object is ignored.", kIgnore, kInvite,
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
    {"P-2/long-conversation", "A conversation_id of 100 characters is accepted.",
     "Accept any conversation_id of up to 100 characters.", kInvite,
     [](json& m) { m["conversation_id"] = std::string(100, 'c'); }},
    {"P-2/odd-conversation",
     "A conversation_id with blanks, slashes and letters of any script is accepted.",
     "Accept any string as conversation_id; do not parse it.", kInvite,
     [](json& m) { m["conversation_id"] = "conv /\xC3\xA4\xE6\x97\xA5 #1"; }},
    {"P-4.6/no-draw-commitment", "An invitation without `draw_commitment` is accepted.",
     "If the invitation has no draw_commitment, play without a commitment.", kInvite,
     [](json& m) { m.erase("draw_commitment"); }},
    {"P-4.6/large-opponent-id", "The opponent's id may have more than two digits.",
     "Treat ids as strings of any length.", kInvite, [](json& m) { m["opponent_id"] = "P1234"; }},
    {"P-4.6/large-round", "A `round_id` of four digits is accepted.",
     "Treat round_id as an integer of any size.", kInvite, [](json& m) { m["round_id"] = 1999; }},
    {"P-4.8/no-context", "A call for a choice without `context` is answered.",
     "Read context only if it is present. In Python: call.get(\"context\") or {}.", kCall,
     [](json& m) { m.erase("context"); }},
    {"P-4.8/empty-context", "A call for a choice with an empty `context` is answered.",
     "Read a field of context only if it is present.", kCall,
     [](json& m) { m["context"] = json::object(); }},
    {"P-4.8/no-standings", "A call for a choice without `your_standings` is answered.",
     "Read a field of context only if it is present.", kCall,
     [](json& m) { m["context"].erase("your_standings"); }},
    {"P-4.8/uncommitted-opponent",
     "A call for a choice without `opponent_commitment` is answered (the opponent has not "
     "committed).",
     "Reveal your choice even if the opponent has not committed.", kCall,
     [](json& m) { m["context"].erase("opponent_commitment"); }},
};

Verdict run_variant(PlayerBench& bench, const Variant& variant) {
  const TestMatch match = bench.new_match();
  if (variant.type == kInvite) {
    json message = bench.invitation(match);
    variant.change(message);
    return expect_accepted(bench.ask(kInvite, message), "the protocol allows this message");
  }
  (void)bench.ask(kInvite, bench.invitation(match));
  json message = bench.choice_call(match);
  variant.change(message);
  return expect_choice(bench.ask(kCall, message), "the protocol allows this message");
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
