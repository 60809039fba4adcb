#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/random_source.h"

namespace league::transport::link {

/// The name of a logical session on a bus: 8 to 64 letters, digits, `-` and `_`. It is a part of
/// subjects, so no other text ever becomes one.
class BusSession {
 public:
  /// Nothing if the text is not a valid name.
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

/// The discovery subject on a bus that does not check whose session an agent names:
/// `mcp.discovery`.
inline constexpr std::string_view kDiscoverySubject = "mcp.discovery";
/// The same for one session: `mcp.discovery.ID`, at which only its user may publish; and all of
/// these: `mcp.discovery.*`.
[[nodiscard]] std::string session_discovery(const BusSession& session);
inline constexpr std::string_view kSessionDiscoveries = "mcp.discovery.*";

/// The subjects of a bus. Source: docs/distributed.md.
/// What a session's agent sends to the manager: `mcp.session.ID.in`.
[[nodiscard]] std::string session_in(const BusSession& session);
/// What others send to the session's agent: `mcp.session.ID.out`.
[[nodiscard]] std::string session_out(const BusSession& session);
/// The session whose `.out` the subject is.
[[nodiscard]] std::optional<BusSession> session_of_out(std::string_view subject);
/// Where the manager says that the session's agent has attached: `mcp.session.ID.attached`; and
/// all of these: `mcp.session.*.attached`.
[[nodiscard]] std::string session_attached(const BusSession& session);
[[nodiscard]] std::optional<BusSession> session_of_attached(std::string_view subject);
inline constexpr std::string_view kSessionsAttached = "mcp.session.*.attached";
/// The subject of answers to the session's own requests: `_INBOX.ID.NAME`.
[[nodiscard]] std::string session_inbox(const BusSession& session, std::string_view name);
/// The name under which a session without a credential is charged and shown to people: `session
/// 9731fd6f...`. The whole name would give access to it where the broker has no users.
[[nodiscard]] std::string budget_name(const BusSession& session);
/// The subject of public events: `mcp.events.LEAGUE.TYPE`. Characters that subjects do not allow
/// become `_`, so the same league always has the same subject.
[[nodiscard]] std::string event_subject(std::string_view league, std::string_view type);
/// The subject that matches all public events of a league: `mcp.events.LEAGUE.>`.
[[nodiscard]] std::string event_subjects(std::string_view league);
/// The stream in which a broker stores a league's public events: `LEAGUE_EVENTS_LEAGUE`.
[[nodiscard]] std::string event_stream(std::string_view league);

/// The stream of a replicated league's journal in one of its incarnations, from 1 on:
/// `LEAGUE_STREAM_INCARNATION_LEAGUE`; and the incarnation in such a name.
[[nodiscard]] std::string journal_stream(std::string_view league, std::uint64_t incarnation);
[[nodiscard]] std::optional<std::uint64_t> journal_incarnation(std::string_view league,
                                                               std::string_view stream);
/// The subject of that stream: `mcp.journal.LEAGUE.INCARNATION`; and all of a league's:
/// `mcp.journal.LEAGUE.*`.
[[nodiscard]] std::string journal_subject(std::string_view league, std::uint64_t incarnation);
[[nodiscard]] std::string journal_subjects(std::string_view league);
/// The subject of the heartbeats of a league's managers: `mcp.journal.LEAGUE.beat`.
[[nodiscard]] std::string journal_beat_subject(std::string_view league);

/// The reply subject that a stranger asks for, if answers may go there: an inbox, or the `.out` of
/// `session`. Otherwise strangers could make us publish on subjects of others.
[[nodiscard]] bool is_answerable(std::string_view reply_subject, const BusSession* session);
/// Whether the session's own user listens at that subject: its `.out`, or an inbox of it.
[[nodiscard]] bool is_own_answer(std::string_view reply_subject, const BusSession& session);

}  // namespace league::transport::link
