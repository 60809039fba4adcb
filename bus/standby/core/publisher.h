#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>

#include "bus/standby/core/effects.h"

namespace league::league_manager::stream {

/// Publishes messages into one incarnation, one after the other, each until it is certainly stored
/// or certainly refused. Pure; not thread-safe. Source: design, the stream is the journal.
class Publisher {
 public:
  struct Stored {
    Message message;
    Time sent{0};  ///< when it was published first
  };
  /// The place is taken: by a manager that knew our last message, or else the stream was made anew.
  struct Refused {
    std::string writer;
    bool is_successor = false;
  };
  using Outcome = std::variant<std::monostate, Stored, Refused>;

  Publisher(const Rules& rules, const Timing& timing) : rules_(rules), timing_(timing) {}

  /// Forgets everything, and writes after `position` from now on.
  void begin_after(const StreamPosition& position);
  /// Publishes `message`, whose `previous` and `id` are filled in. The publisher must be idle.
  void publish(Time now, Message message, Effects& effects);
  /// Repeats what was not answered.
  void on_tick(Time now, Effects& effects);
  [[nodiscard]] Outcome on_published(Time now, const Published& answer, Effects& effects);
  [[nodiscard]] Outcome on_read(const ReadDone& answer, Effects& effects);

  [[nodiscard]] bool is_idle() const { return !message_; }
  /// Of the last message that is stored.
  [[nodiscard]] const StreamPosition& position() const { return position_; }
  /// When the last publish was sent, except repetitions.
  [[nodiscard]] Time sent() const { return sent_; }
  /// Why the last publish is not stored yet; empty: it is, or there was no answer.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  [[nodiscard]] bool is_full() const { return is_full_; }

 private:
  void send(Time now, Effects& effects);
  [[nodiscard]] Outcome store(std::uint64_t sequence);

  const Rules rules_;
  const Timing timing_;
  StreamPosition position_;
  std::optional<Message> message_;
  bool is_reading_ = false;  ///< after a conflict: whose message is it?
  Time sent_{0};
  Time tried_{0};
  std::string trouble_;
  bool is_full_ = false;
};

}  // namespace league::league_manager::stream
