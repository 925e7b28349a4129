#!/usr/bin/env bash
# Tries what scripts/release.sh has made where nothing else is: in bare systems, made by debootstrap, with a compiler from their archives, it finds,
# confirms, reports and replays the race of the README.
#
#   scripts/try-release.sh [--keep] [--from DIR] [--ubuntu MIRROR] [deb] [archive] [container]     all three unless named
#
#   deb         installs the package on this machine's distribution, and removes it again
#   archive     unpacks the archive on it and on Debian's and Ubuntu's releases from Debian 12 and Ubuntu 22.04 on; the latter need --ubuntu
#   container   builds the Dockerfile with buildah, over an image of a bare system in the place of the one that a registry has, and runs it
#   --from DIR  what to try (build-release/out); it is made if it is not there
#   --keep      leaves the last system in build-try/root, to look around
#
# Needs root or sudo, a network, and about 2 GB below build-try. Exits with 0 when all of that worked, 77 when this machine cannot do it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
. "$sooth_root/scripts/bare_root.sh"
cd "$sooth_root"

try=$sooth_root/build-try
root=$try/root
from=$sooth_root/build-release/out
keep=no
ubuntu=
parts=()
while (($#)); do
  case $1 in
    --keep) keep=yes ;;
    --from | --ubuntu)
      [[ -n ${2:-} ]] || sooth_fail "$1 needs a value"
      [[ $1 == --from ]] && from=$(realpath "$2") || ubuntu=$2
      shift
      ;;
    deb | archive | container) parts+=("$1") ;;
    *) sooth_fail "'$1' is neither an option nor deb, archive or container" ;;
  esac
  shift
