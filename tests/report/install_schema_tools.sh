#!/bin/sh
# Installs what the schema tests need (a JSON Schema validator and the official SARIF schema, pinned by
# package-lock.json) into DIR/node_modules. Usage: install_schema_tools.sh DIR, where DIR is BUILD/tests/report.
set -eu
if [ $# -ne 1 ]; then
  echo "usage: $0 DIR" >&2
  exit 64
fi
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$1/"
cd "$1"
exec npm ci --ignore-scripts --no-audit --no-fund
