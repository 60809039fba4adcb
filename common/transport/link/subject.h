#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/core/random_source.h"

namespace league::transport {

/// The name of a logical session on a bus: 8 to 64 letters, digits, `-` and `_`. It is a part of
/// subjects, so no other text ever becomes one.
class BusSession {
 public:
  /// Nothing for a text that is none.
  [[nodiscard]] static std::optional<BusSession> parse(std::string_view text);
  /// A new one that nobody can guess: 32 hexadecimal digits.
  [[nodiscard]] static BusSession make(core::RandomSource& random);

  [[nodiscard]] const std::string& str() const { return text_; }
  bool operator==(const BusSession&) const = default;
  auto operator<=>(const BusSession&) const = default;

 private:
  explicit BusSession(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

/// Where agents look for a league's manager where nobody checks whose session they name:
/// `mcp.discovery`.
inline constexpr std::string_view kDiscoverySubject = "mcp.discovery";
/// The same for one session: `mcp.discovery.ID`, at which only its user may publish; and all of
/// these: `mcp.discovery.*`.
[[nodiscard]] std::string session_discovery(const BusSession& session);
inline constexpr std::string_view kSessionDiscoveries = "mcp.discovery.*";

/// The subjects of a bus (docs/distributed.md). Source: the design for stateless sessions.
/// What a session's agent sends to the manager: `mcp.session.ID.in`.
[[nodiscard]] std::string session_in(const BusSession& session);
/// What others send to the session's agent: `mcp.session.ID.out`.
[[nodiscard]] std::string session_out(const BusSession& session);
/// Where answers to the session's own requests come: `_INBOX.ID.NAME`.
[[nodiscard]] std::string session_inbox(const BusSession& session, std::string_view name);
/// By which a session that shows no credential is charged, and named to people: `session
/// 9731fd6f...`. The whole name would open it where the broker knows no users.
[[nodiscard]] std::string budget_name(const BusSession& session);
/// What everybody may hear: `mcp.events.LEAGUE.TYPE`. Characters that cannot stand in a subject
/// become `_`, so the same league always has the same subject.
[[nodiscard]] std::string event_subject(std::string_view league, std::string_view type);
/// All of a league's: `mcp.events.LEAGUE.>`.
[[nodiscard]] std::string event_subjects(std::string_view league);
/// The stream in which a broker keeps them: `LEAGUE_EVENTS_LEAGUE`.
[[nodiscard]] std::string event_stream(std::string_view league);

/// Where the manager that leads tells those who stand by what it has written down:
/// `mcp.journal.LEAGUE`; and where they say that they have it: `mcp.journal.LEAGUE.have`.
[[nodiscard]] std::string journal_subject(std::string_view league);
[[nodiscard]] std::string journal_have_subject(std::string_view league);
/// Where pieces of it stand that are packed: `mcp.journal.LEAGUE.packed`.
[[nodiscard]] std::string packed_journal_subject(std::string_view league);
/// Where stands who leads a league: `$KV.league_lease_LEAGUE.lead`, in the stream `lease_stream`,
/// a key-value bucket of the league's own: `KV_league_lease_LEAGUE`.
[[nodiscard]] std::string lease_subject(std::string_view league);
[[nodiscard]] std::string lease_stream(std::string_view league);
/// The name of one of a league's streams: `LEAGUE_JOURNAL_LEAGUE` for the kind `JOURNAL`.
[[nodiscard]] std::string league_stream(std::string_view kind, std::string_view league);

/// The subject that a stranger wants an answer at, if it is one that answers may go to: an inbox,
/// or the `.out` of `session`. Else whoever answers could be made to speak on subjects of others.
[[nodiscard]] bool is_answerable(std::string_view reply_subject, const BusSession* session);
/// Whether that is one at which the session's own user listens: its `.out`, or an inbox of it.
[[nodiscard]] bool is_own_answer(std::string_view reply_subject, const BusSession& session);

}  // namespace league::transport
