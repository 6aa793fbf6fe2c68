# Sourced by the commands in bin/. Leaves the pinned Bun first on PATH, the packages installed and
# $ROOT set. Needs node and npm only where that Bun is not there yet; touches nothing but the
# project's own folder (.cache, node_modules).

ROOT=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")/.." && pwd -P)

# The one place that names the version is package.json.
BUN_VERSION=$(sed -n 's/.*"bun": *"\([0-9][0-9.]*\)".*/\1/p' "$ROOT/package.json" | head -n 1)

# Bun reads this once, at its start: without it the 257th concurrent call to an upstream waits.
BUN_CONFIG_MAX_HTTP_REQUESTS=${BUN_CONFIG_MAX_HTTP_REQUESTS:-65000}
export BUN_CONFIG_MAX_HTTP_REQUESTS
# So is this, ms: memory that was freed goes back to the system when nobody needed it for so long.
# After the 10 ms that are usual, every stream would get its memory from the system anew.
MIMALLOC_PURGE_DELAY=${MIMALLOC_PURGE_DELAY:-10000}
export MIMALLOC_PURGE_DELAY

CACHE=$ROOT/.cache
BUN_HOME=$CACHE/bun-$BUN_VERSION
INSTALLED=$ROOT/node_modules/.weir-installed

say() { echo "weir: $*" >&2; }

fail() {
  say "$*"
  exit 1
}

is_right_bun() { [ "$("$1" --version 2>/dev/null)" = "$BUN_VERSION" ]; }

# What node_modules must match: when this changes, the packages are installed anew.
fingerprint() {
  (cd "$ROOT" && cat package.json bun.lock bunfig.toml patches/* | cksum && echo "$BUN_VERSION $(uname -sm)")
}

is_installed() { [ -f "$INSTALLED" ] && [ "$(cat "$INSTALLED")" = "$(fingerprint)" ]; }

# npm and Bun keep their downloads below HOME; a service account may have none that it can write.
private_caches() {
  if [ -n "${HOME:-}" ] && [ -d "$HOME" ] && [ -w "$HOME" ]; then return; fi
  npm_config_cache=${npm_config_cache:-$CACHE/npm}
  BUN_INSTALL_CACHE_DIR=${BUN_INSTALL_CACHE_DIR:-$CACHE/bun-packages}
  HOME=$CACHE/home
  mkdir -p "$HOME"
  export HOME npm_config_cache BUN_INSTALL_CACHE_DIR
}

# Made beside its final name and moved there whole: a half installation is never taken for one.
install_bun() {
  command -v npm >/dev/null 2>&1 ||
    fail "needs Bun $BUN_VERSION on PATH, or node and npm to fetch it from the npm registry."
  say "fetching Bun $BUN_VERSION from the npm registry (once) ..."
  work=$BUN_HOME.unfinished
  rm -rf "$work"
  mkdir -p "$work"
  npm install --prefix "$work" --no-save --no-audit --no-fund --no-update-notifier --loglevel=error \
    "bun@$BUN_VERSION" >&2 || fail "npm could not install bun@$BUN_VERSION."
  # Where npm runs no install scripts, the package is a stub until its own one has run.
  is_right_bun "$work/node_modules/.bin/bun" ||
    (cd "$work" && node node_modules/bun/install.js >&2) ||
    fail "the install step of bun@$BUN_VERSION failed."
  is_right_bun "$work/node_modules/.bin/bun" || fail "bun@$BUN_VERSION does not run on this machine."
  rm -rf "$BUN_HOME"
  mv "$work" "$BUN_HOME"
}

install_packages() {
  say "installing packages (once per change of bun.lock) ..."
  # Under NODE_ENV=production the tools for tests would be left out.
  (cd "$ROOT" && env -u NODE_ENV "$BUN" install --frozen-lockfile >&2) ||
    fail "the packages could not be installed."
  fingerprint >"$INSTALLED"
}

find_bun() {
  for candidate in "$(command -v bun 2>/dev/null || true)" "$BUN_HOME/node_modules/.bin/bun"; do
    if [ -n "$candidate" ] && is_right_bun "$candidate"; then
      BUN=$candidate
      return 0
    fi
  done
  return 1
}

complete_installation() {
  private_caches
  find_bun || {
    install_bun
    find_bun || fail "Bun $BUN_VERSION was installed but is not found."
  }
  is_installed || install_packages
}

prepare() {
  [ -n "$BUN_VERSION" ] || fail "package.json names no version of Bun."
  if ! find_bun || ! is_installed; then
    mkdir -p "$CACHE" || fail "$CACHE cannot be written."
    # Two commands started at once must not install into each other.
    if command -v flock >/dev/null 2>&1; then
      exec 9>"$CACHE/prepare.lock"
      flock 9
      complete_installation
      exec 9>&-
    else
      complete_installation
    fi
  fi
  # For child processes that call `bun`.
  PATH=$(dirname -- "$BUN"):$PATH
  export PATH
}
