// Boost.Asio is compiled here, for all sources that declare what they use of it.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
