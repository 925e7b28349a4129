#!/usr/bin/env bash
# Tells how long the first minutes with Sooth take: in a bare system of this distribution, made by debootstrap, on two cores and without a compiler
# cache, it runs scripts/demo.sh and scripts/test.sh as somebody does who has just unpacked the sources. Installing packages is timed apart.
#
#   scripts/try-bare.sh [--keep] [demo] [test]     what to run; both unless named. --keep: leave the system in build-bare/root
#
# Needs root or sudo, a network, and about 6 GB below build-bare. The goals: the first finding of the demo within 3 minutes, the tests within 25.
# Exits with 0 when what it ran succeeded, in whatever time; 77 when this machine cannot do it. On a machine with more than two cores it takes
# two of them; processor time is printed too, for machines that have other things to do.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
. "$sooth_root/scripts/bare_root.sh"
cd "$sooth_root"

root=$sooth_root/build-bare/root
keep=no
parts=()
for word in "$@"; do
  case $word in
    --keep) keep=yes ;;
    demo | test) parts+=("$word") ;;
    *) sooth_fail "'$word' is neither --keep nor demo nor test" ;;
  esac
done
((${#parts[@]})) || parts=(demo test)

sooth_bare_check
sooth_setup package
sooth_bare_make

# The sources as they are in the working tree, without what was built from them.
"${as_root[@]}" mkdir "$root/sooth"
git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from=- --ignore-failed-read | "${as_root[@]}" tar --extract -C "$root/sooth" --no-same-owner
"${as_root[@]}" tee "$root/tmp/try" >/dev/null <<'SCRIPT'
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin
unset CI
mount -t tmpfs tmpfs /dev/shm
cd /sooth

# timed NAME COMMAND...: one line with how long it took.
TIMEFORMAT='%R s, of processors %U s + %S s'
timed() {
  local name=$1
  shift
  echo "=== $name"
  { time "$@" >"/tmp/$name.log" 2>&1; } 2>"/tmp/$name.time" || { tail -n 50 "/tmp/$name.log"; exit 1; }
  echo "$name: $(tail -n 1 "/tmp/$name.time")"
}

# Up to the line that follows the first races, and to the end.
demo() {
  local line start=$EPOCHREALTIME
  scripts/demo.sh | while IFS= read -r line; do
    printf '%s\n' "$line"
    if [[ $line == "(exit status 66)" && ! -e /tmp/first ]]; then
      awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f s", b - a }' >/tmp/first
    fi
  done
}

for part in "$@"; do
  groups=(small)
  if [[ $part == test ]]; then groups=(build test); fi
  rm -rf build build-asan
  timed "packages-$part" scripts/setup.sh "${groups[@]}"
  case $part in
    demo)
      timed demo demo
      echo "demo: first finding after $(cat /tmp/first)"
      ;;
    test)
      timed test scripts/test.sh
      tail -n 1 /tmp/test.log
      ;;
  esac
done
SCRIPT
first_two=$(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); ++i) print i }' | head -n 2 | paste -sd,)
echo "=== on processors $first_two of $(nproc)"
sooth_bare_run taskset -c "$first_two" bash /tmp/try "${parts[@]}"
