fmo_test(integrals_boys SOURCES integrals_boys.c)
fmo_test(integrals_eri SOURCES integrals_eri.c)
fmo_test(integrals_basis SOURCES integrals_basis.c)
fmo_test(integrals_one_electron SOURCES integrals_one_electron.c)
