#pragma once

#include <cstdint>

/// The few distributions that `league audit stats` needs. All are pure functions.
namespace league::tools::auditor {

/// P(X >= x) for a chi-squared X with `freedom` degrees; `noncentrality` 0: the central
/// distribution.
[[nodiscard]] double chi_squared_tail(double x, double freedom, double noncentrality = 0);
/// The x with chi_squared_tail(x, freedom) == p.
[[nodiscard]] double chi_squared_critical(double p, double freedom);

/// The exact two-sided p-value of `k` successes in `n` trials with probability `p`: twice the
/// probability of the tail from `k` on.
[[nodiscard]] double binomial_two_sided(std::uint64_t k, std::uint64_t n, double p);
/// The power of a two-sided test of probability `p` at level `alpha` if the true probability is
/// `truth`.
[[nodiscard]] double binomial_power(std::uint64_t n, double p, double truth, double alpha);

}  // namespace league::tools::auditor
