#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/agent/dialects/call_dialects.h"

namespace league::agent::dialects {

/// Remembers how peers want to be called, by address and message type: which dialect worked, or
/// that none did. In memory only, so a restarted program searches again. Thread-safe.
class DialectCache {
 public:
  /// A search for the dialect of one message type at one peer; the caller keeps it while it calls.
  struct Search {
    std::vector<CallDialect> dialects;  ///< to be tried in this order; never empty
    std::size_t at = 0;
    bool is_proven = false;  ///< the peer has answered the first of `dialects` before
    bool is_hopeless = false;  ///< all have failed: only the first is tried

    [[nodiscard]] const CallDialect& way() const { return dialects[at]; }
  };

  /// The dialects to try for `type` at `peer`; `first` is the style to begin with if nothing is
  /// known about the peer.
  [[nodiscard]] Search search(const std::string& peer, envelope::MessageType type,
                              CallStyle first) const;
  /// The peer does not know `search.way()`. Moves on to the next dialect; false if there is none,
  /// and then `search.way()` remains the last one.
  [[nodiscard]] bool next(const std::string& peer, envelope::MessageType type, Search& search,
                          bool lacks_wrapper);
  /// The peer knows this dialect, although its answer was not valid: later calls of this type begin
  /// with it.
  void find(const std::string& peer, envelope::MessageType type, const CallDialect& way);
  /// The peer accepted the message in this dialect.
  void prove(const std::string& peer, envelope::MessageType type, const CallDialect& way);
  /// The peer did not answer `search.way()`. If this was part of a search, the next call of this
  /// type starts with the dialects that have not been tried.
  void pass_over(const std::string& peer, envelope::MessageType type, const Search& search);
  /// The peer could not be reached, so another program may be running there next time: forgets
  /// which dialects it did not know.
  void forget_failures(const std::string& peer);

  /// The style in which `peer` itself called, or which somebody else reported for it. A style that
  /// has worked takes precedence.
  void tell(const std::string& peer, CallStyle style);
  /// The style that worked last, else the one that was told; nothing if neither is known.
  [[nodiscard]] std::optional<CallStyle> style_of(const std::string& peer) const;
  /// Whether `peer` has ever answered a call.
  [[nodiscard]] bool is_proven(const std::string& peer) const;

 private:
  struct OfType {
    std::optional<CallDialect> proven = std::nullopt;
    std::optional<CallDialect> found = std::nullopt;  ///< answered, but not validly
    bool is_hopeless = false;
    std::vector<CallDialect> passed_over = {};  ///< got no answer; tried last
  };
  struct Peer {
    std::optional<CallStyle> style = std::nullopt;
    std::optional<CallStyle> told = std::nullopt;
    bool is_proven = false;
    std::set<CallStyle> lacking = {};  ///< wrappers that the peer does not know
    std::map<envelope::MessageType, OfType> types = {};
  };

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Peer> peers_;
};

}  // namespace league::agent::dialects
