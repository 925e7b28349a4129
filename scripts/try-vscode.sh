#!/usr/bin/env bash
# Packages the extension of editors/vscode and tries it in a real VS Code: the server and workbench that the npm package
# code-server contains, in headless Chromium.
#
#   scripts/try-vscode.sh [-o EXTENSION.vsix] [--pictures DIR] [SOOTH]     the tool; default: build/bin/sooth
#
# -o keeps the package. Ends with a line `N passed, M failed`; exits with 0 only when nothing failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$sooth_root"

package="" pictures=""
while [[ ${1:-} == -* ]]; do
  case $1 in
    -o) package=$(realpath -m "$2") ;;
    --pictures) pictures=$(realpath -m "$2") && mkdir -p "$pictures" ;;
    *) sooth_fail "there is no option $1" ;;
  esac
  shift 2
done
sooth=$(realpath "${1:-build/bin/sooth}")
[[ -x $sooth ]] || sooth_fail "$sooth is not there: build it first"
sooth_setup build test
sooth_setup_npm editors/vscode/package npm-vscode

# The server wants packages of its own, one of which its lock file takes from elsewhere than the registry. Native parts
# (terminals, watching many files) are not needed for this.
server=build/npm-vscode/node_modules/code-server/lib/vscode
if [[ ! -f $server/node_modules/.package-lock.json ]]; then
  rm -f "$server/npm-shrinkwrap.json"
  (cd "$server" && npm install --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null)
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r editors/vscode "$work/extension"
cp LICENSE "$work/extension/"
(cd "$work/extension" && node "$sooth_root/build/npm-vscode/node_modules/@vscode/vsce/vsce" package --no-dependencies \
  --allow-missing-repository -o "$work/sooth.vsix" >"$work/log" 2>&1) || { cat "$work/log" >&2; sooth_fail "vsce made no package"; }
[[ -z $package ]] || cp "$work/sooth.vsix" "$package"

mkdir "$work/bank"
cp examples/bank_account_hidden.cc "$work/bank/account.cc"
(cd "$work/bank" && "$sooth" c++ -g -O1 -pthread account.cc -o account && "$sooth" run --fail-on never -- ./account >/dev/null 2>&1)
node tests/vscode/run.mjs build/npm "$server/out/server-main.js" "$work/sooth.vsix" "$sooth" "$work/bank" ${pictures:+"$pictures"}
