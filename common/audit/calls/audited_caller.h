#pragma once

#include "common/audit/record/record.h"
#include "common/core/clock.h"
#include "common/transport/link/caller.h"

namespace league::audit {

/// Puts every call and its end into the conversation log: the request before it is made, with the
/// notes of the call; the answer, or a failure with its error, after the completion has run and
/// filled the notes of the outcome. What those notes leave out is taken from the request. Calls
/// with Budget::kBroadcast are logged as broadcasts (see RecordWriter). Of a caller that frames
/// requests anew the request is logged when its outcome is there, since only then is known what was
/// sent. Thread-safe if the caller is.
class AuditedCaller final : public transport::Caller {
 public:
  /// Who makes the bytes that go to the wire.
  enum class Framing { kByUs, kByTheCaller };

  /// All three outlive this object and every call that came through it.
  AuditedCaller(transport::Caller& caller, RecordSink& log, const core::Clock& clock,
                Framing framing = Framing::kByUs)
      : caller_(caller), log_(log), clock_(clock), framing_(framing) {}

  void call(transport::OutboundCall call, Completion completion) override;

 private:
  transport::Caller& caller_;
  RecordSink& log_;
  const core::Clock& clock_;
  const Framing framing_;
};

}  // namespace league::audit
