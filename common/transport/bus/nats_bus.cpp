#include "common/transport/bus/nats_bus.h"

#include <utility>
#include <vector>

#include "common/transport/bus/bus_url.h"
#include "common/transport/bus/nats_library.h"
#include "common/transport/bus/nats_link.h"

namespace league::transport {
namespace {

std::string joined(const std::vector<std::string>& urls) {
  std::string all;
  for (const auto& url : urls) all += (all.empty() ? "" : ",") + without_credentials(url);
  return all;
}

}  // namespace

bool NatsBus::is_built() { return true; }

core::Result<std::unique_ptr<NatsBus>> NatsBus::connect(const NatsBusOptions& options) {
  auto urls = parse_bus_urls(options.urls);
  if (!urls) return urls.error();
  prepare_nats();
  NatsSettings settings;
  settings.set_servers(*urls);
  settings.set_credentials(options.credentials);
  settings.set_tls(options.tls, urls->front().starts_with("tls://"));
  settings.set_manners(options.name);
  if (settings.error()) return *settings.error();
  auto link = std::make_shared<Link>(joined(*urls), std::move(settings), options.on_fault);
  if (auto opened = link->open(); !opened) return opened.error();
  return std::unique_ptr<NatsBus>(new NatsBus(std::move(link)));
}

NatsBus::~NatsBus() { link_->close(); }

core::Result<void> NatsBus::publish(const BusMessage& message) { return link_->publish(message); }

core::Result<std::unique_ptr<Bus::Subscription>> NatsBus::subscribe(const std::string& subject,
                                                                    const std::string& queue,
                                                                    Handler handler) {
  return link_->subscribe(subject, queue, std::move(handler));
}

std::unique_ptr<Bus::Subscription> NatsBus::watch(StateHandler handler) {
  return link_->watch(std::move(handler));
}

bool NatsBus::is_connected() const { return link_->is_connected(); }
bool NatsBus::flush(std::chrono::milliseconds patience) { return link_->flush(patience); }
std::size_t NatsBus::max_payload() const { return link_->max_payload(); }
std::string NatsBus::url() const { return link_->url(); }

}  // namespace league::transport
