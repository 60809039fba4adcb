#include "bus/transport/nats_library.h"

#include <array>
#include <mutex>

namespace league::transport::bus {
namespace {

constexpr int kDeliveryThreads = 2;
/// libnats holds its lock during an attempt to connect, so subscribing may block for as long.
constexpr std::int64_t kConnectTimeoutMs = 1'000;
constexpr std::int64_t kWriteDeadlineMs = 2'000;
constexpr std::int64_t kReconnectWaitMs = 100;
constexpr std::int64_t kReconnectJitterMs = 50;
constexpr std::int64_t kPingIntervalMs = 2'000;
constexpr int kMaxPingsOut = 2;

/// Messages that a thread has finished with and that are still to be returned to libnats.
class NatsLeftovers {
 public:
  NatsLeftovers() = default;
  ~NatsLeftovers() { give_back(); }
  NatsLeftovers(const NatsLeftovers&) = delete;
  NatsLeftovers& operator=(const NatsLeftovers&) = delete;

  void add(natsMsg* message, std::size_t bytes) {
    messages_[count_++] = message;
    bytes_ += bytes;
    if (count_ == messages_.size() || bytes_ >= kMostBytes) give_back();
  }

 private:
  static constexpr std::size_t kMostBytes = 256 << 10;

  void give_back() {
    for (std::size_t i = 0; i < count_; ++i) natsMsg_Destroy(messages_[i]);
    count_ = 0;
    bytes_ = 0;
  }

