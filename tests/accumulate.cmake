# Builds against the reference mode, the plan/execute interface, the accuracy on the data sets.
fmo_test(accumulate_fock SOURCES accumulate_fock.c LABELS unit)
fmo_test(accumulate_api SOURCES accumulate_api.c LIBS OpenMP::OpenMP_C PkgConfig::OPENBLAS
         LABELS unit)
fmo_test(accumulate_accuracy SOURCES accumulate_accuracy.c LABELS unit data)
