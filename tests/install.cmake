# What `cmake --install` puts into a prefix: used by C, C++, CMake and pkg-config, symbols, programs.
if(FMO_SANITIZE OR NOT FMO_INSTALL)
    return() # consumers without the sanitizers' run-time library cannot use such a build
endif()
set(prefix ${CMAKE_BINARY_DIR}/tests/prefix)
set(folder ${CMAKE_CURRENT_SOURCE_DIR}/install)
set(small ${PROJECT_SOURCE_DIR}/datasets/h2o_sto-3g.h5)
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
    return() # an installation that cannot be put elsewhere
endif()
set(libdir ${prefix}/${CMAKE_INSTALL_LIBDIR})

add_test(NAME install_clean COMMAND ${CMAKE_COMMAND} -E rm -rf ${prefix})
add_test(NAME install_prefix COMMAND ${CMAKE_COMMAND} --install ${CMAKE_BINARY_DIR} --prefix ${prefix})
set_tests_properties(install_clean PROPERTIES FIXTURES_SETUP clean_prefix LABELS install)
set_tests_properties(install_prefix PROPERTIES FIXTURES_SETUP prefix LABELS install
                     RESOURCE_LOCK install_manifest
                     FIXTURES_REQUIRED clean_prefix)

function(fmo_install_test name)
    add_test(NAME ${name} COMMAND ${ARGN})
    set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED prefix LABELS install TIMEOUT 1200
                         SKIP_RETURN_CODE 77)
endfunction()

fmo_install_test(install_find_package ${CMAKE_CTEST_COMMAND} --build-and-test
                 ${folder} ${CMAKE_BINARY_DIR}/tests/consumer
                 --build-generator ${CMAKE_GENERATOR} --build-noclean
                 --build-options -DCMAKE_PREFIX_PATH=${prefix} -DFMO_WANTED=${PROJECT_VERSION}
                 -DFMO_MANUAL=${PROJECT_SOURCE_DIR}/docs/reference/library.md -DFMO_SOVERSION=${FMO_SOVERSION}
                 -DFMO_DATASET=${small} -DFMO_STATIC=${FMO_INSTALL_STATIC} -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}
                 -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
                 --test-command ${CMAKE_CTEST_COMMAND} --output-on-failure)
find_program(FMO_TEST_CXX NAMES c++ g++ clang++)
mark_as_advanced(FMO_TEST_CXX)
fmo_install_test(install_pkgconfig ${folder}/pkgconfig.sh ${libdir} ${small}
                 ${CMAKE_BINARY_DIR}/tests/pkgconfig $<BOOL:${FMO_INSTALL_STATIC}> ${CMAKE_C_COMPILER} $<$<BOOL:${FMO_TEST_CXX}>:${FMO_TEST_CXX}>)
fmo_install_test(install_driver ${prefix}/${CMAKE_INSTALL_BINDIR}/fmo-driver ${small} --check --quiet)
fmo_install_test(install_moved ${folder}/moved.sh ${prefix} ${CMAKE_INSTALL_BINDIR} ${CMAKE_INSTALL_LIBDIR}
                 ${CMAKE_BINARY_DIR}/tests/moved ${small})
fmo_install_test(install_bench ${prefix}/${CMAKE_INSTALL_BINDIR}/fmo-bench --version)

# Symbols: fmo_scf, fmo_comm and fmo_mpi have headers of their own, the rest is libfmo's.
get_property(headers GLOBAL PROPERTY FMO_PUBLIC_HEADERS)
list(FILTER headers INCLUDE REGEX "[.]h$")
set(scf_headers ${headers})
list(FILTER scf_headers INCLUDE REGEX "/driver/scf/")
set(mpi_headers ${headers})
list(FILTER mpi_headers INCLUDE REGEX "/(gmpi|ranks)_mpi[.]h$")
set(comm_headers ${headers})
list(FILTER comm_headers INCLUDE REGEX "/accumulate/comm/")
list(FILTER comm_headers EXCLUDE REGEX "/(gmpi|ranks)_mpi[.]h$")
list(FILTER headers EXCLUDE REGEX "/driver/scf/|/accumulate/comm/")
fmo_install_test(install_symbols ${folder}/symbols.sh ${libdir}/libfmo.so ${PROJECT_VERSION}
                 ${FMO_SOVERSION} ${headers})
if(TARGET fmo_scf)
    fmo_install_test(install_symbols_scf ${folder}/symbols.sh ${libdir}/libfmo_scf.so
                     ${PROJECT_VERSION} ${FMO_SOVERSION} ${scf_headers})
endif()
fmo_install_test(install_symbols_comm ${folder}/symbols.sh ${libdir}/libfmo_comm.so
                 ${PROJECT_VERSION} ${FMO_SOVERSION} ${comm_headers})
if(FMO_WITH_MPI)
    fmo_install_test(install_symbols_mpi ${folder}/symbols.sh ${libdir}/libfmo_mpi.so
                     ${PROJECT_VERSION} ${FMO_SOVERSION} ${mpi_headers})
endif()
