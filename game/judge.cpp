#include "game/judge.h"

#include <algorithm>

#include "common/core/text.h"

namespace league::game {

namespace {

std::string shown(const std::optional<std::string>& text) {
  return text ? core::shown(*text) : "nothing";
}

/// Checks one claim, from the facts that all others depend on to those that depend on them.
class Judge {
 public:
  Judge(const Definition& rules, const MatchFacts& facts, const Claim& claim)
      : rules_(rules), facts_(facts), claim_(claim) {}

  Judgement run() && {
    read_sides();
    read_outcome();
    check_seed();
    check_choices();
    check_openings();
    check_version();
    if (claim_.technical_reason.empty()) {
      check_play();
    } else {
      check_technical();
    }
    check_score();
    return std::move(out_);
  }

 private:
  void contradict(Aspect aspect, std::string field, std::string text) {
    out_.contradictions.push_back({aspect, std::move(field), std::move(text)});
  }

  [[nodiscard]] bool is_contradicted(Aspect aspect) const {
    return std::ranges::any_of(out_.contradictions,
                               [&](const auto& one) { return one.aspect == aspect; });
  }

  [[nodiscard]] std::optional<Side> side_of(std::string_view player) const {
    for (Side side : kBothSides) {
      if (facts_.players[side] == player) return side;
    }
    return std::nullopt;
  }

  void read(const ByPlayer& claimed, const char* field,
            PerSide<std::optional<std::string>>& values) {
    for (const auto& [player, value] : claimed) {
      if (auto side = side_of(player)) {
        values[*side] = value;
      } else {
        contradict(Aspect::kForm, field,
                   std::string(field) + " names " + shown(player) + ", who is not in the match");
      }
    }
  }

  void read_sides() {
    read(claim_.choices, "choices", out_.result.choices);
    read(claim_.commitments, "choice_commitments", out_.bindings.commitments);
    read(claim_.nonces, "choice_nonces", out_.bindings.nonces);
    out_.result.technical_reason = claim_.technical_reason;
  }

  void read_outcome() {
    out_.result.outcome = claim_.technical_reason.empty() ? Outcome::kDraw : Outcome::kNoWinner;
    if (!claim_.winner) return;
    if (auto side = side_of(*claim_.winner)) {
      out_.result.outcome = win_of(*side);
    } else {
      contradict(
          Aspect::kForm, "winner",
          "winner is neither " + facts_.players[Side::kA] + " nor " + facts_.players[Side::kB]);
    }
  }

  void check_seed() {
    if (!claim_.seed || claim_.seed->empty()) {
      return contradict(Aspect::kUnproven, "draw_proof",
                        "the seed of the draw is not revealed; send it as draw_proof");
    }
    auto seed = parse_seed(*claim_.seed);
    if (!seed) {
      return contradict(Aspect::kProof, "draw_proof", "draw_proof is not a seed of 256 bits");
    }
    if (facts_.draw_commitment != draw_commitment(*seed, facts_.match_id)) {
      return contradict(Aspect::kProof, "draw_proof",
                        "the revealed seed is not the one that was committed to");
    }
    seed_ = *seed;
  }

  void check_choices() {
    for (Side side : kBothSides) {
      const auto& choice = out_.result.choices[side];
      if (!choice && claim_.technical_reason.empty()) {
        contradict(Aspect::kChoice, "choices",
                   "the match was played, but the choice of " + facts_.players[side] +
                       " is missing; a match that was not played needs a termination");
      } else if (choice && !rules_.index_of(*choice)) {
        contradict(Aspect::kChoice, "choices",
                   "the choice of " + facts_.players[side] + " is " + shown(choice) +
                       ", which is no word of this game");
      }
    }
  }

  /// Recomputes a commitment only if choice and nonce are there: after a failure, a player may not
  /// have opened its commitment.
  void check_openings() {
    for (Side side : kBothSides) {
      const auto& commitment = out_.bindings.commitments[side];
      const auto& nonce = out_.bindings.nonces[side];
      const auto& choice = out_.result.choices[side];
      const std::string& player = facts_.players[side];
      if (commitment && !is_hex_256(*commitment)) {
        contradict(Aspect::kOpening, "choice_commitments",
                   "the commitment of " + player + " is not 64 characters of [0-9a-f]");
      } else if (nonce && !commitment) {
        contradict(Aspect::kOpening, "choice_nonces",
                   "there is a nonce of " + player + ", but no commitment that it opens");
      } else if (commitment && !nonce && claim_.technical_reason.empty()) {
        contradict(Aspect::kOpening, "choice_nonces",
                   "the commitment of " + player + " was not opened: its nonce is missing");
      } else if (commitment && nonce && choice && !opens(*commitment, player, *choice, *nonce)) {
        contradict(Aspect::kOpening, "choice_nonces",
                   "choice and nonce of " + player + " do not open its commitment");
      }
    }
  }

