#include "league_manager/spectators/registration_board.h"

#include <algorithm>
#include <utility>

#include "common/core/text.h"
#include "common/envelope/display_name.h"
#include "common/rpc/json_object.h"
#include "league_manager/view/json_rows.h"
#include "league_manager/view/public_text.h"

namespace league::league_manager::spectators {
namespace {

constexpr std::size_t kLongestShownName = 200;  // bytes; enough for 50 characters
constexpr std::size_t kLongestRefusal = 400;

}  // namespace

void RegistrationBoard::on_events(const events::Events& events) {
  bool is_news = false;
  {
    std::lock_guard lock(mutex_);
    for (const events::Event& event : events) {
      const auto* registered = std::get_if<events::AgentRegistered>(&event.body);
      const auto* again = std::get_if<events::AgentReregistered>(&event.body);
      if (registered != nullptr) note_player(registered->agent, registered->profile);
      if (again != nullptr) note_player(again->agent, again->profile);
      const auto* changed = std::get_if<events::AgentStateChanged>(&event.body);
      is_started_ = is_started_ || std::holds_alternative<events::LeagueStarted>(event.body);
      const bool is_freed = changed != nullptr && !is_started_ &&
                            changed->to == events::AgentState::kShutdown &&
                            changed->agent.kind == events::AgentKind::kPlayer;
      if (is_freed) forget_player(changed->agent.index);
      is_news = is_news || registered != nullptr || again != nullptr || is_freed;
    }
  }
  if (is_news) on_change_();
}

void RegistrationBoard::note_player(events::AgentRef agent, const events::AgentProfile& profile) {
  if (agent.kind != events::AgentKind::kPlayer) return;
  by_name_[envelope::comparable_name(profile.display_name)] = agent.index;
  if (profile.code_digest) by_digest_[*profile.code_digest] = agent.index;
}

void RegistrationBoard::forget_player(int player) {
  const auto is_seat = [player](const auto& entry) { return entry.second == player; };
  std::erase_if(by_name_, is_seat);
  std::erase_if(by_digest_, is_seat);
}

void RegistrationBoard::on_codes(Codes codes) {
  {
    std::lock_guard lock(mutex_);
    codes_ = std::move(codes);
  }
  on_change_();
}

void RegistrationBoard::on_refused(events::AgentKind kind, std::string_view name,
                                   std::string_view code, const core::Error& why,
                                   core::UtcTimestamp at) {
  {
    std::lock_guard lock(mutex_);
    ++counts_[{kind, why.code}];
    Refusal refusal{kind,     view::public_text(core::excerpt(name, kLongestShownName)),      {},
                    why.code, view::public_text(core::excerpt(why.message, kLongestRefusal)), 1,
                    at};
    if (codes_ && kind == events::AgentKind::kPlayer) {
      const auto* about = codes_->find_name(name);
      if (about == nullptr) about = codes_->find(code);
      if (about != nullptr) refusal.expected = about->name;
    }
    const auto same = std::ranges::find_if(refusals_, [&](const Refusal& one) {
      return one.kind == kind && one.name == refusal.name && one.code == why.code &&
             one.expected == refusal.expected;
    });
    if (same != refusals_.end()) {
      refusal.times += same->times;
      refusals_.erase(same);
    } else if (refusals_.size() >= kMostRefusals) {
      forgotten_ += refusals_.front().times;
      refusals_.erase(refusals_.begin());
    }
    refusals_.push_back(std::move(refusal));
  }
  on_change_();
}

RegistrationBoard::RefusalCounts RegistrationBoard::refusals() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

int RegistrationBoard::player_of(const admission::RegistrationCodes::Entry& entry) const {
  if (const auto found = by_digest_.find(entry.digest); found != by_digest_.end())
    return found->second;
  const auto found = by_name_.find(envelope::comparable_name(entry.name));
  return found == by_name_.end() ? -1 : found->second;
}

int RegistrationBoard::row_of(const std::string& name) const {
  const auto* entry = codes_ && !name.empty() ? codes_->find_name(name) : nullptr;
  return entry == nullptr ? -1 : static_cast<int>(entry - codes_->entries().data());
}

std::string RegistrationBoard::json() const {
  std::lock_guard lock(mutex_);
  std::string expected = "null";
  if (codes_) {
    expected.clear();
    view::Rows rows(expected);
    for (const auto& entry : codes_->entries()) {
      view::Rows(rows.next())
          .text(entry.name)
          .text(entry.team)
          .number(player_of(entry))
          .number(entry.digest.empty() ? 0 : 1)
          .end();
    }
    rows.end();
  }
  std::string refused;
  view::Rows rows(refused);
  for (const Refusal& one : refusals_) {
    view::Rows(rows.next())
        .text(events::agent_kind_name(one.kind))
        .text(one.name)
        .number(row_of(one.expected))
        .text(core::wire_code(one.code))
        .text(one.text)
        .number(static_cast<std::int64_t>(one.times))
        .number(view::milliseconds_of(one.last))
        .end();
  }
  rows.end();
  std::string out;
  rpc::JsonObject(out)
      .raw("expected", expected)
      .raw("refused", refused)
      .number("forgotten", forgotten_)
      .end();
  return out;
}

}  // namespace league::league_manager::spectators
