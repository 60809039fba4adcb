# Shared by the scripts: where the project is, which packages it needs, how it is built. Sourced, not run.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
packages=(
  g++ cmake ninja-build pkg-config python3
  libcpp-httplib-dev nlohmann-json3-dev libhowardhinnant-date-dev libvalijson-dev libsimdjson-dev
  libcli11-dev libspdlog-dev libssl-dev libboost-dev libjemalloc-dev libsqlitecpp-dev libsqlite3-dev
  libnats-dev nats-server
  libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev
)

say() { printf '%s\n' "$*" >&2; }

missing_packages() {
  command -v dpkg-query >/dev/null || return 0
  local name
  for name in "${packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || printf '%s\n' "$name"
  done
}

install_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null; then
    say "setup: this system has no apt-get. Install what docs/operating.md lists under 'Other systems', then run cmake --preset release."
    return 2
  fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { say "setup: run this as root, or install sudo; missing: ${missing[*]}"; return 2; }
    as_root=(sudo)
  fi
  say "setup: installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq >&2 &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2 ||
    { say "setup: apt-get failed; its words are above. Without a network, install these packages first: ${missing[*]}"; return 2; }
}

# build PRESET [cmake options…]: configures (quick when nothing changed) and builds: everything, or the targets in `targets`.
targets=()
build() {
  local preset=$1
  shift
  local log
  log=$(mktemp)
  if ! (cd "$root" && cmake --preset "$preset" "$@" >"$log" 2>&1); then
    cat "$log" >&2
    rm -f "$log"
    return 2
  fi
  rm -f "$log"
  (cd "$root" && cmake --build --preset "$preset" ${targets[@]+--target "${targets[@]}"} >&2)
}
