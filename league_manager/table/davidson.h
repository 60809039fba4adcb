#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "league_manager/table/figures.h"

namespace league::league_manager::table {

/// The model of Bradley and Terry with draws after Davidson, with a normal prior. Players are
/// numbered from 0 without gaps; strengths are natural logarithms with mean 0. Source:
/// docs/table.md.
class Davidson {
 public:
  Davidson(std::size_t players, std::span<const CountedMatch> matches);

  /// The strengths that are most probable.
  [[nodiscard]] const std::vector<double>& strengths() const { return strengths_; }
  /// The lower triangle of the Cholesky factor of the strengths' precision, by rows of
  /// `players` numbers. Empty if it was stopped.
  [[nodiscard]] std::vector<double> factor(const std::stop_token& stop) const;
  /// The standard errors of the strengths. Empty if it was stopped.
  [[nodiscard]] std::vector<double> errors(const std::vector<double>& factor,
                                           const std::stop_token& stop) const;
  /// How often each player is the strongest, in kSamples samples of the strengths. Empty if it was
  /// stopped.
  [[nodiscard]] std::vector<double> first_places(const std::vector<double>& factor,
                                                 std::uint64_t seed,
                                                 const std::stop_token& stop) const;

 private:
  struct Pair {
    std::size_t i = 0;
    std::size_t j = 0;
    double matches = 0;
    double score = 0;  ///< half of the wins of i minus the wins of j
    double draws = 0;
    double curvature = 0;  ///< of the log-likelihood, by the difference of strengths
    double mixed = 0;  ///< the same by the difference and by the draws
  };

  void add_up(std::span<const CountedMatch> matches);
  /// Sets the gradient and the curvatures at the present point; returns the logarithm of the
  /// posterior.
  double look(std::vector<double>& gradient);
  [[nodiscard]] double log_posterior() const;
  [[nodiscard]] std::vector<double> newton_step(const std::vector<double>& gradient) const;
  void multiply(const std::vector<double>& by, std::vector<double>& product) const;
  void move(const std::vector<double>& step, double part);

  std::vector<Pair> pairs_;
  std::vector<double> strengths_;
  double draw_ = 0;  ///< the logarithm of Davidson's parameter
  std::vector<double> diagonal_;  ///< of the precision of the strengths
  double draw_curvature_ = 0;
};

inline constexpr std::size_t kSamples = 10'000;

/// The generator SplitMix64.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

 private:
  std::uint64_t state_;
};

}  // namespace league::league_manager::table
