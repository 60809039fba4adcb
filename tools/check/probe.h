#pragma once

#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tools/check/verdict.h"

namespace league::tools::check {

using Checks = std::vector<Check>;

/// A row of a table of checks that a bench of type `Bench` runs.
template <typename Bench>
struct Probe {
  /// The members of CheckInfo that a check seldom has.
  struct Traits {
    bool is_basic = false;
    bool needs_play = true;
    bool needs_word = false;
    bool is_slow = false;
  };
  const char* id;
  Level level;
  const char* text;
  const char* fix;
  Verdict (*run)(Bench&);
  Traits traits = {};
};

/// Adds the checks of a table. `obstacle` says why the bench cannot run them, so that they are
/// skipped; empty: it can. All arguments outlive the checks.
template <typename Bench>
void add_probes(Bench& bench, std::span<const std::type_identity_t<Probe<Bench>>> probes,
                Checks& out, std::string (*obstacle)(std::type_identity_t<Bench>&) = nullptr) {
  for (const Probe<Bench>& probe : probes) {
    out.push_back({{.id = probe.id,
                    .level = probe.level,
                    .text = probe.text,
                    .fix = probe.fix,
                    .is_basic = probe.traits.is_basic,
                    .needs_play = probe.traits.needs_play,
                    .needs_word = probe.traits.needs_word,
                    .is_slow = probe.traits.is_slow},
                   [&bench, &probe, obstacle] {
                     std::string why = obstacle == nullptr ? std::string() : obstacle(bench);
                     return why.empty() ? probe.run(bench) : skip(std::move(why));
                   }});
  }
}

}  // namespace league::tools::check
