# Shared by the scripts: where the project is, which packages it needs, how it is built. Sourced, not run.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# What building and running needs, and what the tests need besides.
packages=(
  g++ cmake ninja-build pkg-config python3
  libcpp-httplib-dev nlohmann-json3-dev libhowardhinnant-date-dev libsimdjson-dev libcli11-dev libspdlog-dev libssl-dev
  libtomlplusplus-dev
  zlib1g-dev libjemalloc-dev libsqlitecpp-dev libsqlite3-dev libnats-dev libutf8proc-dev
)
test_packages=(libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev nats-server python3-jsonschema python3-yaml)
# Packages that are unpacked here, where CMake and the tests look for them, and not installed: valijson's would ask for Qt
# and Poco, Boost's would remove the Boost that other programs are built with, and nginx's would start a web server.
unpacked_packages=(libvalijson-dev)
if grep -qs '^VERSION_CODENAME=bookworm$' /etc/os-release; then
  unpacked_packages+=(libboost1.81-dev)  # its libboost-dev is older than coroutines need
else
  packages+=(libboost-dev)
fi
unpacked_test_packages=(nginx)
unpacked=$root/build/packages

say() { printf '%s\n' "$*" >&2; }

# quietly WHAT LOG COMMAND…: runs COMMAND with its words in the file LOG, and says meanwhile what is being done, for how
# long, and how far it is. Shows LOG if it fails.
quietly() {
  local what=$1 log=$2 status=0 ticker
  shift 2
  : >"$log"
  tell_progress "$what" "$log" "$$" &
  ticker=$!
  "$@" >"$log" 2>&1 || status=$?
  kill "$ticker" 2>/dev/null || true
  wait "$ticker" 2>/dev/null || true
  ! may_draw || printf '\r\033[K' >&2
  [ "$status" -eq 0 ] || cat "$log" >&2
  return "$status"
}

# Whether stderr is a terminal on which a line can be written again.
may_draw() { [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; }

# One line that is written again each second on a terminal, else one every 15 seconds. Ends with the script.
tell_progress() {
  local what=$1 log=$2 script=$3 seconds=0 last
  while kill -0 "$script" 2>/dev/null; do
    last=$(tail -n 1 "$log" 2>/dev/null | tr -d '\r' | cut -c 1-60) || last=
    if may_draw; then
      printf '\r\033[K%s, %d s  %s' "$what" "$seconds" "$last" >&2
    elif [ $((seconds % 15)) -eq 0 ]; then
      say "$what, $seconds s  $last"
    fi
    sleep 1
    seconds=$((seconds + 1))
  done
}

is_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# missing_packages NAME…: those that are not installed.
missing_packages() {
  local name
  for name in "$@"; do
    is_installed "$name" || printf '%s\n' "$name"
  done
}

is_unpacked() { [ -e "$unpacked/usr/share/doc/$1" ]; }

# install_packages [tests] [NAME…]: installs what is missing, with `tests` also what only the tests need.
install_packages() {
  command -v dpkg-query >/dev/null || return 0
  local wanted=("${packages[@]}") to_unpack=("${unpacked_packages[@]}") missing not_unpacked=() name log
  if [ "${1:-}" = tests ]; then
    wanted+=("${test_packages[@]}")
    to_unpack+=("${unpacked_test_packages[@]}")
    shift
  fi
  mapfile -t missing < <(missing_packages "${wanted[@]}" "$@")
  for name in "${to_unpack[@]}"; do
    is_installed "$name" || is_unpacked "$name" || not_unpacked+=("$name")
  done
  [ $((${#missing[@]} + ${#not_unpacked[@]})) -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null; then
    say "setup: this system has no apt-get. Install what docs/install.md lists under 'Other systems', then run cmake --preset release."
    return 2
  fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { say "setup: run this as root, or install sudo; missing: ${missing[*]}"; return 2; }
    as_root=(sudo)
  fi
  log=$root/build/packages.log
  mkdir -p "$unpacked"
  say "setup: needs ${missing[*]} ${not_unpacked[*]}"
  quietly "setup: reading the lists of packages" "$log" "${as_root[@]}" apt-get update -qq || failed_packages "${missing[@]}" || return
  if [ ${#missing[@]} -gt 0 ]; then
    quietly "setup: installing ${#missing[@]} packages and what they need" "$log" \
      "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" ||
      failed_packages "${missing[@]}" || return
  fi
  for name in ${not_unpacked[@]+"${not_unpacked[@]}"}; do
    quietly "setup: unpacking $name into build/packages" "$log" unpack "$name" || failed_packages "$name" || return
  done
}

failed_packages() {
  say "setup: apt-get failed; its words are above. Without a network, install these packages first: $*"
  return 2
}

# unpack NAME: a package's files into $unpacked, without those that it asks for.
unpack() {
  local place status=0
  place=$(mktemp -d)
  (cd "$place" && apt-get download "$1" && dpkg-deb -x ./*.deb "$unpacked") || status=$?
  rm -rf "$place"
  return "$status"
}

# build PRESET [cmake options…]: configures (quick when nothing changed) and builds: everything, or the targets in `targets`.
targets=()
build() {
  local preset=$1 log=$root/build/build.log
  shift
  mkdir -p "$root/build"
  quietly "configuring" "$log" configure "$preset" "$@" || return 2
  quietly "building" "$log" compile "$preset"
}
configure() { (cd "$root" && cmake --preset "$@"); }
compile() { (cd "$root" && cmake --build --preset "$1" ${targets[@]+--target "${targets[@]}"}); }
