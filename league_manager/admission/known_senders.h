#pragma once

#include <optional>
#include <string_view>

#include "common/core/auth_token.h"
#include "common/transport/link/rate_limiter.h"
#include "league_manager/admission/admission.h"
#include "league_manager/admission/seat_admission.h"
#include "league_manager/files/ledger.h"

namespace league::league_manager::admission {

/// Recognises senders with a valid credential before the rest of a request is read: agents by their
/// tokens, seated players by their sessions, referees that call them by their match credentials,
/// the operator and new referees by their keys. A registration code does not count: guessing codes
/// must cost budget. An agent that is shut down counts as a stranger. A
/// transport::link::RateLimiter::Recognise; thread-safe.
class KnownSenders {
 public:
  /// All arguments must outlive this object.
  KnownSenders(const files::Ledger& ledger, const core::AuthToken& operator_key,
               const Admission& admission, const SeatAdmission& seat_admission,
               const agent::seats::Seats& seats)
      : ledger_(&ledger),
        operator_key_(&operator_key),
        admission_(&admission),
        seat_admission_(&seat_admission),
        seats_(&seats) {}

  [[nodiscard]] std::optional<transport::link::RequestSender> operator()(
      std::string_view member, std::string_view shown, std::string_view body) const;

 private:
  [[nodiscard]] std::optional<transport::link::RequestSender> agent_with(
      std::string_view token) const;

  const files::Ledger* ledger_;
  const core::AuthToken* operator_key_;
  const Admission* admission_;
  const SeatAdmission* seat_admission_;
  const agent::seats::Seats* seats_;
};

}  // namespace league::league_manager::admission
