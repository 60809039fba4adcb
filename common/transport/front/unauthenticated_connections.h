#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace league::transport::front {

/// For each address, the open connections that have shown no credential, by id; ids grow with time.
/// Not thread-safe.
class UnauthenticatedConnections {
 public:
  void add(const std::string& address, std::uint64_t id) { addresses_[address].waiting.insert(id); }
  /// The connection has become a stream: it still counts, but is not offered for closing.
  void keep(const std::string& address, std::uint64_t id);
  /// The connection is closed or has shown a credential. Does nothing if it is not counted.
  void remove(const std::string& address, std::uint64_t id);

  [[nodiscard]] std::size_t count(const std::string& address) const;
  /// The number of connections that are not streams.
  [[nodiscard]] std::size_t waiting(const std::string& address) const;
  /// Connections that may be closed to make room, the oldest first, at most `most`.
  [[nodiscard]] std::vector<std::uint64_t> oldest(const std::string& address,
                                                  std::size_t most) const;

 private:
  struct Address {
    std::set<std::uint64_t> waiting;
    std::set<std::uint64_t> kept;
  };
  std::unordered_map<std::string, Address> addresses_;
};

}  // namespace league::transport::front