  [[nodiscard]] bool opens(const std::string& commitment, const std::string& player,
                           const std::string& choice, const std::string& nonce) const {
    return is_hex_256(nonce) &&
           commitment == choice_commitment({.draw_commitment = facts_.draw_commitment.value_or(""),
                                            .match_id = facts_.match_id,
                                            .player_id = player,
                                            .choice = choice,
                                            .nonce = nonce});
  }

  void check_version() {
    const int demanded = draw_version(out_.bindings);
    // Nothing is drawn after a technical loss, so the version may be missing.
    if (!claim_.technical_reason.empty() && !claim_.draw_version) return;
    const int claimed = claim_.draw_version.value_or(1);
    if (claimed == demanded) return;
    contradict(Aspect::kVersion, "draw_version",
               "draw_version is " + std::to_string(claimed) + "; the commitments demand " +
                   std::to_string(demanded));
  }

  void check_play() {
    out_.result.drawn_number = claim_.drawn_number;
    if (is_contradicted(Aspect::kChoice) || is_contradicted(Aspect::kForm)) return;
    Choices choices;
    for (Side side : kBothSides) choices[side] = *out_.result.choices[side];
    if (!check_number(choices)) return;
    check_kind();
    is_decided_ = true;
    const Decision decision = rules_.decide(choices, claim_.drawn_number);
    if (decision.outcome == out_.result.outcome) return;
    auto winner = winner_of(decision.outcome);
    contradict(Aspect::kWinner, "winner",
               "by the rules the winner is " +
                   (winner ? facts_.players[*winner] : std::string("nobody")) + ", not " +
                   shown(claim_.winner));
  }

  /// False if there is no number to continue with.
  bool check_number(const Choices& choices) {
    const auto range = rules_.numbers();
    const auto claimed = claim_.drawn_number;
    if (!range && claimed) {
      contradict(Aspect::kNumber, "drawn_number", "this game draws no number");
      return false;
    }
    if (!range) return true;
    if (!claimed || !range->contains(*claimed)) {
      contradict(Aspect::kNumber, "drawn_number",
                 "drawn_number must be from " + std::to_string(range->lowest) + " to " +
                     std::to_string(range->highest));
      return false;
    }
    if (!seed_ || is_contradicted(Aspect::kOpening)) return true;
    const int number = draw_number({.seed = *seed_,
                                    .match_id = facts_.match_id,
                                    .choices = choices,
                                    .bindings = out_.bindings},
                                   *range);
    if (number == *claimed) return true;
    contradict(Aspect::kNumber, "drawn_number",
               "drawn_number is " + std::to_string(*claimed) + "; the seed and the choices give " +
                   std::to_string(number));
    return false;
  }

  void check_kind() {
    if (!claim_.number_kind) return;
    std::optional<std::string_view> kind;
    if (claim_.drawn_number) kind = rules_.kind_of(*claim_.drawn_number);
    if (kind == *claim_.number_kind) return;
    contradict(
        Aspect::kNumber, "number_parity",
        "number_parity is " + shown(claim_.number_kind) + ", which is not that of the number");
  }

  void check_technical() {
    // Some referees write 0 for "no number".
    if (claim_.drawn_number.value_or(0) != 0 || claim_.number_kind) {
      contradict(Aspect::kNumber, "drawn_number", "nothing is drawn after a technical loss");
    }
  }

  void check_score() {
    if (!claim_.score || is_contradicted(Aspect::kForm) || is_contradicted(Aspect::kWinner)) return;
    PerSide<std::optional<int>> points;
    bool is_well_formed = true;
    for (const auto& [player, value] : *claim_.score) {
      auto side = side_of(player);
      is_well_formed = is_well_formed && side && !points[*side];
      if (side) points[*side] = value;
    }
    MatchResult known = out_.result;
    if (!is_decided_) known.choices = {};  // what cannot be decided has the points of its outcome
    const auto due = points_of(rules_, known);
    if (is_well_formed && points[Side::kA] == due[Side::kA] && points[Side::kB] == due[Side::kB]) {
      return;
    }
    std::string text = "score must be";
    for (Side side : kBothSides) {
      text +=
          (side == Side::kA ? " " : ", ") + facts_.players[side] + " " + std::to_string(due[side]);
    }
    contradict(Aspect::kScore, "score", text + " for this result");
  }

  const Definition& rules_;
  const MatchFacts& facts_;
  const Claim& claim_;
  std::optional<Seed> seed_;
  bool is_decided_ = false;  ///< choices and number suffice for a result
  Judgement out_;
};

}  // namespace

bool Judgement::is_only_unproven() const {
  return contradictions.size() == 1 && contradictions.front().aspect == Aspect::kUnproven;
}

Judgement judge(const Definition& rules, const MatchFacts& facts, const Claim& claim) {
  return Judge(rules, facts, claim).run();
}

}  // namespace league::game
