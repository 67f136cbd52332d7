# What `cmake --install` puts into a prefix: used by C, C++, CMake and pkg-config, symbols, programs.
if(FMO_SANITIZE OR NOT FMO_INSTALL)
    return() # consumers without the sanitizers' run-time library cannot use such a build
endif()
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
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
                 -DFMO_DATASET=${small} -DFMO_STATIC=${FMO_INSTALL_STATIC} -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}
                 -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
                 --test-command ${CMAKE_CTEST_COMMAND} --output-on-failure)
find_program(FMO_TEST_CXX NAMES c++ g++ clang++)
mark_as_advanced(FMO_TEST_CXX)
fmo_install_test(install_pkgconfig ${folder}/pkgconfig.sh ${libdir} ${small}
                 ${CMAKE_BINARY_DIR}/tests/pkgconfig $<BOOL:${FMO_INSTALL_STATIC}> ${CMAKE_C_COMPILER} $<$<BOOL:${FMO_TEST_CXX}>:${FMO_TEST_CXX}>)
fmo_install_test(install_driver ${prefix}/${CMAKE_INSTALL_BINDIR}/fmo-driver ${small} --check --quiet)
fmo_install_test(install_moved ${folder}/moved.sh ${prefix} ${CMAKE_INSTALL_BINDIR} ${CMAKE_INSTALL_LIBDIR}
                 ${CMAKE_INSTALL_INCLUDEDIR} ${CMAKE_INSTALL_DATADIR} ${CMAKE_BINARY_DIR}/tests/moved
                 ${PROJECT_SOURCE_DIR} $<BOOL:${FMO_INSTALL_STATIC}> ${CMAKE_C_COMPILER})
fmo_install_test(install_components ${folder}/components.sh ${CMAKE_BINARY_DIR} ${prefix} ${CMAKE_COMMAND}
                 ${CMAKE_BINARY_DIR}/tests/components)
set_tests_properties(install_components PROPERTIES RESOURCE_LOCK install_manifest)
fmo_install_test(install_lines Python3::Interpreter ${folder}/lines.py ${prefix} ${CMAKE_INSTALL_LIBDIR} ${FMO_SOVERSION}
                 $<BOOL:${FMO_INSTALL_STATIC}> ${CMAKE_COMMAND} ${CMAKE_C_COMPILER})
fmo_install_test(install_deb ${folder}/deb.sh ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR}/tests/deb ${CMAKE_COMMAND}
                 ${CMAKE_CPACK_COMMAND} ${CMAKE_GENERATOR} ${CMAKE_C_COMPILER})
set_tests_properties(install_deb PROPERTIES TIMEOUT 3600)
find_program(FMO_TEST_BASH bash)
mark_as_advanced(FMO_TEST_BASH)
if(FMO_AWK AND FMO_TEST_BASH AND NOT CMAKE_CROSSCOMPILING)
    fmo_install_test(install_pages ${FMO_TEST_BASH} ${folder}/pages.sh ${prefix} ${CMAKE_INSTALL_BINDIR} ${CMAKE_INSTALL_MANDIR}
                     ${CMAKE_INSTALL_DATADIR})
endif()
fmo_install_test(install_embedded ${folder}/embedded.sh ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR}/tests/embedded
                 ${CMAKE_CTEST_COMMAND} ${CMAKE_COMMAND} ${CMAKE_GENERATOR} ${CMAKE_C_COMPILER})
set_tests_properties(install_embedded PROPERTIES TIMEOUT 3600)
fmo_install_test(install_bench ${prefix}/${CMAKE_INSTALL_BINDIR}/fmo-bench --version)

# Symbols: each library has headers of its own, the rest is libfmo's. Only libfmo_io, and what stands
# on it, needs libraries of file formats.
get_property(all_headers GLOBAL PROPERTY FMO_PUBLIC_HEADERS)
list(FILTER all_headers INCLUDE REGEX "[.]h$")
set(formats hdf5|z|jansson|crypto|ssl)
set(lapack lapack|blas|openblas)
# fmo_symbols_test(part without headers [EXCEPT headers] [INNER header...]): regular expressions of paths
function(fmo_symbols_test part without own)
    cmake_parse_arguments(S "" "EXCEPT" "INNER" ${ARGN})
    set(headers ${all_headers})
    list(FILTER headers INCLUDE REGEX "${own}")
    if(S_EXCEPT)
        list(FILTER headers EXCLUDE REGEX "${S_EXCEPT}")
    endif()
    list(TRANSFORM S_INNER PREPEND ${PROJECT_SOURCE_DIR}/)
    set(name install_symbols)
    set(file libfmo.so)
    if(part)
        string(APPEND name _${part})
        set(file libfmo_${part}.so)
    endif()
    fmo_install_test(${name} ${folder}/symbols.sh ${libdir}/${file} ${PROJECT_VERSION}
                     ${FMO_SOVERSION} "${without}" ${headers} ${S_INNER})
endfunction()
fmo_symbols_test("" "${formats}|lapack" "." EXCEPT "/io/|/driver/|/accumulate/comm/")
fmo_symbols_test(io "${lapack}" "/io/")
fmo_symbols_test(scf "${formats}" "/driver/scf/"
                 INNER driver/scf/batch.h driver/scf/cutoff.h driver/scf/diis.h driver/scf/lockstep.h
                       driver/scf/sad.h)
fmo_symbols_test(fragment "${formats}" "/driver/fmo/")
if(FMO_EXPERIMENTS)
    fmo_symbols_test(comm "${formats}|${lapack}" "/accumulate/comm/" EXCEPT "/(gmpi|ranks)_mpi[.]h$")
endif()
if(FMO_WITH_MPI)
    fmo_symbols_test(mpi "${formats}|${lapack}" "/(gmpi|ranks)_mpi[.]h$")
endif()
