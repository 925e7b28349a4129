#!/usr/bin/env bash
# Makes what a release consists of, below DIR (build-release/out):
#
#   sooth-VERSION.tar.xz                  the sources of the last commit
#   sooth-VERSION-linux-x86_64.tar.xz     the tool for any x86-64 Linux with glibc 2.35 and GCC 12's libstdc++ or later, to be unpacked anywhere
#   sooth_VERSION_amd64.deb, sooth-VERSION-1.x86_64.rpm
#   Dockerfile, notes.md, SHA256SUMS      a container with the archive; what is new; the sums of all of these
#
#   scripts/release.sh [--out DIR]
#
# Programs run where the libraries are at least as new as where they were built: on another system than Debian 12, the oldest that has all that the build
# needs, it makes packages for that one, and says so. scripts/try-release.sh tries the result.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$sooth_root"

build=$sooth_root/build-release
out=$build/out
if [[ ${1:-} == --out ]]; then
  [[ -n ${2:-} ]] || sooth_fail "--out needs a folder"
  mkdir -p "$2"
  out=$(cd "$2" && pwd)
  shift 2
fi
(($# == 0)) || sooth_fail "'$1' is not an option; see the head of scripts/release.sh"

version=$(sed -n 's/^project(sooth VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
[[ -n $version ]] || sooth_fail "CMakeLists.txt has no version"
system=$(. /etc/os-release && echo "$ID $VERSION_ID")
[[ $system == "debian 12" ]] || echo "scripts/release.sh: made on $system, these packages may not run on older systems"
git diff --quiet HEAD || echo "scripts/release.sh: there are changes that are not committed; the sources will not have them"

sooth_setup build package
rm -rf "$out"
mkdir -p "$out"

echo "=== sources"
git archive --prefix="sooth-$version/" HEAD | xz -T2 >"$out/sooth-$version.tar.xz"

# The newest part of the changelog: that of the version, or what has come since.
awk '/^## \[/ { if (seen++) exit } seen' CHANGELOG.md >"$out/notes.md"
[[ -s $out/notes.md ]] || sooth_fail "CHANGELOG.md has no section"

echo "=== Debian package"
command -v ccache >/dev/null && export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
configure() {
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSOOTH_DEVELOPER=OFF "$@" >/dev/null
  cmake --build "$build" -j "$sooth_jobs"
}
# CPack would have ldconfig look at /usr/lib/sooth.
configure -DSOOTH_BUNDLE_LIBRARIES=OFF -DCMAKE_INSTALL_LIBDIR="lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH)"
(cd "$build" && cpack -G DEB -B "$out") >"$build/cpack.log" 2>&1 || { cat "$build/cpack.log" >&2; sooth_fail "cpack failed"; }
rm -rf "$out/_CPack_Packages"

echo "=== archive"
name=sooth-$version-linux-x86_64
stage=$build/stage
rm -rf "$stage"
configure -DSOOTH_BUNDLE_LIBRARIES=ON -DCMAKE_INSTALL_LIBDIR=lib
cmake --install "$build" --prefix "$stage/$name" --strip >/dev/null
# What the licences of the libraries ask for.
for library in "$stage/$name"/lib/sooth/libraries/*; do
  package=$(dpkg -S "*/$(basename "$library")" | sed -n '1s/:.*//p')
  install -D -m 644 "/usr/share/doc/$package/copyright" "$stage/$name/share/doc/sooth/libraries/$package"
done
# All that it takes from the system: anything else would only be found here.
for file in "$stage/$name"/bin/sooth "$stage/$name"/lib/sooth/libraries/* "$stage/$name"/lib/sooth/*.so*; do
  for needed in $(objdump -p "$file" | sed -n 's/^ *NEEDED *//p'); do
    case $needed in
      libc.so.6 | libm.so.6 | libstdc++.so.6 | libgcc_s.so.1 | ld-linux-x86-64.so.2) ;;
      *) [[ -e $stage/$name/lib/sooth/libraries/$needed ]] || sooth_fail "$(basename "$file") needs $needed, which is not in the archive" ;;
    esac
  done
  newest=$(objdump -T "$file" | sed -n 's/.*(\?GLIBC_\(2\.[0-9]*\)).*/\1/p' | sort -uV | tail -n 1)
  [[ $(printf '%s\n' 2.35 "$newest" | sort -V | tail -n 1) == 2.35 || $system != "debian 12" ]] ||
    sooth_fail "$(basename "$file") needs glibc $newest; 2.35 is promised"
done
tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -C "$stage" "$name" | xz -T2 >"$out/$name.tar.xz"

echo "=== RPM package"
sed "s/@VERSION@/$version/g" packaging/sooth.spec.in >"$build/sooth.spec"
# This is no system of RPMs: it does not know what is installed.
rpmbuild -bb --nodeps --define "_topdir $build/rpm" --define "_sourcedir $out" --define "_rpmdir $build/rpm" --define "tree $stage/$name" "$build/sooth.spec" >"$build/rpm.log" 2>&1 || {
  tail -n 30 "$build/rpm.log" >&2
  sooth_fail "rpmbuild failed; all that it said is in $build/rpm.log"
}
mv "$build"/rpm/x86_64/sooth-*.rpm "$out"

sed "s/@VERSION@/$version/g" packaging/Dockerfile.in >"$out/Dockerfile"
(cd "$out" && sha256sum -- * >SHA256SUMS)
echo "=== $out"
(cd "$out" && ls -l)
