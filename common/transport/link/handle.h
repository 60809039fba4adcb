#pragma once

#include <memory>
#include <utility>

namespace league::transport::link {

/// A handle to `object`, which others (a connection, a timer) hold as well: when the handle's last
/// copy is gone, `end` is called with the object.
template <typename Interface, typename Object, typename End>
[[nodiscard]] std::shared_ptr<Interface> make_handle(std::shared_ptr<Object> object, End end) {
  Interface* shown = object.get();
  return {shown, [object = std::move(object), end = std::move(end)](Interface*) mutable {
            end(*std::exchange(object, nullptr));
          }};
}

}  // namespace league::transport::link
