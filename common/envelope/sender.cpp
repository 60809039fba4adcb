#include "common/envelope/sender.h"

#include <algorithm>

#include "common/core/text.h"

namespace league::envelope {
namespace {

constexpr std::size_t kMaxIdLength = 64;

bool is_id(std::string_view id) {
  auto is_word = [](char c) { return core::is_alphanumeric(c) || c == '_'; };
  return !id.empty() && id.size() <= kMaxIdLength && std::ranges::all_of(id, is_word);
}

}  // namespace

std::string_view role_name(Role role) {
  switch (role) {
    case Role::kLeagueManager:
      return "league_manager";
    case Role::kReferee:
      return "referee";
    case Role::kPlayer:
      return "player";
  }
  return "unknown";
}

core::Result<Sender> Sender::parse(std::string_view text) {
  if (text == role_name(Role::kLeagueManager)) return league_manager();
  for (Role role : {Role::kReferee, Role::kPlayer}) {
    std::string_view name = role_name(role);
    if (!text.starts_with(name) || text.substr(name.size(), 1) != ":") continue;
    std::string_view id = text.substr(name.size() + 1);
    if (is_id(id)) return Sender{role, std::string(id)};
  }
  return core::Error{
      core::ErrorCode::kInvalidSender,
      "sender \"" + std::string(text.substr(0, core::kShownLength)) +
          "\" must be league_manager, referee:ID or player:ID, where ID is letters, digits and "
          "underscores, at most 64 of them, such as player:P01",
      "/sender"};
}

std::string Sender::str() const {
  std::string text(role_name(role));
  if (role != Role::kLeagueManager) text += ":" + id;
  return text;
}

}  // namespace league::envelope
