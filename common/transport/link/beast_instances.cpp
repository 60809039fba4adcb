// Compiles Boost.Beast once, for all sources that only declare what they use of it.
#include <boost/beast/src.hpp>
