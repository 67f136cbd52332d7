#!/bin/sh
# If a process of an MPI job is killed, the job must end soon and with an error.
# kill.sh COMMAND...
timeout 100 "$@"
code=$?
echo "exit code $code"
[ "$code" -ne 0 ] && [ "$code" -ne 124 ]
