#!/bin/sh
# A check shared out over the tasks of a Slurm array, and put together by a job that waits for it:
#
#   shards=$(sbatch --parsable --array=1-8 slurm-array.sh)
#   sbatch --dependency=afterok:"$shards" slurm-array.sh
#
# A task that was preempted is queued again and goes on where it was. For another number of shards
# change SHARDS and --array.
#SBATCH --job-name=runkey
#SBATCH --cpus-per-task=4
#SBATCH --requeue
set -eu

SCENARIO=${SCENARIO:-recommended-stack}
FAULTS=${FAULTS:-3}
SHARDS=${SHARDS:-8}
# A folder that every node sees.
JOURNALS=${JOURNALS:-.}

if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
    runkey check "$SCENARIO" --faults "$FAULTS" --shard "$SLURM_ARRAY_TASK_ID/$SHARDS" --resume "$JOURNALS/shard-$SLURM_ARRAY_TASK_ID.journal" --jobs "${SLURM_CPUS_PER_TASK:-4}"
else
    runkey merge "$JOURNALS"/shard-*.journal --certificate "$JOURNALS/certificate.json"
fi
