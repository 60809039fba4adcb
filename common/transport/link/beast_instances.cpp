// Boost.Beast is compiled here, for all sources that declare what they use of it.
#include <boost/beast/src.hpp>
