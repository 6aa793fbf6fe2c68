# The commands in bin/ source this file. It puts the pinned Bun first on PATH, installs the packages and
# sets $ROOT. It needs node and npm only to install Bun. It writes only to .cache and node_modules
# of the project.

ROOT=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")/.." && pwd -P)

# package.json is the only place that names the version.
BUN_VERSION=$(sed -n 's/.*"bun": *"\([0-9][0-9.]*\)".*/\1/p' "$ROOT/package.json" | head -n 1)

# Bun reads this only at its start. Without it, the 257th concurrent request to an upstream waits.
BUN_CONFIG_MAX_HTTP_REQUESTS=${BUN_CONFIG_MAX_HTTP_REQUESTS:-65000}
export BUN_CONFIG_MAX_HTTP_REQUESTS
# Bun reads this at its start too: ms until it returns freed memory to the system. With the default of
# 10 ms, every stream would allocate its memory from the system again; with 10 s, every burst of calls after a pause.
MIMALLOC_PURGE_DELAY=${MIMALLOC_PURGE_DELAY:-60000}
export MIMALLOC_PURGE_DELAY
# And this: with the default, 1, each wait for the next bytes returns the holes in pages in use, and the next call takes
# them again. Pages that are free as a whole are returned in both cases.
MIMALLOC_PURGE_HOLES=${MIMALLOC_PURGE_HOLES:-0}
export MIMALLOC_PURGE_HOLES

CACHE=$ROOT/.cache
BUN_HOME=$CACHE/bun-$BUN_VERSION
INSTALLED=$ROOT/node_modules/.weir-installed

say() { echo "weir: $*" >&2; }

fail() {
  say "$*"
  exit 1
}

is_right_bun() { [ "$("$1" --version 2>/dev/null)" = "$BUN_VERSION" ]; }

# A hash of everything that decides the packages. If it changes, they are installed again.
fingerprint() {
  (cd "$ROOT" && cat package.json bun.lock bunfig.toml patches/* | cksum && echo "$BUN_VERSION $(uname -sm)")
}

is_installed() { [ -f "$INSTALLED" ] && [ "$(cat "$INSTALLED")" = "$(fingerprint)" ]; }

# npm and Bun store downloads below HOME. A service account may have no writable HOME.
private_caches() {
  if [ -n "${HOME:-}" ] && [ -d "$HOME" ] && [ -w "$HOME" ]; then return; fi
  npm_config_cache=${npm_config_cache:-$CACHE/npm}
  BUN_INSTALL_CACHE_DIR=${BUN_INSTALL_CACHE_DIR:-$CACHE/bun-packages}
  HOME=$CACHE/home
  mkdir -p "$HOME"
  export HOME npm_config_cache BUN_INSTALL_CACHE_DIR
}

# Installs into a temporary folder and renames it, so that an incomplete installation is never used.
install_bun() {
  command -v npm >/dev/null 2>&1 ||
    fail "needs Bun $BUN_VERSION on PATH, or node and npm to fetch it from the npm registry."
  say "fetching Bun $BUN_VERSION from the npm registry (once) ..."
  work=$BUN_HOME.unfinished
  rm -rf "$work"
  mkdir -p "$work"
  npm install --prefix "$work" --no-save --no-audit --no-fund --no-update-notifier --loglevel=error \
    "bun@$BUN_VERSION" >&2 || fail "npm could not install bun@$BUN_VERSION."
  # If npm runs no install scripts, the package is a stub until its install step has run.
  is_right_bun "$work/node_modules/.bin/bun" ||
    (cd "$work" && node node_modules/bun/install.js >&2) ||
    fail "the install step of bun@$BUN_VERSION failed."
  is_right_bun "$work/node_modules/.bin/bun" || fail "bun@$BUN_VERSION does not run on this machine."
  rm -rf "$BUN_HOME"
  mv "$work" "$BUN_HOME"
}

install_packages() {
  say "installing packages (once per change of bun.lock) ..."
  # NODE_ENV=production would omit the development dependencies.
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
    # A lock, so that two commands do not install at the same time.
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
