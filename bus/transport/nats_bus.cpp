#include "bus/transport/nats_bus.h"

#include <mutex>
#include <utility>
#include <vector>

#include "bus/transport/bus_url.h"
#include "bus/transport/nats_library.h"
#include "bus/transport/nats_link.h"
#include "bus/transport/nats_slow_consumer.h"

namespace league::transport::bus {
namespace {

std::string joined(const std::vector<std::string>& urls) {
  std::string all;
  for (const auto& url : urls) all += (all.empty() ? "" : ",") + without_credentials(url);
  return all;
}

core::Result<NatsSettings> settings_for(const std::vector<std::string>& urls,
                                        const NatsBusOptions& options) {
  NatsSettings settings;
  settings.set_servers(urls);
  settings.set_credentials(options.credentials);
  settings.set_tls(options.tls, urls.front().starts_with("tls://"));
  settings.set_manners(options.name, options.has_own_threads);
  if (settings.error()) return *settings.error();
  return settings;
}

/// Whether we log in as a user, so that the broker can distinguish its clients.
bool is_user(const NatsBusOptions& options, const std::string& url) {
  return !options.credentials.user.empty() || !options.tls.cert.empty() || has_user(url);
}

}  // namespace

/// A slow consumer at each broker, created when first needed; each stalls only publishers that are
/// connected to its own broker.
class NatsBus::Stalls {
 public:
  Stalls(std::vector<std::string> urls, NatsBusOptions options)
      : urls_(std::move(urls)), options_(std::move(options)) {}

  [[nodiscard]] std::unique_ptr<Subscription> begin(const std::string& subject) {
    auto at = std::make_shared<std::vector<std::unique_ptr<Subscription>>>();
    {
      std::lock_guard lock(mutex_);
      if (!is_made_) make();
      for (const auto& consumer : consumers_) at->push_back(consumer->subscribe(subject));
    }
    if (at->empty()) return nullptr;
    return std::make_unique<Subscription>([at] { at->clear(); });
  }

 private:
  void make() {
    is_made_ = true;
    for (const auto& url : urls_) {
      if (!is_user(options_, url)) continue;
      // Errors in the options were reported when the bus was created.
      if (auto settings = settings_for({url}, options_)) {
        consumers_.push_back(
            std::make_unique<NatsSlowConsumer>(std::move(settings).value(), options_.on_fault));
      }
    }
  }

  const std::vector<std::string> urls_;
  const NatsBusOptions options_;
  std::mutex mutex_;  // guards the rest
  bool is_made_ = false;
  std::vector<std::unique_ptr<NatsSlowConsumer>> consumers_;
};

core::Result<std::unique_ptr<NatsBus>> NatsBus::connect(const NatsBusOptions& options) {
  auto urls = parse_bus_urls(options.urls);
  if (!urls) return urls.error();
  prepare_nats();
  auto settings = settings_for(*urls, options);
  if (!settings) return settings.error();
  auto link =
      std::make_shared<NatsLink>(joined(*urls), std::move(settings).value(), options.on_fault);
  if (auto opened = link->open(); !opened) return opened.error();
  auto stalls = std::make_shared<Stalls>(std::move(*urls), options);
  return std::unique_ptr<NatsBus>(new NatsBus(std::move(link), std::move(stalls)));
}

NatsBus::~NatsBus() {
  stalls_.reset();
  link_->close();
}

core::Result<void> NatsBus::publish(const BusMessage& message) { return link_->publish(message); }

core::Result<std::unique_ptr<Bus::Subscription>> NatsBus::subscribe(const std::string& subject,
                                                                    const std::string& queue,
                                                                    Handler handler) {
  return link_->subscribe(subject, queue, std::move(handler));
}

std::unique_ptr<Bus::Subscription> NatsBus::stall_publishers(const std::string& subject) {
  return stalls_->begin(subject);
}

std::unique_ptr<Bus::Subscription> NatsBus::watch(StateHandler handler) {
  return link_->watch(std::move(handler));
}

bool NatsBus::is_connected() const { return link_->is_connected(); }
bool NatsBus::flush(std::chrono::milliseconds patience) { return link_->flush(patience); }
std::size_t NatsBus::max_payload() const { return link_->max_payload(); }
std::string NatsBus::url() const { return link_->url(); }

}  // namespace league::transport::bus
