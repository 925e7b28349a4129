# For scripts that try things where nothing else is: a bare system, made by debootstrap, of this machine's distribution and from the archive that apt
# uses here, if not told otherwise. Sourced after setup.sh; the caller sets `root`, the directory of that system, and may set `keep=yes` to find it
# there afterwards.
#
#   sooth_bare_check     skips (exit 77) where this machine cannot do it; sets as_root, and codename and mirror of this machine's distribution
#   sooth_bare_make      makes the system `codename` from `mirror`; it is removed when the script ends
#   sooth_bare_run FILE  runs that file of the system, with a /proc and mounts of its own

sooth_bare_skip() {
  echo "scripts/$(basename "$0"): skipped, $*"
  exit 77
}

sooth_bare_check() {
  as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    sudo -n true 2>/dev/null || sooth_bare_skip "only root can change the root directory"
    as_root=(sudo -n)
  fi
  command -v apt-get >/dev/null || sooth_bare_skip "this system has no apt-get"
  # The release that this machine runs, and where apt has its packages from.
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
    awk -v codename="$codename" '$2 == codename && $3 == "main" { print $1; exit }')
  [[ -n $mirror ]] || sooth_bare_skip "apt knows no archive of '$codename'; run apt-get update"
}

sooth_bare_remove() { "${as_root[@]}" rm -rf --one-file-system "$root"; }

sooth_bare_make() {
  sooth_bare_remove
  [[ ${keep:-no} == yes ]] || trap sooth_bare_remove EXIT
  echo "=== a bare $codename"
  local place
  place=$(dirname "$root")
  mkdir -p "$place/archives"
  # A release that is younger than debootstrap is made as the ones before it.
  local script=$codename
  [[ -e /usr/share/debootstrap/scripts/$script ]] || script=$([[ $mirror == *ubuntu* ]] && echo jammy || echo sid)
  "${as_root[@]}" debootstrap --variant=minbase --cache-dir="$place/archives" "$codename" "$root" "$mirror" "/usr/share/debootstrap/scripts/$script" >"$place/debootstrap.log" 2>&1 || {
    tail -n 20 "$place/debootstrap.log" >&2
    sooth_fail "debootstrap could not make a system; its messages are above"
  }
  # Proxies and the like of this machine's apt, and names of hosts.
  apt-config dump Acquire::http Acquire::https 2>/dev/null | "${as_root[@]}" tee "$root/etc/apt/apt.conf.d/90machine" >/dev/null
  local file
  for file in /etc/resolv.conf /etc/hosts; do "${as_root[@]}" cp -L "$file" "$root$file"; done
}

sooth_bare_run() {
  "${as_root[@]}" unshare --mount --pid --fork --mount-proc="$root/proc" chroot "$root" "$@"
}
