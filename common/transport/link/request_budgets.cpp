#include "common/transport/link/request_budgets.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace league::transport::link {
namespace {

/// How many refusals of a sender are answered at once, before its answers are delayed; it regains
/// as many each second.
constexpr double kPatience = 20;

/// The name of those that are not told apart.
constexpr std::string_view kOthers = "others";

bool is_by_address(Standing standing) {
  return standing == Standing::kNewcomer || standing == Standing::kStranger;
}

/// How long `missing` takes to come at `per_second`.
double seconds_for(double missing, double per_second) {
  return missing <= 0 ? 0 : missing / per_second;
}

}  // namespace

std::string shown_sender(const RequestSender& sender) {
  const std::string name =
      sender.name.starts_with(kSessionSender) ? sender.name : "address " + sender.name;
  switch (sender.standing) {
    case Standing::kStaff:
    case Standing::kPlayer:
      return sender.name;
    case Standing::kNewcomer:
      return name + " (registrations)";
    case Standing::kStranger:
      return name + " (without a credential)";
  }
  return sender.name;
}

void RequestBudgets::refill(Account& account, Instant now) const {
  const Allowance& allowed = allowance(account.sender.standing);
  const double passed = std::chrono::duration<double>(now - account.at).count();
  account.at = now;
  account.requests = std::min(account.requests + passed * allowed.requests_per_second,
                              capacity(allowed.requests_per_second));
  account.patience = std::min(account.patience + passed * kPatience, kPatience);
  const double most = capacity(allowed.log_bytes_per_second);
  account.log_bytes = std::min(account.log_bytes + passed * allowed.log_bytes_per_second, most);
  double change = -static_cast<double>(account.meter->take());
  if (change > 0) {
    // Less was written than was charged. What was forgiven is not given back.
    const double returned = std::min(change, account.forgiven);
    account.forgiven -= returned;
    change -= returned;
  }
  const double left = account.log_bytes + change;
  // A debt is limited like a credit; otherwise one answer of many megabytes would lock a sender
  // out.
  account.forgiven = left >= most ? 0 : account.forgiven + std::max(-most - left, 0.0);
  account.log_bytes = std::clamp(left, -most, most);
}

bool RequestBudgets::refill_and_check_idle(Account& account, Instant now) const {
  refill(account, now);
  const Allowance& allowed = allowance(account.sender.standing);
  return account.refused == 0 && account.requests >= capacity(allowed.requests_per_second) &&
         account.log_bytes >= capacity(allowed.log_bytes_per_second);
}

void RequestBudgets::forget_idle(Accounts& accounts, Instant now) {
  // Searching all accounts for each new address would be too expensive.
  constexpr std::chrono::seconds kApart{1};
  if (forgot_at_ && now < *forgot_at_ + kApart) return;
  forgot_at_ = now;
  for (auto entry = accounts.begin(); entry != accounts.end();)
    entry = refill_and_check_idle(entry->second, now) ? accounts.erase(entry) : std::next(entry);
}

RequestBudgets::Account& RequestBudgets::account_of(const RequestSender& sender, Instant now) {
  Accounts& accounts = accounts_[static_cast<std::size_t>(sender.standing)];
  auto found = accounts.find(sender.name);
  if (found != accounts.end()) return found->second;
  RequestSender owner = sender;
  if (is_by_address(sender.standing)) {
    if (accounts.size() >= options_.max_addresses) forget_idle(accounts, now);
    if (accounts.size() >= options_.max_addresses) owner.name = kOthers;
  }
  auto [place, is_new] = accounts.try_emplace(owner.name);
  Account& account = place->second;
  if (!is_new) return account;
  const Allowance& allowed = allowance(owner.standing);
  account.sender = std::move(owner);
  account.requests = capacity(allowed.requests_per_second);
  account.log_bytes = capacity(allowed.log_bytes_per_second);
  account.patience = kPatience;
  account.at = now;
  return account;
}

std::size_t RequestBudgets::senders() const {
  std::size_t count = 0;
  for (const auto& accounts : accounts_) count += accounts.size();
  return count;
}

RequestBudgets::Charge RequestBudgets::charge(const RequestSender& sender, std::size_t requests,
                                              Instant now) {
  Account& account = account_of(sender, now);
  refill(account, now);
  const Allowance& allowed = allowance(account.sender.standing);
  const double wait = std::max(seconds_for(1 - account.requests, allowed.requests_per_second),
                               seconds_for(-account.log_bytes, allowed.log_bytes_per_second));
  if (wait <= 0) {
    // A batch may use more than is left; then later requests have to wait.
    account.requests = std::max(account.requests - static_cast<double>(requests),
                                -capacity(allowed.requests_per_second));
    return {std::nullopt, false, account.meter};
  }
  return {std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(wait * 1000))),
          note_refusal(account), account.meter};
}

bool RequestBudgets::note_refusal(Account& account) {
  ++account.refused;
  if (account.patience < 1) return true;
  account.patience -= 1;
  return false;
}

std::vector<Overrun> RequestBudgets::take_overruns() {
  std::vector<Overrun> all;
  for (auto& accounts : accounts_) {
    for (auto& [name, account] : accounts) {
      if (auto refused = std::exchange(account.refused, 0); refused > 0)
        all.push_back({account.sender, refused});
    }
  }
  std::ranges::sort(
      all, {}, [](const Overrun& one) { return std::pair(one.sender.standing, one.sender.name); });
  return all;
}

}  // namespace league::transport::link
