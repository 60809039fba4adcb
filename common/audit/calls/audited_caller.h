#pragma once

#include "common/audit/record/record.h"
#include "common/core/clock.h"
#include "common/transport/link/caller.h"

namespace league::audit::calls {

/// Logs every call and its result in the conversation log. The request is logged before it is sent,
/// with the notes of the call. The answer, or a failure with its error, is logged when the
/// completion has filled in the notes of the outcome and calls CallOutcome::record, or else when
/// the completion has returned; notes that are missing then are taken from the request. Calls with
/// Budget::kBroadcast are logged as broadcasts (see RecordWriter). If the caller builds its own
/// frames, the request is logged together with the outcome, since only then is it known what was
/// sent. Thread-safe if the caller is.
class AuditedCaller final : public transport::link::Caller {
 public:
  /// Who builds the bytes that are sent.
  enum class Framing { kByUs, kByTheCaller };

  /// All three outlive this object and every call that came through it.
  AuditedCaller(transport::link::Caller& caller, record::RecordSink& log, const core::Clock& clock,
                Framing framing = Framing::kByUs)
      : caller_(caller), log_(log), clock_(clock), framing_(framing) {}

  void call(transport::link::OutboundCall call, Completion completion) override;

 private:
  transport::link::Caller& caller_;
  record::RecordSink& log_;
  const core::Clock& clock_;
  const Framing framing_;
};

}  // namespace league::audit::calls
