#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "common/transport/message_connection.h"

namespace league::transport {

/// Gives each endpoint to the connector that was registered for its scheme; kEndpointNotAllowed
/// where there is none. Register first, then connect from any thread.
class SchemeConnector final : public Connector {
 public:
  void add(std::initializer_list<std::string_view> schemes, std::shared_ptr<Connector> connector);

  void connect(const Endpoint& endpoint, core::Clock::Steady deadline, Opened opened) override;

 private:
  std::map<std::string, std::shared_ptr<Connector>, std::less<>> connectors_;
};

}  // namespace league::transport
