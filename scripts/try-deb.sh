#!/usr/bin/env bash
# Makes the Debian package and tries it where nothing else is: in a bare system of this distribution, made by debootstrap from the archive that
# apt uses on this machine, it installs the package and a compiler with apt, and finds, confirms, reports and replays the race of the README.
#
#   scripts/try-deb.sh [--keep]     --keep: leave the system in build-deb/root, to look around
#
# Needs root or sudo, a network, and about 600 MB below build-deb. Exits with 0 when all of that worked, 77 when this machine cannot do it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
. "$sooth_root/scripts/bare_root.sh"
cd "$sooth_root"

build=$sooth_root/build-deb
root=$build/root
keep=no
[[ ${1:-} == --keep ]] && keep=yes

sooth_bare_check
sooth_setup build package

echo "=== package"
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSOOTH_DEVELOPER=OFF "${launcher[@]}" >/dev/null
cmake --build "$build" -j "$sooth_jobs"
rm -f "$build"/sooth_*.deb
(cd "$build" && cpack -G DEB)
deb=$(ls "$build"/sooth_*.deb)
depends=$(dpkg-deb --field "$deb" Depends)
echo "$(basename "$deb"): $(stat -c %s "$deb") bytes, depends on $depends"
# What the tool is linked with; that these are enough shows below.
for library in libc6 libstdc++6 libz3 libzstd1 libdw1 libelf1 libxxhash0 libtomlplusplus3; do
  [[ $depends == *"$library"* ]] || sooth_fail "the package does not depend on $library"
done

sooth_bare_make
"${as_root[@]}" cp "$deb" "$root/tmp/sooth.deb"

# What a user types: the commands of the README, by its own words, and the line of the report that replays the race.
readme_commands() { sed -n 's/^    \$ //p' README.md; }
[[ $(readme_commands | wc -l) -eq 2 ]] || sooth_fail "the README does not begin with two commands"
{
  cat <<'SCRIPT'
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
echo "=== installation"
apt-get -q -y update >/tmp/apt.log 2>&1
apt-get -q -y install --no-install-recommends /tmp/sooth.deb g++ >>/tmp/apt.log 2>&1 || { tail -n 20 /tmp/apt.log; exit 1; }
sooth --version
[ -z "$(dpkg --verify sooth)" ]
mkdir /home/user
cp /usr/share/doc/sooth/examples/bank_account_hidden.cc /home/user
chown -R nobody /home/user
echo "=== example"
cat >/tmp/example <<'EXAMPLE'
set -eu
cd /home/user
status=0
SCRIPT
  readme_commands | sed '2s/$/ >report.txt || status=$?/'
  cat <<'SCRIPT'
cat report.txt
[ "$status" -eq 66 ] || { echo "sooth run: status $status, expected 66"; exit 1; }
grep -q "bank_account_hidden.cc:21:14: confirmed data race on 'balance'" report.txt
sooth report sooth-account.json --format json --fail-on never | grep -q '"rung": "confirmed"'
sh -ec "$(sed -n 's/^ *replay: \(sooth replay .*\) (seed.*/\1/p' report.txt)"
EXAMPLE
su -s /bin/sh nobody -c "sh /tmp/example"
echo "=== removal"
apt-get -q -y purge sooth >>/tmp/apt.log 2>&1
for left in /usr/bin/sooth /usr/lib/sooth /usr/include/sooth /usr/share/cmake/Sooth /usr/share/man/man1/sooth.1; do
  [ ! -e "$left" ] || { echo "$left was left behind"; exit 1; }
done
SCRIPT
} | "${as_root[@]}" tee "$root/tmp/try" >/dev/null
sooth_bare_run /bin/sh /tmp/try
echo "scripts/try-deb.sh: the package works on a bare $codename"
