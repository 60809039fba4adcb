#include "tools/league/commands.h"

#include <CLI/CLI.hpp>
#include <atomic>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>

#include "bus/commands/broker_link.h"
#include "bus/commands/event_readers.h"
#include "bus/transport/bus_discovery.h"
#include "bus/transport/kept_tasks.h"
#include "common/envelope/event_types.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/signals.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

constexpr std::chrono::seconds kSearchForLeague{10};
constexpr std::chrono::milliseconds kLastAnswers{1000};

struct EventsOptions {
  agent::bus::BusOptions bus;
  std::string league_id;
  std::string durable;
  std::string types;
  std::optional<std::uint64_t> after;
  std::uint64_t count = 0;  // 0: until a signal comes
  EventLineOptions line;
};

std::set<std::string> split_types(const std::string& list) {
  std::set<std::string> types;
  std::istringstream in(list);
  for (std::string type; std::getline(in, type, ',');) {
    if (!type.empty()) types.insert(envelope::event_type_of(type));
  }
  return types;
}

/// Prints each event and flushes, so that the reader of our output has it before it is
/// acknowledged.
class EventPrinter {
 public:
  EventPrinter(const EventsOptions& options, transport::link::StopSignal& stop)
      : options_(options), stop_(stop) {}

  /// False if no more events are wanted, or if it could not be written.
  bool print(std::uint64_t sequence, const std::string& payload) {
    std::lock_guard lock(mutex_);
    if (is_full_) return false;
    std::cout << event_line(sequence, payload, options_.line) << std::endl;
    ++printed_;
    is_full_ = !std::cout || (options_.count > 0 && printed_ >= options_.count);
    if (is_full_) stop_.request_stop();
    return static_cast<bool>(std::cout);
  }
  void complain(const std::string& text) {
    std::lock_guard lock(mutex_);
    std::cerr << safe_text(text) << std::endl;
  }

 private:
  const EventsOptions& options_;
  transport::link::StopSignal& stop_;
  std::mutex mutex_;
  std::uint64_t printed_ = 0;
  bool is_full_ = false;
};

/// The league of whichever manager answers first.
core::Result<std::string> find_league(transport::bus::Bus& bus, const EventReading& reading) {
  const transport::bus::BusDiscovery discovery(
      {bus, reading.session, reading.clock, reading.timer, reading.random});
  auto attachment = transport::bus::run_to_end(
      discovery.attach({}, reading.clock.steady_now() + kSearchForLeague));
  if (attachment) return attachment->league_id;
  return core::Error{
      attachment.error().code, attachment.error().message + "; name the league with --league", {}};
}

int read_events(const EventsOptions& options, transport::bus::Bus& bus, EventReading reading,
                transport::link::StopSignal& stop) {
  std::string league = options.league_id;
  if (league.empty()) {
    auto found = find_league(bus, reading);
    if (!found) return fail(found.error());
    league = *found;
  }
  if (options.durable.empty()) {
    auto reader = read_feed(std::move(reading), league, split_types(options.types));
    if (!reader) return fail(reader.error());
    stop.wait();
    return 0;
  }
  auto streams = transport::bus::JetStream::create(reading);
  if (!streams) return fail(streams.error());
  auto reader = read_durably(reading, **streams, league, options.durable);
  stop.wait();
  reader.reset();
  reading.bus.flush(kLastAnswers);  // the acknowledgements
  return 0;
}

int events(const EventsOptions& options, transport::link::StopSignal& stop) {
  if (!options.durable.empty() && !options.types.empty())
    return fail({core::ErrorCode::kInvalidFieldValue,
                 "--types is for readers without --durable, which get everything",
                 {}});
  core::SystemClock clock;
  core::CryptoRandom random;
  auto loop = transport::link::EventLoop::start();
  if (!loop) return fail(loop.error());
  core::ThreadTimer timer;
  auto link = BrokerLink::join(options.bus, {**loop, timer, clock, random});
  if (!link) return fail(link.error());
  std::shared_ptr<transport::bus::Bus> at_streams;
  if (!options.durable.empty()) {
    auto connected = (*link)->connect_streams("--durable");
    if (!connected) return fail(connected.error());
    at_streams = std::move(*connected);
  }
  EventPrinter printer(options, stop);
  if (options.line.key.empty())
    printer.complain(
        "without --key no signature is verified (get_league_status shows the broadcast_key)");
  auto& bus = at_streams ? *at_streams : (*link)->bus();
  EventReading reading{{bus, (*link)->session(), clock, timer, random}};
  reading.after = options.after;
  reading.on_event = [&printer](std::uint64_t sequence, const std::string& payload) {
    return printer.print(sequence, payload);
  };
  reading.on_trouble = [&printer](const std::string& text) { printer.complain(text); };
  return read_events(options, (*link)->bus(), std::move(reading), stop);
}

}  // namespace

void add_events_command(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<EventsOptions>();
  CLI::App* command = app.add_subcommand("events", "print the events of a league on a message bus");
  add_bus_options(*command, options->bus);
  command->add_option("--league", options->league_id,
                      "id of the league (default: the one that answers first)");
  command
      ->add_option("--durable", options->durable,
                   "name under which the broker remembers this reader's position, so that it "
                   "continues there the next time (needs an operator's credentials)")
      ->check(CLI::Validator(
          [](const std::string& name) {
            bool is_good = !name.empty() && name.size() <= 32 &&
                           name.find_first_not_of(
                               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
                               "XYZ0123456789-_") == std::string::npos;
            return is_good ? std::string() : std::string("1 to 32 letters, digits, - and _");
          },
          "NAME"));
  command->add_option("--after", options->after,
                      "start with the stored events after this number; 0: all");
  command->add_option("--types", options->types, "such as round_completed,league_completed")
      ->check(CLI::Validator(
          [](const std::string& list) {
            for (const auto& type : split_types(list))
              if (!envelope::is_event_type(type)) return envelope::unknown_event_type(type);
            return std::string();
          },
          "TYPE,..."));
  command->add_option("--count", options->count,
                      "exit after this many events (default: run until stopped)");
  command->add_option("--key", options->line.key,
                      "the manager's broadcast_key, to verify the signatures");
  command->add_flag("--json", options->line.is_json, "one JSON object per event for machines");
  command->footer(
      "Examples:\n"
      "  league events --bus nats://localhost:4222 --after 0\n"
      "  league events --bus-credentials bus/credentials/operator.json --durable archive --json\n"
      "Exit codes: 0 stopped by a signal or --count, 2 wrong usage or the broker cannot be "
      "reached.");
  agent::host::when_given(*command, chosen, [options] {
    transport::link::StopSignal stop;
    return events(*options, stop);
  });
}

}  // namespace league::tools
