#pragma once

#include <chrono>
#include <cstddef>

namespace league::league_manager::stream {

/// Each rule of replication, so that a test can show what happens without it. Programs change none.
struct Rules {
  bool expects_sequence = true;  ///< a publish names the last sequence that it expects
  bool expects_id = true;  ///< and the last message id
  bool waits_for_flush = true;  ///< an answer waits for the local journal
  bool waits_for_stream = true;  ///< and for the stream
  bool waits_for_standbys = true;  ///< and for each stand-by in sync
  bool publishes_again = true;  ///< after an error or silence, until the answer is definite
  bool keeps_id = true;  ///< with the same id
  bool only_conflict_ends = true;  ///< no other error ends a manager
  bool reads_after_conflict = true;  ///< our own message is no conflict
  bool ends_at_others_message = true;  ///< an old leader writes nothing after another's message
  bool ignores_unfinished = true;  ///< a batch counts when it is complete
  bool waits_for_silence = true;  ///< a candidate waits until the leader's heartbeat has stopped
  bool puts_tail_aside = true;  ///< an old leader's entries that the new one does not have
  bool opens_incarnation = true;  ///< a stream that has lost messages is not written again in place
  /// A newer incarnation ends whoever holds an older one; and who opens one looks afterwards
  /// whether another was written meanwhile.
  bool newer_ends_older = true;
  bool recovers_only_whole = true;  ///< only who has every acknowledged entry publishes its journal
  bool doubts_after_silence = true;  ///< who was cut off does not know what the others have done
};

/// Durations that depend on each other. Doubt < silence, since a manager that is in no doubt must
/// have noticed every claim; and silence + doubt < patience, since a stand-by that was listed may
/// recover the journal for as long as the leader waits for it.
struct Timing {
  std::chrono::milliseconds heartbeat{500};  ///< also between two looks at the streams
  std::chrono::milliseconds again{1000};  ///< after which an unanswered request is repeated
  std::chrono::milliseconds affirm{1000};  ///< after which an idle leader writes again
  std::chrono::milliseconds doubt{4000};  ///< without the broker, after which anything can be
  std::chrono::milliseconds silence{5000};  ///< of the leader, before a candidate claims the lead
  std::chrono::milliseconds jitter{1000};  ///< a random part of this is added to `silence`
  std::chrono::milliseconds patience{10'000};  ///< for which answers wait for a silent stand-by
  std::chrono::milliseconds present{1500};  ///< after its heartbeat, a manager is present
  std::chrono::milliseconds notice{10'000};  ///< between two lines about the same trouble
  std::size_t piece{512 << 10};  ///< bytes of entries in a message
};

}  // namespace league::league_manager::stream
