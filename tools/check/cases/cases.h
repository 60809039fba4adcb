#pragma once

#include "tools/check/cases/case.h"
#include "tools/check/mock_manager.h"
#include "tools/check/roles/manager_bench.h"
#include "tools/check/roles/referee_bench.h"
#include "tools/check/started_bot.h"

namespace league::tools::check {

/// All cases of players that need no restart, in the order in which they run. `bench` outlives
/// them; none is run here. The functions below add parts of them.
[[nodiscard]] Checks player_cases(PlayerBench& bench);

void add_registration_cases(PlayerBench& bench, Checks& out);
/// Those of a match's answers, first those that a bot needs to play at all.
void add_answer_cases(PlayerBench& bench, Checks& out);
void add_basic_cases(PlayerBench& bench, Checks& out);
void add_news_cases(PlayerBench& bench, Checks& out);
void add_rpc_cases(PlayerBench& bench, Checks& out);
void add_tolerance_cases(PlayerBench& bench, Checks& out);
void add_refusal_cases(PlayerBench& bench, Checks& out);
void add_token_cases(PlayerBench& bench, Checks& out);
void add_order_cases(PlayerBench& bench, Checks& out);
void add_commitment_cases(PlayerBench& bench, Checks& out);
void add_receipt_cases(PlayerBench& bench, Checks& out);
void add_record_cases(PlayerBench& bench, Checks& out);
void add_mcp_cases(PlayerBench& bench, Checks& out);
void add_http_cases(PlayerBench& bench, Checks& out);
void add_seat_cases(PlayerBench& bench, Checks& out);
void add_hostile_cases(PlayerBench& bench, Checks& out);
void add_endurance_cases(PlayerBench& bench, Checks& out);

/// The objects for restarting a bot; both must outlive the checks.
struct RestartTools {
  MockManager& manager;
  StartedBot* bot = nullptr;  ///< null: the checker has not started it
};

/// Restarts the bot and uses its new address; false if it did not register.
[[nodiscard]] bool start_again(PlayerBench& bench, RestartTools& tools);

/// Cases of a bot whose program is killed and restarted, and last what a bot that comes to the
/// checker does when another program takes its seat. They are skipped if the checker cannot do
/// that: `tools` is null or has no bot.
void add_restart_cases(PlayerBench& bench, RestartTools* tools, Checks& out);
void add_take_over_case(PlayerBench& bench, RestartTools* tools, Checks& out);

/// All cases of league managers, about the league that ManagerBench::play plays. Adds their
/// messages to the bench, which outlives them.
[[nodiscard]] Checks manager_cases(ManagerBench& bench);

/// All cases of referees. `bench` outlives them.
[[nodiscard]] Checks referee_cases(RefereeBench& bench);

// The parts of it, one source file each.
void add_referee_match_cases(RefereeBench& bench, Checks& out);
void add_referee_fault_cases(RefereeBench& bench, Checks& out);

}  // namespace league::tools::check