  std::array<natsMsg*, 64> messages_{};
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

void read_headers(natsMsg* message, BusMessage& into) {
  const char** keys = nullptr;
  int key_count = 0;
  if (natsMsgHeader_Keys(message, &keys, &key_count) != NATS_OK) return;
  NatsOwned<const char*> owned_keys(keys);
  for (int k = 0; k < key_count; ++k) {
    const char** values = nullptr;
    int value_count = 0;
    if (natsMsgHeader_Values(message, keys[k], &values, &value_count) != NATS_OK) continue;
    NatsOwned<const char*> owned_values(values);
    for (int v = 0; v < value_count; ++v) into.headers.emplace_back(keys[k], values[v]);
  }
}

natsStatus send_with_headers(natsConnection* connection, const BusMessage& message) {
  natsMsg* made = nullptr;
  natsStatus status = natsMsg_Create(
      &made, message.subject.c_str(), message.reply.empty() ? nullptr : message.reply.c_str(),
      message.payload.data(), static_cast<int>(message.payload.size()));
  const NatsMessage owned(made, size_of(message));
  for (const auto& [name, value] : message.headers) {
    // libnats would read the line after an empty value as the value.
    if (value.empty()) continue;
    if (status == NATS_OK) status = natsMsgHeader_Add(made, name.c_str(), value.c_str());
  }
  if (status == NATS_OK) status = natsConnection_PublishMsg(connection, made);
  return status;
}

}  // namespace

std::size_t size_of(const BusMessage& message) {
  std::size_t size = message.payload.size();
  for (const auto& [name, value] : message.headers) size += name.size() + value.size();
  return size;
}

NatsMessage::~NatsMessage() {
  thread_local NatsLeftovers leftovers;
  if (message_ != nullptr) leftovers.add(message_, bytes_);
}

void prepare_nats() {
  static std::once_flag once;
  // The pool belongs to the process, so the number of threads does not depend on the subscriptions.
  std::call_once(once, [] {
    nats_Open(0);
    nats_SetMessageDeliveryPoolSize(kDeliveryThreads);
  });
}

core::Error nats_error(natsStatus status, const std::string& what) {
  auto code = core::ErrorCode::kConnectionError;
  if (status == NATS_MAX_PAYLOAD) code = core::ErrorCode::kReplyTooLarge;
  return {code, what + ": " + natsStatus_GetText(status), {}};
}

BusMessage from_nats(natsMsg* message) {
  BusMessage made;
  made.subject = natsMsg_GetSubject(message);
  if (const char* reply = natsMsg_GetReply(message); reply != nullptr) made.reply = reply;
  made.is_no_responders = natsMsg_IsNoResponders(message);
  if (made.is_no_responders) return made;
  made.payload.assign(natsMsg_GetData(message),
                      static_cast<std::size_t>(natsMsg_GetDataLength(message)));
  read_headers(message, made);
  return made;
}

natsStatus send_to_nats(natsConnection* connection, const BusMessage& message) {
  if (!message.headers.empty()) return send_with_headers(connection, message);
  const char* subject = message.subject.c_str();
  int size = static_cast<int>(message.payload.size());
  if (message.reply.empty()) {
    return natsConnection_Publish(connection, subject, message.payload.data(), size);
  }
  return natsConnection_PublishRequest(connection, subject, message.reply.c_str(),
                                       message.payload.data(), size);
}

bool flush_nats(natsConnection* connection, std::chrono::milliseconds patience) {
  // libnats 3.4 reports success even if the ping could not be written, for example just before it
  // notices that the broker is gone; only this thread's last error then shows it. So that error is
  // first set to a known value, by a flush with time-out 0, which always fails.
  const natsStatus marker = natsConnection_FlushTimeout(connection, 0);
  if (natsConnection_FlushTimeout(connection, patience.count()) != NATS_OK) return false;
  natsStatus last = NATS_OK;
  nats_GetLastError(&last);
  return last == marker;
}

void NatsSettings::take(natsStatus status, const char* what) {
  if (status == NATS_OK || error_) return;
  const char* detail = nats_GetLastError(nullptr);
  error_ = core::Error{core::ErrorCode::kInvalidFieldValue,
                       std::string(what) + " cannot be used: " + natsStatus_GetText(status) +
                           (detail == nullptr ? "" : std::string(" (") + detail + ")"),
                       what};
}

NatsSettings::NatsSettings(const std::vector<std::string>& urls, const NatsBusOptions& options) {
  natsOptions* made = nullptr;
  take(natsOptions_Create(&made), "libnats");
  options_.reset(made);
  std::vector<const char*> servers;
  for (const auto& url : urls) servers.push_back(url.c_str());
  take(natsOptions_SetServers(made, servers.data(), static_cast<int>(servers.size())), "urls");
  const auto& [user, password] = options.credentials;
  if (!user.empty()) take(natsOptions_SetUserInfo(made, user.c_str(), password.c_str()), "user");
  set_tls(options.tls, urls.front().starts_with("tls://"));
  if (!options.name.empty()) take(natsOptions_SetName(made, options.name.c_str()), "name");
  // Otherwise libnats delays each message by a millisecond to send several together.
  take(natsOptions_SetSendAsap(made, true), "SendAsap");
  take(natsOptions_SetTimeout(made, kConnectTimeoutMs), "Timeout");
  // A write that blocks forever would hold the lock that the ping timer needs to detect this.
  take(natsOptions_SetWriteDeadline(made, kWriteDeadlineMs), "WriteDeadline");
  take(natsOptions_SetAllowReconnect(made, true), "AllowReconnect");
  take(natsOptions_SetMaxReconnect(made, -1), "MaxReconnect");
  take(natsOptions_SetReconnectWait(made, kReconnectWaitMs), "ReconnectWait");
  take(natsOptions_SetReconnectJitter(made, kReconnectJitterMs, kReconnectJitterMs), "Jitter");
  take(natsOptions_SetPingInterval(made, kPingIntervalMs), "PingInterval");
  take(natsOptions_SetMaxPingsOut(made, kMaxPingsOut), "MaxPingsOut");
  take(natsOptions_SetMaxPendingMsgs(made, kMaxPendingMessages), "MaxPendingMsgs");
  take(natsOptions_UseGlobalMessageDelivery(made, !options.has_own_threads),
       "GlobalMessageDelivery");
}

void NatsSettings::set_tls(const NatsTls& tls, bool is_asked_for) {
  if (!is_asked_for && tls.ca.empty() && tls.ca_pem.empty() && tls.cert.empty()) return;
  take(natsOptions_SetSecure(get(), true), "tls");
  if (!tls.ca.empty()) {
    take(natsOptions_LoadCATrustedCertificates(get(), tls.ca.c_str()), "tls.ca");
  } else if (!tls.ca_pem.empty()) {
    take(natsOptions_SetCATrustedCertificates(get(), tls.ca_pem.c_str()), "tls.ca");
  }
  if (!tls.cert.empty() || !tls.key.empty()) {
    take(natsOptions_LoadCertificatesChain(get(), tls.cert.c_str(), tls.key.c_str()), "tls.cert");
  }
  if (!tls.expected_host.empty()) {
    take(natsOptions_SetExpectedHostname(get(), tls.expected_host.c_str()), "tls.expected_host");
  }
}

}  // namespace league::transport::bus
