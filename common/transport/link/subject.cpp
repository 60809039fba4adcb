#include "common/transport/link/subject.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include "common/transport/link/request_budgets.h"

namespace league::transport::link {
namespace {

constexpr std::size_t kMinSession = 8;
constexpr std::size_t kMaxSession = 64;
constexpr std::size_t kMaxSubject = 256;
constexpr std::string_view kInboxPrefix = "_INBOX.";
constexpr std::string_view kJournalStream = "LEAGUE_STREAM_";

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

std::string journal_stream(std::string_view league, std::uint64_t incarnation) {
  return std::string(kJournalStream) + std::to_string(incarnation) + "_" + as_token(league);
}

std::optional<std::uint64_t> journal_incarnation(std::string_view league, std::string_view stream) {
  if (!stream.starts_with(kJournalStream)) return std::nullopt;
  std::uint64_t incarnation = 0;
  const auto digits = stream.substr(kJournalStream.size());
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), incarnation);
  if (incarnation == 0 || stream != journal_stream(league, incarnation)) return std::nullopt;
  return incarnation;
}

std::string journal_subject(std::string_view league, std::uint64_t incarnation) {
  return "mcp.journal." + as_token(league) + "." + std::to_string(incarnation);
}

std::string journal_subjects(std::string_view league) {
  return "mcp.journal." + as_token(league) + ".*";
}

std::string journal_beat_subject(std::string_view league) {
  return "mcp.journal." + as_token(league) + ".beat";
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
