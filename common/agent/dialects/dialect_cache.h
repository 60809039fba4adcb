#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/agent/dialects/call_dialects.h"

namespace league::agent {

/// What is known of how peers want to be called, by address and type of message: what worked, and
/// that nothing did. In memory only: a program that starts anew finds it out anew. Thread-safe.
class DialectCache {
 public:
  /// A search at one peer for one type of message; the caller keeps it while it calls.
  struct Search {
    std::vector<CallDialect> dialects;  ///< to be tried in this order; never empty
    std::size_t at = 0;
    bool is_proven = false;  ///< the first of them has worked before
    bool is_hopeless = false;  ///< all have been tried before: the first is all there is

    [[nodiscard]] const CallDialect& way() const { return dialects[at]; }
  };

  /// What to try for `type` at `peer`, of which nothing better is known than the style `first`.
  [[nodiscard]] Search search(const std::string& peer, envelope::MessageType type,
                              CallStyle first) const;
  /// The peer knows not `search.way()`. Goes on to the next one; false if there is none.
  [[nodiscard]] bool next(const std::string& peer, envelope::MessageType type, Search& search,
                          bool lacks_wrapper);
  /// The peer took the message in that way.
  void prove(const std::string& peer, envelope::MessageType type, const CallDialect& way);
  /// The peer said nothing to `search.way()`: the next call of that type goes on with what follows,
  /// if it was a search.
  void pass_over(const std::string& peer, envelope::MessageType type, const Search& search);
  /// The peer could not be reached, so it may come back as another program: what it did not know
  /// it may know then.
  void forget_failures(const std::string& peer);

  /// The style in which `peer` itself spoke, or in which somebody else knows it to be called. What
  /// has worked here stands against it.
  void tell(const std::string& peer, CallStyle style);
  /// The style that worked last, else the one that was told; nothing where neither is known.
  [[nodiscard]] std::optional<CallStyle> style_of(const std::string& peer) const;
  /// Whether a call was answered by `peer`.
  [[nodiscard]] bool is_proven(const std::string& peer) const;

 private:
  struct OfType {
    std::optional<CallDialect> proven = std::nullopt;
    bool is_hopeless = false;
    std::vector<CallDialect> passed_over = {};  ///< by silence; tried last
  };
  struct Peer {
    std::optional<CallStyle> style = std::nullopt;
    std::optional<CallStyle> told = std::nullopt;
    bool is_proven = false;
    std::set<CallStyle> lacking = {};  ///< wrappers that it does not know
    std::map<envelope::MessageType, OfType> types = {};
  };

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Peer> peers_;
};

}  // namespace league::agent
