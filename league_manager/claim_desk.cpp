#include "league_manager/claim_desk.h"

#include <nlohmann/json.hpp>

#include "common/core/crypto.h"
#include "common/envelope/round_messages.h"
#include "league_manager/manager_tools.h"

namespace league::league_manager {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;
using nlohmann::json;

/// More at once is no referee's need: it has as many places as it said.
constexpr std::size_t kMostClaims = 1000;

std::string text_at(const json& object, const char* name) {
  auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

Error bad_claims(const std::string& why) {
  return {ErrorCode::kInvalidFieldValue, "claims must be " + why, "/claims"};
}

Result<Claim> read_claim(const json& in) {
  auto match = in.is_object() ? MatchKey::parse(text_at(in, "match_id")) : std::nullopt;
  if (!match) return bad_claims("objects with a match_id such as R1M1");
  Claim claim{*match};
  auto attempt = in.find("attempt");
  if (attempt == in.end()) return claim;
  if (!attempt->is_number_integer() || *attempt < 1 || *attempt > kMostAssignments)
    return bad_claims("objects whose attempt is 1 or more");
  claim.attempt = attempt->get<int>();
  return claim;
}

}  // namespace

struct ClaimDesk::Claims {
  int referee = 0;
  std::vector<Claim> wanted;
};

ClaimDesk::ClaimDesk(agent::AgentServer& server, Ledger& ledger, Conductor& conductor)
    : ledger_(ledger), conductor_(conductor) {
  server.bind_tool(claim_match_tool(),
                   [this](agent::ToolCall call) { on_claims(std::move(call)); });
}

Result<int> ClaimDesk::referee_of(const json& arguments) const {
  constexpr std::string_view kPrefix = "referee:";
  std::string id = text_at(arguments, "sender");
  if (id.starts_with(kPrefix)) id.erase(0, kPrefix.size());
  core::AuthToken shown(text_at(arguments, "auth_token"));
  if (shown.empty()) {
    return Error{ErrorCode::kAuthTokenMissing, "claim_match needs the referee's own auth_token",
                 "/auth_token"};
  }
  auto hash = shown.hash();
  return ledger_.read([&](const League& league) -> Result<int> {
    auto ref = league.roster().find(id);
    if (!ref || ref->kind != AgentKind::kReferee) {
      return Error{ErrorCode::kRefereeNotRegistered,
                   "sender must be referee:ID with the id that the registration answered with",
                   "/sender"};
    }
    if (!core::constant_time_equal(league.roster().agent(*ref).credential.token_hash, hash)) {
      return Error{ErrorCode::kAuthTokenInvalid,
                   "auth_token " + shown.masked() + " is not the token that " + id + " was given",
                   "/auth_token"};
    }
    return ref->index;
  });
}

Result<ClaimDesk::Claims> ClaimDesk::read(const json& arguments) const {
  auto referee = referee_of(arguments);
  if (!referee) return referee.error();
  Claims claims{*referee, {}};
  auto wanted = arguments.find("claims");
  if (wanted == arguments.end()) return claims;
  if (!wanted->is_array() || wanted->size() > kMostClaims)
    return bad_claims("an array of at most " + std::to_string(kMostClaims));
  for (const auto& one : *wanted) {
    auto claim = read_claim(one);
    if (!claim) return claim.error();
    claims.wanted.push_back(*claim);
  }
  return claims;
}

json ClaimDesk::answer(const Claims& claims, const ClaimDecision& decision) const {
  json answer = {{"status", "ok"}, {"verdicts", json::object()}};
  std::vector<MatchKey> own;
  for (std::size_t i = 0; i < claims.wanted.size(); ++i) {
    MatchKey match = claims.wanted[i].match;
    answer["verdicts"][match.id().str()] = claim_verdict_name(decision.verdicts[i]);
    if (decision.verdicts[i] == ClaimVerdict::kYours) own.push_back(match);
  }
  auto matches = conductor_.assignments(claims.referee, own);
  if (matches.empty()) return answer;
  answer["round_id"] = own.front().round;
  answer["matches"] = envelope::encode_assignments(matches);
  return answer;
}

void ClaimDesk::on_claims(agent::ToolCall call) {
  auto claims = read(call.arguments);
  if (!claims) return call.reply.refuse(claims.error());
  conductor_.release_refused(claims->referee, call.arguments);
  auto decision = std::make_shared<ClaimDecision>();
  auto reply = std::make_shared<agent::Reply>(std::move(call.reply));
  auto is_suspended = std::make_shared<bool>(false);
  auto wanted = std::make_shared<Claims>(std::move(*claims));
  ledger_.commit(
      [=](const League& league, core::UtcTimestamp now) {
        *decision = league.decide_claims(wanted->referee, wanted->wanted, now);
        const auto& lifecycle = league.roster().agent(AgentRef::referee(wanted->referee)).lifecycle;
        *is_suspended = lifecycle.state() == AgentState::kSuspended;
        return decision->events;
      },
      [=, this](const Result<Events>& stored) {
        if (!stored) {
          return reply->refuse({ErrorCode::kOverloaded,
                                "the league manager cannot store anything and stops: try again "
                                "when it is back",
                                ""});
        }
        reply->send(answer(*wanted, *decision), [this, wanted, is_suspended] {
          // Who asks is alive; what it asked for it gets the next time.
          if (*is_suspended) conductor_.on_alive(AgentRef::referee(wanted->referee));
        });
      });
}

}  // namespace league::league_manager
