#!/usr/bin/env bash
# Tries `sooth campaign` on a real Slurm: four nodes on this machine, 200 units in an array, one node killed in the middle. The report must
# equal that of one worker on one machine, byte for byte.
#
#   scripts/try-slurm.sh [SOOTH]     the program to try; default: build/bin/sooth
#
# Needs root, for a cluster of its own in a temporary folder; no other cluster is touched. Exits with 0 when all of that worked, 77 when this
# machine cannot do it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$sooth_root"

sooth=$(realpath "${1:-build/bin/sooth}")
[[ -x $sooth ]] || sooth_fail "$sooth is not there: build it first"
[[ $(id -u) -eq 0 ]] || { echo "scripts/try-slurm.sh: needs root"; exit 77; }
sooth_setup cluster

nodes=4
schedules=20
work=$(mktemp -d)
cluster=$work/cluster
mkdir -p "$cluster"
export SLURM_CONF=$cluster/slurm.conf

# Ends what belongs to the cluster: everything that has its folder in its command line.
stop_cluster() { pkill -KILL -f "$cluster" 2>/dev/null || true; }
trap 'stop_cluster; rm -rf "$work"' EXIT

start_cluster() {
  head -c 1024 /dev/urandom >"$cluster/munge.key"
  chmod 400 "$cluster/munge.key"
  munged --force --key-file="$cluster/munge.key" --socket="$cluster/munge.socket" --pid-file="$cluster/munge.pid" \
    --log-file="$cluster/munge.log" --seed-file="$cluster/munge.seed"
  cat >"$SLURM_CONF" <<CONFIGURATION
ClusterName=try
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
SlurmctldPort=16817
AuthInfo=socket=$cluster/munge.socket
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool.%n
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.%n.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SlurmdTimeout=15
JobRequeue=1
MinJobAge=3600
NodeName=n[1-$nodes] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[17001-$((17000 + nodes))] CPUs=1
PartitionName=all Nodes=ALL Default=YES State=UP
CONFIGURATION
  slurmctld -f "$SLURM_CONF"
  for i in $(seq "$nodes"); do
    slurmd -f "$SLURM_CONF" -N "n$i"
  done
}

# The node is gone as if somebody had pulled its plug: its daemon, and what it was running.
kill_node() {
  local daemon children
  daemon=$(cat "$cluster/slurmd.$1.pid")
  children=$(pgrep -f "slurmstepd.*\[" | xargs -r -I{} sh -c "tr '\0' '\n' </proc/{}/environ 2>/dev/null | grep -q SLURMD_NODENAME=$1 && echo {}" || true)
  kill -KILL "$daemon"
  for parent in $children; do
    pkill -KILL -P "$parent" || true
    kill -KILL "$parent" 2>/dev/null || true
  done
}

units_done() { find "$1/units" -name '*.json' | wc -l; }

build_suite() {
  local name
  for name in airline bank_account_hidden bank_account_norace bank_account_race bounded_buffer cache_cleaner critical elevator ping_pong textbook; do
    "$sooth" c++ -O1 "examples/$name.cc" -o "$work/$name"
    echo "./$name"
  done >"$work/commands"
}

echo "=== one machine"
build_suite
cd "$work"
plan=(--commands commands --schedules "$schedules" --trials 3)
"$sooth" campaign plan alone "${plan[@]}"
seq "$sooth_jobs" | xargs -P "$sooth_jobs" -I{} "$sooth" campaign work alone 2>/dev/null
"$sooth" campaign status alone

echo "=== $nodes nodes"
start_cluster
"$sooth" campaign plan spread "${plan[@]}"
units=$("$sooth" campaign status --missing spread)
cat >job.sh <<JOB
#!/bin/sh
exec "$sooth" campaign work "$work/spread" --units "\$SLURM_ARRAY_TASK_ID"
JOB
sbatch --requeue --array="$units" --output=/dev/null --chdir="$work" job.sh
total=${units#*-}
while (($(units_done spread) < total / 4)); do sleep 1; done
echo "killing a node after $(units_done spread) of $total units"
kill_node n2
# Slurm gives what the node had to the others; what it should lose all the same is asked for again.
for _ in $(seq 900); do
  (($(units_done spread) == total)) && break
  if [[ -z $(squeue --noheader) ]]; then
    sbatch --requeue --array="$("$sooth" campaign status --missing spread)" --output=/dev/null --chdir="$work" job.sh
  fi
  sleep 1
done
sinfo --noheader --format='%n %T'
"$sooth" campaign status spread

for folder in alone spread; do
  "$sooth" campaign merge "$folder" --no-times --fail-on never --format json -o report.json
  sed "s,$work/$folder/,$work/,g" report.json >"$folder.json"
done
cmp alone.json spread.json
echo "scripts/try-slurm.sh: $total units on $nodes nodes, one of them killed: the report equals that of one machine ($(wc -c <alone.json) bytes)"