done
((${#parts[@]})) || parts=(deb archive container)

sooth_bare_check
sooth_setup build package
[[ -e $from/SHA256SUMS ]] || scripts/release.sh --out "$from"
(cd "$from" && sha256sum --quiet --check SHA256SUMS)
mkdir -p "$try"

# What a user types: the commands of the README, by its own words, and the line of the report that replays the race.
readme_commands() { sed -n 's/ *#.*//; s/^    \$ //p' README.md; }
[[ $(readme_commands | wc -l) -eq 2 ]] || sooth_fail "the README does not begin with two commands"

# example EXAMPLES: a script for nobody special, who has sooth in the path and this folder with examples.
example() {
  cat <<SCRIPT
set -eu
export LC_ALL=C
work=\$(mktemp -d)
cd "\$work"
cp $1/bank_account_hidden.cc .
status=0
$(readme_commands | sed '2s/$/ 2>report.txt || status=$?/')
cat report.txt
[ "\$status" -eq 66 ] || { echo "sooth run: status \$status, expected 66"; exit 1; }
grep -q "bank_account_hidden.cc:21:14: harmful data race on 'balance'" report.txt
sooth report sooth-account.json --format json --fail-on never | grep -q '"rung": "harmful"'
sh -ec "\$(sed -n 's/^ *replay: \(sooth replay .*\) (seed.*/\1/p' report.txt)"
SCRIPT
}

# In the system: "install PACKAGE...".
install_function='install() {
  export DEBIAN_FRONTEND=noninteractive LC_ALL=C
  { apt-get -q -y update && apt-get -q -y install --no-install-recommends "$@"; } >/tmp/apt.log 2>&1 || { tail -n 20 /tmp/apt.log; exit 1; }
}'

in_system() {
  { echo "set -eu"; echo "$install_function"; cat; } | "${as_root[@]}" tee "$root/tmp/try" >/dev/null
  sooth_bare_run /bin/sh /tmp/try
}

try_deb() {
  local depends library
  depends=$(dpkg-deb --field "$from"/sooth_*.deb Depends)
  echo "=== depends on $depends"
  # What the tool is linked with; that these are enough shows below.
  for library in libc6 libstdc++6 libz3 libzstd1 libdw1 libelf1 libxxhash0 libtomlplusplus3; do
    [[ $depends == *"$library"* ]] || sooth_fail "the package does not depend on $library"
  done
  echo "=== policy"
  lintian --fail-on error,warning --tag-display-limit 0 "$from"/sooth_*.deb
  sooth_bare_make
  "${as_root[@]}" cp "$from"/sooth_*.deb "$root/tmp/sooth.deb"
  example /usr/share/doc/sooth/examples | "${as_root[@]}" tee "$root/tmp/example" >/dev/null
  in_system <<'SCRIPT'
install /tmp/sooth.deb g++
sooth --version
[ -z "$(dpkg --verify sooth)" ]
su -s /bin/sh nobody -c "sh /tmp/example"
echo "=== removal"
apt-get -q -y purge sooth >>/tmp/apt.log 2>&1
for left in /usr/bin/sooth /usr/lib/*/sooth /usr/include/sooth /usr/share/cmake/Sooth /usr/share/man/man1/sooth.1.gz; do
  [ ! -e "$left" ] || { echo "$left was left behind"; exit 1; }
done
SCRIPT
  echo "scripts/try-release.sh: the Debian package works on a bare $codename"
}

# On the system that codename and mirror name. Where nobody expects it, through a link.
try_archive_here() {
  sooth_bare_make
  "${as_root[@]}" cp "$from"/sooth-*-linux-x86_64.tar.xz "$root/tmp/sooth.tar.xz"
  example "/srv/sooth/share/doc/sooth/examples" | "${as_root[@]}" tee "$root/tmp/example" >/dev/null
  in_system <<'SCRIPT'
install g++ xz-utils
mkdir /srv/sooth
tar -xf /tmp/sooth.tar.xz -C /srv/sooth --strip-components=1
ln -s /srv/sooth/bin/sooth /usr/local/bin/sooth
sooth --version
su -s /bin/sh nobody -c "sh /tmp/example"
# A program as it is: the engine for that comes along.
cd /tmp
g++ -O0 -g -pthread /srv/sooth/share/doc/sooth/examples/bank_account_race.cc -o plain
status=0
sooth run -- ./plain 2>plain.txt || status=$?
cat plain.txt
[ "$status" -eq 66 ]
SCRIPT
  echo "scripts/try-release.sh: the archive works on a bare $codename"
}

try_archive() {
  local own=$codename own_mirror=$mirror each
  try_archive_here
  for each in bookworm trixie jammy noble; do
    [[ $each != "$own" ]] || continue
    codename=$each
    case $each in
      jammy | noble) mirror=$ubuntu ;;
      *) mirror=$([[ $own == bookworm || $own == trixie ]] && echo "$own_mirror") ;;
    esac
    if [[ -n $mirror ]]; then
      try_archive_here
    else
      echo "scripts/try-release.sh: no mirror of $each is known; left out"
    fi
  done
  codename=$own mirror=$own_mirror
}

try_container() {
  local image storage=(--storage-driver vfs --root "$try/containers" --runroot "$try/containers-run")
  codename=bookworm sooth_bare_make
  "${as_root[@]}" rm -rf "$try/containers" "$try/containers-run"
  # What `FROM` names, as far as that can be had without a registry. Its apt needs this machine's proxies.
  base=$("${as_root[@]}" buildah "${storage[@]}" from scratch)
  "${as_root[@]}" buildah "${storage[@]}" add -q "$base" "$root" / >/dev/null
  "${as_root[@]}" buildah "${storage[@]}" commit -q "$base" docker.io/library/debian:12-slim >/dev/null
  "${as_root[@]}" buildah "${storage[@]}" build --isolation chroot --network host --pull-never -t sooth:try "$from" >"$try/container.log" 2>&1 || {
    tail -n 20 "$try/container.log" >&2
    sooth_fail "the container could not be built"
  }
  image=$("${as_root[@]}" buildah "${storage[@]}" from --pull-never sooth:try)
  example "/opt/sooth-*-linux-x86_64/share/doc/sooth/examples" | "${as_root[@]}" buildah "${storage[@]}" run --isolation chroot "$image" -- sh -s
  "${as_root[@]}" rm -rf "$try/containers" "$try/containers-run"
  echo "scripts/try-release.sh: the container works"
}

for part in "${parts[@]}"; do "try_$part"; done
