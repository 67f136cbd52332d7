fmo_test(accumulate_fock SOURCES accumulate_fock.c)
fmo_test(accumulate_api SOURCES accumulate_api.c LIBS OpenMP::OpenMP_C PkgConfig::OPENBLAS)
