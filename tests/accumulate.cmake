# Builds against the reference mode, the plan/execute interface, the accuracy on the data sets.
fmo_test(accumulate_fock SOURCES accumulate_fock.c LABELS unit)
fmo_test(accumulate_cpu STATIC SOURCES accumulate_cpu.c LABELS unit)
fmo_test(accumulate_coulomb STATIC SOURCES accumulate_coulomb.c LABELS unit)
# Many short builds with more threads than cores: waiting threads should sleep.
set_tests_properties(accumulate_cpu PROPERTIES ENVIRONMENT OMP_WAIT_POLICY=passive)
fmo_test(accumulate_api SOURCES accumulate_api.c LIBS OpenMP::OpenMP_C PkgConfig::FMO_OPENBLAS
         LABELS unit)
fmo_test(accumulate_loosen SOURCES accumulate_loosen.c LABELS unit)
fmo_test(accumulate_weight STATIC SOURCES accumulate_weight.c LABELS unit)
fmo_test(accumulate_far STATIC SOURCES accumulate_far.c LABELS unit data)
fmo_test(accumulate_work STATIC SOURCES accumulate_work.c LABELS unit)
fmo_test(accumulate_terms SOURCES accumulate_terms.c LABELS unit)
if(FMO_SANITIZE) # ten times as slow there
    set_tests_properties(accumulate_terms accumulate_coulomb accumulate_far PROPERTIES ENVIRONMENT FMO_TEST_SMALL=1 TIMEOUT 1800)
endif()
fmo_test(accumulate_potential SOURCES accumulate_potential.c LABELS unit)
fmo_test(accumulate_batch SOURCES accumulate_batch.c LABELS unit)
fmo_test(accumulate_scaled SOURCES accumulate_scaled.c LABELS unit)
fmo_test(accumulate_reuse_memory STATIC SOURCES accumulate_reuse_memory.c LABELS unit)
fmo_test(accumulate_ranks SOURCES accumulate_ranks.c LIBS Threads::Threads LABELS unit)
set_tests_properties(accumulate_ranks PROPERTIES ENVIRONMENT
                     "OMP_WAIT_POLICY=passive$<$<BOOL:${FMO_SANITIZE}>:;FMO_TEST_SMALL=1>")
fmo_test(accumulate_threads SOURCES accumulate_threads.c LIBS OpenMP::OpenMP_C LABELS unit)
fmo_test(accumulate_accuracy STATIC SOURCES accumulate_accuracy.c LABELS unit data)
if(NOT FMO_SANITIZE) # it replaces malloc, as the sanitizers do, in its own program
    fmo_test(accumulate_workspace STATIC SOURCES accumulate_workspace.c LABELS unit data)
endif()
# More threads than there can be: by options, by limits of the system, by the environment.
fmo_test(limits SOURCES limits.c LIBS OpenMP::OpenMP_C LABELS unit)
add_test(NAME limits_environment COMMAND limits)
set_tests_properties(limits limits_environment PROPERTIES TIMEOUT 1200 LABELS unit)
set_tests_properties(limits PROPERTIES ENVIRONMENT OMP_WAIT_POLICY=passive)
set_tests_properties(limits_environment PROPERTIES ENVIRONMENT
    "OMP_WAIT_POLICY=passive;OMP_NUM_THREADS=99999999;OPENBLAS_NUM_THREADS=99999999")
if(FMO_SANITIZE) # what looks for leaks at the end wants a thread of its own
    set_property(TEST limits limits_environment APPEND PROPERTY ENVIRONMENT
                 ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:strict_string_checks=1)
endif()
