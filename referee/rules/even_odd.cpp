#include "referee/rules/even_odd.h"

#include <algorithm>

namespace league::referee::rules {

namespace {

constexpr int kLowest = 1;
constexpr int kHighest = 10;
constexpr int kNumbers = kHighest - kLowest + 1;
constexpr int kFirstRejectedByte = 256 - 256 % kNumbers;
constexpr std::string_view kEven = "even";
constexpr std::string_view kOdd = "odd";
constexpr std::size_t kLongestShown = 32;

std::string_view parity_of(int number) { return number % 2 == 0 ? kEven : kOdd; }

/// A stranger's text made fit for a message: short and printable.
std::string shown(std::string_view text) {
  std::string out(text.substr(0, kLongestShown));
  std::ranges::replace_if(
      out, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text.size() > kLongestShown ? out + "..." : out;
}

}  // namespace

std::string_view EvenOdd::game_type() const { return "even_odd"; }

GameState EvenOdd::init_game_state() const {
  return {.game_type = std::string(game_type()),
          .allowed_choices = {std::string(kEven), std::string(kOdd)},
          .lowest_number = kLowest,
          .highest_number = kHighest};
}

core::Result<std::string> EvenOdd::validate_choice(std::string_view choice) const {
  if (choice == kEven || choice == kOdd) return std::string(choice);
  return core::Error{
      core::ErrorCode::kInvalidParityChoice,
      "parity_choice is \"" + shown(choice) +
          "\"; it must be exactly \"even\" or \"odd\", in lower case. Send one of the two.",
      "/parity_choice"};
}

int EvenOdd::draw_number(const DrawSeed& seed, std::string_view match_id,
                         const Choices& choices) const {
  const std::string prefix =
      std::string(match_id) + '|' + choices.player_a + '|' + choices.player_b + '|';
  for (int counter = 0;; ++counter) {
    const std::string message = prefix + std::to_string(counter);
    for (int byte : core::hmac_sha256(seed, core::as_bytes(message))) {
      if (byte < kFirstRejectedByte) return kLowest + byte % kNumbers;
    }
  }
}

Outcome EvenOdd::determine_winner(const Choices& choices, int number) const {
  const std::string parity(parity_of(number));
  const bool a_is_right = choices.player_a == parity;
  const bool b_is_right = choices.player_b == parity;
  const std::string drawn =
      "The number is " + std::to_string(number) + ", which is " + parity + ": ";
  if (a_is_right && b_is_right) return {Winner::kNobody, parity, drawn + "both players are right."};
  if (a_is_right) return {Winner::kPlayerA, parity, drawn + "only player A is right."};
  if (b_is_right) return {Winner::kPlayerB, parity, drawn + "only player B is right."};
  return {Winner::kNobody, parity, drawn + "both players are wrong."};
}

}  // namespace league::referee::rules
