#!/bin/sh
# A process of an MPI job is killed: the job must end by itself, soon, and not with success.
# kill.sh COMMAND...
timeout 100 "$@"
code=$?
echo "exit code $code"
[ "$code" -ne 0 ] && [ "$code" -ne 124 ]
