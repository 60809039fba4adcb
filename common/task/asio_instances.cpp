// Compiles Boost.Asio once, for all sources that only declare what they use of it.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
