#include "tools/audit/facts/speaker.h"

#include "tools/audit/facts/reading.h"

namespace league::tools::auditor {
namespace {

using audit::log::kFirstVersionWithSpeakers;
using audit::log::LogEntry;

bool is_agent(const std::string& name) {
  return name.starts_with("player:") || name.starts_with("referee:") ||
         name.starts_with("league_manager");
}

}  // namespace

bool is_said_by(const LogEntry& entry, const std::string& agent) {
  if (entry.outbound) return entry.agent == agent;
  return (entry.version < kFirstVersionWithSpeakers ? entry.peer : entry.said_by) == agent;
}

std::string according_to(const LogEntry& entry, const std::string& agent) {
  if (entry.version < kFirstVersionWithSpeakers) return {};
  const bool is_own_or_managers = entry.agent == "league_manager" || entry.agent == agent;
  if (is_own_or_managers && is_said_by(entry, agent)) return {};
  return id_of(entry.agent);
}

bool HearsayFilter::is_hearsay(const LogEntry& entry) {
  if (entry.version < kFirstVersionWithSpeakers) return false;
  const std::pair call(entry.file, entry.call);
  if (entry.kind != "request") return entry.outbound && calls_.erase(call) > 0;
  const bool is_claim = !entry.outbound && entry.said_by.empty() && is_agent(entry.peer);
  if (is_claim && entry.call != 0) calls_.insert(call);
  return is_claim;
}

}  // namespace league::tools::auditor
