#include "common/agent/seats/seat_client.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/agent/runtime/exception_guard.h"
#include "common/core/crypto.h"
#include "common/rpc/codec.h"
#include "common/rpc/frame_peek.h"
#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"

namespace league::agent::seats {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;
using std::chrono::milliseconds;

constexpr std::string_view kEnded = "notifications/seat_ended";
constexpr std::string_view kRequestId = "open_seat";
constexpr milliseconds kConnecting{5000};
constexpr milliseconds kShortestWait{250};
constexpr milliseconds kLongestWait{10'000};

transport::link::Endpoint over_web_socket(transport::link::Endpoint manager) {
  manager.scheme = manager.scheme == "https" || manager.scheme == "wss" ? "wss" : "ws";
  return manager;
}

}  // namespace

SeatClient::SeatClient(Context context, SeatHolder holder, transport::link::MessageHandler& handler,
                       Ended ended, Changed changed)
    : HandlerDecorator(handler),
      context_(std::move(context)),
      holder_(std::move(holder)),
      ended_(std::move(ended)),
      changed_(std::move(changed)),
      scope_(task::Executor(), runtime::failures_logged("the seat")) {}

SeatClient::~SeatClient() {
  scope_.stop();
  std::unique_lock lock(connections_->mutex);
  connections_->is_over = true;
  if (const auto last = std::exchange(connections_->last, nullptr)) {
    lock.unlock();
    last->close();
    lock.lock();
  }
  constexpr std::chrono::seconds kPatience{5};
  connections_->changed.wait_for(lock, kPatience, [this] { return connections_->count == 0; });
}

std::string SeatClient::request() {
  const std::string time = context_.clock.utc_now().to_wire();
  const std::string nonce = core::to_hex(context_.random.bytes<16>());
  const auto proof = core::hmac_sha256(core::as_bytes(holder_.token.reveal()),
                                       core::as_bytes("seat|" + time + "|" + nonce));
  const json params = {{"player_id", holder_.player},
                       {"timestamp", time},
                       {"nonce", nonce},
                       {"proof", core::to_hex(proof)}};
  return rpc::encode_request(rpc::Id(std::string(kRequestId)), "open_seat",
                             rpc::to_json_text(params));
}

task::Task<void> SeatClient::sit() {
  const auto address = over_web_socket(holder_.manager);
  milliseconds wait = kShortestWait;
  while (true) {
    const auto until = context_.clock.steady_now() + kConnecting;
    auto opened = co_await task::called_back<
        core::Result<std::shared_ptr<transport::link::MessageConnection>>>(
        [&](auto then) { context_.connector->connect(address, until, std::move(then)); });
    if (opened) {
      co_await sit_down(std::move(*opened));
      const auto sitting = std::exchange(sitting_, nullptr);
      if (sitting->end) {
        ended_(*sitting->end);
        co_return;
      }
      if (sitting->is_seated) wait = kShortestWait;
      tell(sitting->refusal.value_or(
          Error{ErrorCode::kConnectionError, "the connection was closed", ""}));
    } else {
      tell(opened.error());
    }
    // Not all players of a manager that comes back at the same time.
    const auto part = context_.random.bytes<1>()[0];
    co_await task::sleep_for(context_.timer, wait / 2 + wait * part / 512);
    wait = std::min(2 * wait, kLongestWait);
  }
}

task::Task<void> SeatClient::sit_down(
    std::shared_ptr<transport::link::MessageConnection> connection) {
  const auto sitting = std::make_shared<Sitting>();
  sitting_ = sitting;
  transport::link::ServedConnectionOptions options;
  options.on_closed = [executor = scope_.executor(), sitting, open = connections_] {
    executor.post([sitting] { sitting->closed.count_down(); });
    const std::lock_guard lock(open->mutex);
    --open->count;
    open->changed.notify_all();
  };
  {
    const std::lock_guard lock(connections_->mutex);
    if (connections_->is_over) co_return;
    ++connections_->count;
  }
  sitting->served =
      transport::link::ServedConnection::serve(std::move(connection), *this, std::move(options));
  bool is_over = false;
  {
    const std::lock_guard lock(connections_->mutex);
    is_over = connections_->is_over;
    connections_->last = sitting->served;
  }
  if (is_over) sitting->served->close();
  sitting->served->push(std::make_shared<const std::string>(request()));
  co_await sitting->closed.wait();
}

void SeatClient::on_message(transport::link::Inbound message, transport::link::ReplySlot reply) {
  const auto frame = rpc::peek_frame(message.bytes);
  const bool is_answer = frame.kind == rpc::FrameKind::kResponse;
  const bool is_notice = frame.kind == rpc::FrameKind::kNotification && frame.method == kEnded;
  if (!is_answer && !is_notice) return handler().on_message(std::move(message), std::move(reply));
  reply.send({});
  scope_.executor().post([this, is_answer, bytes = message.bytes.str()] {
    if (!sitting_) return;
    if (is_answer) return take_answer(bytes);
    sitting_->end = Error{ErrorCode::kNotAuthorized,
                          "another program has taken over the seat of " + holder_.player, ""};
  });
}

void SeatClient::take_answer(const std::string& bytes) {
  const auto document = schema::parse_json(bytes);
  if (!document) return;
  const json& result = schema::field_at(*document, "result");
  sitting_->is_seated = !schema::text_at(result, "session").empty();
  if (sitting_->is_seated) return tell(std::nullopt);
  // A manager refuses by a result; whoever is none, by an error.
  const json& error = schema::field_at(*document, "error");
  const json& data = schema::field_at(error, "data");
  const std::string& code = schema::text_at(result.is_object() ? result : data, "error_code");
  if (code == core::wire_code(ErrorCode::kAuthTokenInvalid)) {
    sitting_->end = Error{ErrorCode::kAuthTokenInvalid,
                          "the manager does not know " + holder_.player + " by its token", ""};
  } else if (schema::number_at(error, "code") ==
             static_cast<std::int64_t>(rpc::StandardCode::kMethodNotFound)) {
    sitting_->end =
        Error{ErrorCode::kUnknownMessageType, "the manager has no seats for players", ""};
  }
  const std::string& text = result.is_object() ? schema::text_at(result, "error_description")
                                               : schema::text_at(error, "message");
  sitting_->refusal = Error{ErrorCode::kNotAuthorized, text, ""};
  sitting_->served->close();
}

}  // namespace league::agent::seats
