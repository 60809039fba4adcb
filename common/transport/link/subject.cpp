#include "common/transport/link/subject.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>

#include "common/transport/link/request_budgets.h"

namespace league::transport::link {
namespace {

constexpr std::size_t kMinSession = 8;
constexpr std::size_t kMaxSession = 64;
constexpr std::size_t kMaxSubject = 256;
constexpr std::string_view kInboxPrefix = "_INBOX.";

bool is_token_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
}

std::string as_token(std::string_view text) {
  std::string out(text.empty() ? "_" : text);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return !is_token_character(c); }, '_');
  return out;
}

}  // namespace

std::optional<BusSession> BusSession::parse(std::string_view text) {
  bool is_good = text.size() >= kMinSession && text.size() <= kMaxSession &&
                 std::all_of(text.begin(), text.end(), is_token_character);
  if (!is_good) return std::nullopt;
  return BusSession(std::string(text));
}

BusSession BusSession::make(core::RandomSource& random) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::uint8_t byte : random.bytes<16>()) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return BusSession(std::move(text));
}

namespace {

std::optional<BusSession> session_between(std::string_view begin, std::string_view subject,
                                          std::string_view end) {
  bool is_one = subject.size() > begin.size() + end.size() && subject.starts_with(begin) &&
                subject.ends_with(end);
  if (!is_one) return std::nullopt;
  return BusSession::parse(
      subject.substr(begin.size(), subject.size() - begin.size() - end.size()));
}

}  // namespace

std::string session_discovery(const BusSession& session) {
  return std::string(kDiscoverySubject) + "." + session.str();
}

std::string session_in(const BusSession& session) { return "mcp.session." + session.str() + ".in"; }

std::string session_out(const BusSession& session) {
  return "mcp.session." + session.str() + ".out";
}

std::string session_attached(const BusSession& session) {
  return "mcp.session." + session.str() + ".attached";
}

std::optional<BusSession> session_of_out(std::string_view subject) {
  return session_between("mcp.session.", subject, ".out");
}

std::optional<BusSession> session_of_attached(std::string_view subject) {
  return session_between("mcp.session.", subject, ".attached");
}

std::string budget_name(const BusSession& session) {
  constexpr std::size_t kShown = 8;
  return std::string(kSessionSender) + session.str().substr(0, kShown) + "...";
}

std::string session_inbox(const BusSession& session, std::string_view name) {
  return std::string(kInboxPrefix) + session.str() + "." + std::string(name);
}

std::string event_subject(std::string_view league, std::string_view type) {
  return "mcp.events." + as_token(league) + "." + as_token(type);
}

std::string event_subjects(std::string_view league) {
  return "mcp.events." + as_token(league) + ".>";
}

std::string event_stream(std::string_view league) { return "LEAGUE_EVENTS_" + as_token(league); }

std::string journal_subject(std::string_view league) { return "mcp.journal." + as_token(league); }

std::string journal_have_subject(std::string_view league) {
  return journal_subject(league) + ".have";
}

std::string packed_journal_subject(std::string_view league) {
  return journal_subject(league) + ".packed";
}

std::string lease_subject(std::string_view league) {
  return "$KV.league_lease_" + as_token(league) + ".lead";
}

std::string lease_stream(std::string_view league) { return "KV_league_lease_" + as_token(league); }

std::string league_stream(std::string_view kind, std::string_view league) {
  return "LEAGUE_" + std::string(kind) + "_" + as_token(league);
}

bool is_answerable(std::string_view reply_subject, const BusSession* session) {
  if (reply_subject.size() > kMaxSubject) return false;
  if (session != nullptr && reply_subject == session_out(*session)) return true;
  if (!reply_subject.starts_with(kInboxPrefix)) return false;
  auto name = reply_subject.substr(kInboxPrefix.size());
  bool is_clean = std::all_of(name.begin(), name.end(),
                              [](char c) { return is_token_character(c) || c == '.'; });
  return is_clean && !name.empty() && !name.starts_with('.') && !name.ends_with('.') &&
         name.find("..") == std::string_view::npos;
}

bool is_own_answer(std::string_view reply_subject, const BusSession& session) {
  return is_answerable(reply_subject, &session) &&
         (reply_subject == session_out(session) ||
          reply_subject.starts_with(session_inbox(session, "")));
}

}  // namespace league::transport::link
