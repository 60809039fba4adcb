#include "tests/support/link_network.h"

#include <utility>

namespace league::testing {

/// Where somebody listens: what comes by connections passes it while it is open.
class LinkNetwork::Door final : public transport::link::MessageHandler {
 public:
  explicit Door(transport::link::MessageHandler& handler) : handler_(handler) {}

  void serve(std::shared_ptr<transport::link::MessageConnection> connection) {
    std::erase_if(served_, [](const auto& one) { return !one->is_open(); });
    served_.push_back(transport::link::ServedConnection::serve(std::move(connection), *this));
  }
  void cut() {
    for (auto& one : std::exchange(served_, {})) one->close();
  }
  void shut() {
    is_shut_ = true;
    cut();
  }
  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override {
    if (!is_shut_) handler_.on_message(std::move(message), std::move(reply));
  }
  void on_channel_closed(const transport::link::PeerChannel& channel) override {
    handler_.on_channel_closed(channel);
  }

 private:
  transport::link::MessageHandler& handler_;
  std::vector<std::shared_ptr<transport::link::ServedConnection>> served_;
  bool is_shut_ = false;
};

LinkNetwork::~LinkNetwork() = default;

void LinkNetwork::listen(const std::string& url, transport::link::MessageHandler& handler) {
  close(url);
  doors_[url] = std::make_shared<Door>(handler);
}

void LinkNetwork::close(const std::string& url) {
  auto found = doors_.find(url);
  if (found == doors_.end()) return;
  found->second->shut();
  closed_.push_back(std::move(found->second));
  doors_.erase(found);
}

void LinkNetwork::cut_all() {
  for (auto& [url, door] : doors_) door->cut();
}

void LinkNetwork::shut_down() {
  while (!doors_.empty()) close(std::string(doors_.begin()->first));
}

void LinkNetwork::connect(const transport::link::Endpoint& endpoint,
                          core::Clock::Steady /*deadline*/, Opened opened) {
  steps_.post([this, url = endpoint.url(), opened = std::move(opened)] {
    auto found = doors_.find(url);
    if (found == doors_.end()) {
      return opened(core::Error{core::ErrorCode::kConnectionError, "nobody listens there", {}});
    }
    ++opened_;
    auto ends = transport::memory::memory_connection_pair(
        clock_, [this](std::function<void()> step) { steps_.post(std::move(step)); });
    found->second->serve(std::move(ends.second));
    opened(std::move(ends.first));
  });
}

}  // namespace league::testing
