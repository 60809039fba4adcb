#pragma once

#include <cstdint>

/// The few distributions that `league audit stats` needs. All are pure functions.
namespace league::tools {

/// P(X >= x) for a chi-squared X with `freedom` degrees; `noncentrality` 0 for the usual one.
[[nodiscard]] double chi_squared_tail(double x, double freedom, double noncentrality = 0);
/// The x with chi_squared_tail(x, freedom) == p.
[[nodiscard]] double chi_squared_critical(double p, double freedom);

/// How likely `k` of `n`, or what is as far to its side, is with chance `p` each, times two: the
/// two-sided p-value. Exact.
[[nodiscard]] double binomial_two_sided(std::uint64_t k, std::uint64_t n, double p);
/// How likely a two-sided test of chance `p` at level `alpha` rejects when the chance is `truth`.
[[nodiscard]] double binomial_power(std::uint64_t n, double p, double truth, double alpha);

}  // namespace league::tools
