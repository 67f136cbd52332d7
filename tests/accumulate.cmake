# Builds against the reference mode, the plan/execute interface, the accuracy on the data sets.
fmo_test(accumulate_fock SOURCES accumulate_fock.c LABELS unit)
fmo_test(accumulate_cpu STATIC SOURCES accumulate_cpu.c LABELS unit)
# Many short builds with more threads than cores: waiting threads should sleep.
set_tests_properties(accumulate_cpu PROPERTIES ENVIRONMENT OMP_WAIT_POLICY=passive)
fmo_test(accumulate_api SOURCES accumulate_api.c LIBS OpenMP::OpenMP_C PkgConfig::OPENBLAS
         LABELS unit)
fmo_test(accumulate_weight STATIC SOURCES accumulate_weight.c LABELS unit)
fmo_test(accumulate_work STATIC SOURCES accumulate_work.c LABELS unit)
fmo_test(accumulate_batch SOURCES accumulate_batch.c LABELS unit)
fmo_test(accumulate_threads SOURCES accumulate_threads.c LIBS OpenMP::OpenMP_C LABELS unit)
fmo_test(accumulate_accuracy STATIC SOURCES accumulate_accuracy.c LABELS unit data)
if(NOT FMO_SANITIZE) # it replaces malloc, as the sanitizers do, in its own program
    fmo_test(accumulate_workspace STATIC SOURCES accumulate_workspace.c LABELS unit data)
endif()
