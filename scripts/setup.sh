#!/usr/bin/env bash
# Installs what is missing of scripts/packages.txt, and nothing when nothing is missing: a second run needs neither
# network nor root.
#
#   scripts/setup.sh [GROUP...]     groups of packages.txt; default: build, which includes small
#
# The other scripts source this file for the functions below and call `sooth_setup GROUP...`.

sooth_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
sooth_jobs=$(nproc)  # those that we may use, which can be fewer than there are

# Ends the script with one sentence, in the name of the file that calls.
sooth_fail() {
  printf '%s\n' "scripts/$(basename "${BASH_SOURCE[1]}"): $*" >&2
  exit 1
}

# Prints the packages of the given groups that are missing, one per line.
sooth_missing_packages() {
  local group package found_by rest
  while read -r group package found_by rest; do
    [[ -z $group || $group == \#* ]] && continue
    [[ " $* " == *" $group "* ]] || continue
    case $found_by in
      dpkg) [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || echo "$package" ;;
      cmd:*) command -v "${found_by#cmd:}" >/dev/null || echo "$package" ;;
      *) sooth_fail "packages.txt: $package: FOUND-BY is '$found_by', neither dpkg nor cmd:X" ;;
    esac
  done <"$sooth_root/scripts/packages.txt"
}

# Prints the packages of the given groups, for people on systems that name them differently.
sooth_all_packages() {
  awk -v groups=" $* " '!/^#/ && NF && index(groups, " " $1 " ") { printf "%s ", $2 }' "$sooth_root/scripts/packages.txt"
}

# On a system without dpkg only the commands can be looked for; CMake finds out about the libraries.
sooth_setup_elsewhere() {
  local group package found_by rest missing=""
  while read -r group package found_by rest; do
    [[ $group != \#* && " $* " == *" $group "* && $found_by == cmd:* ]] || continue
    command -v "${found_by#cmd:}" >/dev/null || missing+=" ${found_by#cmd:}"
  done <"$sooth_root/scripts/packages.txt"
  [[ -z $missing ]] && return
  sooth_fail "these commands are missing:$missing; this system has no apt-get, so install what Debian calls:" \
    "$(sooth_all_packages "$@")"
}

sooth_install() {
  local as_root=() log
  if [[ $(id -u) -ne 0 ]]; then
    if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 && -t 2 ]]; }; then
      as_root=(sudo)
    else
      sooth_fail "these packages are missing: $*; run as root or with sudo: apt-get install --no-install-recommends $*"
    fi
  fi
  echo "scripts/setup.sh: installing $*"
  log=$(mktemp)
  # Error-Mode: without it apt-get calls an update that fetched nothing a success.
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
  local updated=yes
  "${apt[@]}" -o APT::Update::Error-Mode=any update >"$log" 2>&1 </dev/null || updated=no
  # A source that has nothing to do with us may be out of order: only the installation decides.
  if ! "${apt[@]}" install --no-install-recommends "$@" >>"$log" 2>&1 </dev/null; then
    grep -E '^(E|W|Err)' "$log" | tail -n 5 >&2
    rm -f "$log"
    [[ $updated == no ]] && sooth_fail "apt-get cannot reach the package archives, and these packages are missing: $*;" \
      "connect this machine to the network and run the script again"
    sooth_fail "apt-get could not install $*; its messages are above"
  fi
  rm -f "$log"
}

# True when version $1 is at least $2.
sooth_at_least() { [[ $(printf '%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]; }

sooth_check_versions() {
  local compiler=${CXX:-g++} version
  if [[ $("$compiler" --version 2>/dev/null) != *clang* ]]; then
    version=$("$compiler" -dumpfullversion 2>/dev/null) || sooth_fail "the compiler '$compiler' does not run"
    sooth_at_least "$version" 12 ||
      sooth_fail "$compiler is GCC $version, and Sooth needs GCC 12 or later; name one: CXX=g++-12 scripts/$(basename "$0")"
  fi
  version=$(cmake --version | awk 'NR == 1 { print $3 }')
  sooth_at_least "$version" 3.25 || sooth_fail "cmake is version $version, and Sooth needs CMake 3.25 or later"
}

# sooth_setup_npm SOURCE TARGET: what SOURCE/package-lock.json pins, into build/TARGET; tests find it there.
sooth_setup_npm() {
  local source=$sooth_root/$1 target=$sooth_root/build/$2
  # The copy of the lock file is written last, so it is the stamp of a whole installation.
  cmp -s "$source/package-lock.json" "$target/installed-lock.json" && return 0
  echo "scripts/setup.sh: fetching what $1/package-lock.json names"
  mkdir -p "$target"
  rm -f "$target/installed-lock.json"
  cp "$source/package.json" "$source/package-lock.json" "$target/"
  if [[ -f $source/.npmrc ]]; then cp "$source/.npmrc" "$target/"; fi
  (cd "$target" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null) ||
    sooth_fail "npm could not fetch what $1/package-lock.json names; its messages are above. Without" \
      "a network: connect this machine and run the script again"
  cp "$source/package-lock.json" "$target/installed-lock.json"
}

# A browser for one test, which is skipped without it: any Chromium that is there will do, and no harm is done when there is none to be had.
sooth_setup_browser() {
  { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null && return
  local missing
  missing=$(sooth_missing_packages browser) || exit 1
  # shellcheck disable=SC2086  # one word per package
  (sooth_install $missing) || echo "scripts/setup.sh: no Chromium could be installed; the test html_report will be skipped"
} >&2

# sooth_setup GROUP...: afterwards everything in these groups is there, or the script has ended with a sentence.
sooth_setup() {
  [[ " $* " == *" build "* ]] && set -- small "$@"
  if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
    local missing
    missing=$(sooth_missing_packages "$@") || exit 1
    # shellcheck disable=SC2086  # one word per package
    [[ -z $missing ]] || sooth_install $missing
  else
    sooth_setup_elsewhere "$@"
  fi
  sooth_check_versions
  if [[ " $* " == *" test "* ]]; then
    if command -v apt-get >/dev/null; then sooth_setup_browser; fi
    sooth_setup_npm tests/report npm  # validators of reports, and what steers the browser
    sooth_setup_npm web npm-web       # what bundles the page of the HTML report
  fi
}

# sooth_configure PRESET: configures, with ccache when it is there. SOOTH_TIMEOUT_FACTOR stretches the limits of tests.
sooth_configure() {
  local preset=$1 launcher=() log
  command -v ccache >/dev/null && launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  log=$(cmake --preset "$preset" "${launcher[@]}" -DSOOTH_TIMEOUT_FACTOR="${SOOTH_TIMEOUT_FACTOR:-1}" 2>&1) || {
    printf '%s\n' "$log" >&2
    sooth_fail "CMake could not configure the preset $preset; its messages are above"
  }
}

# sooth_build PRESET [targets]
sooth_build() {
  local preset=$1
  shift
  cmake --build --preset "$preset" -j "$sooth_jobs" ${1:+--target "$@"} ||
    sooth_fail "the build of preset $preset failed; the compiler's messages are above"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  set -euo pipefail
  cd "$sooth_root"
  sooth_setup "${@:-build}"
fi
