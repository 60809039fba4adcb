#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace league::transport {

/// The open connections of each address that have shown no credential, by their ids, which grow
/// with time. Not thread-safe.
class UnauthenticatedConnections {
 public:
  void add(const std::string& address, std::uint64_t id) { addresses_[address].waiting.insert(id); }
  /// The connection has become a stream: it still counts, and is not offered for closing.
  void keep(const std::string& address, std::uint64_t id);
  /// It is closed, or is a stranger's no longer. One that is not counted is passed over.
  void remove(const std::string& address, std::uint64_t id);

  [[nodiscard]] std::size_t count(const std::string& address) const;
  /// The same without streams.
  [[nodiscard]] std::size_t waiting(const std::string& address) const;
  /// Those that may be closed to make room, the oldest first, at most `most`.
  [[nodiscard]] std::vector<std::uint64_t> oldest(const std::string& address,
                                                  std::size_t most) const;

 private:
  struct Address {
    std::set<std::uint64_t> waiting;
    std::set<std::uint64_t> kept;
  };
  std::unordered_map<std::string, Address> addresses_;
};

}  // namespace league::transport
