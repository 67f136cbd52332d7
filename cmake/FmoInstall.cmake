# Install rules, find_package(fmo), pkg-config. Installed targets: fmo::fmo, fmo::io, fmo::scf,
# fmo::fragment, fmo::comm and, where MPI was found, fmo::mpi (shared); with FMO_INSTALL_STATIC also
# fmo::fmo_static, ...
option(FMO_INSTALL "Make the install target" ${PROJECT_IS_TOP_LEVEL})
option(FMO_INSTALL_STATIC "Install the static libraries too" ON)
include(CMakePackageConfigHelpers)

# C programs need the C++ run-time library that the GPU code uses; CMake adds it by itself only
# where CUDA is enabled as a language.
if(FMO_WITH_CUDA)
    target_link_libraries(fmo INTERFACE $<INSTALL_INTERFACE:stdc++>)
endif()

if(NOT FMO_INSTALL)
    return()
endif()

get_property(programs GLOBAL PROPERTY FMO_PROGRAMS)
install(TARGETS ${programs})
get_property(headers GLOBAL PROPERTY FMO_PUBLIC_HEADERS)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fmo)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(EXISTS ${PROJECT_SOURCE_DIR}/datasets/basis)
    install(DIRECTORY datasets/basis datasets/hybrids DESTINATION ${CMAKE_INSTALL_DATADIR}/fmo)
endif()

# find_package(fmo)
set(FMO_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/fmo)
# fmo_export(target): a file of targets for each library and form, as cmake/fmoConfig.cmake.in includes them.
function(fmo_export target)
    get_target_property(name ${target} EXPORT_NAME)
    install(TARGETS ${target} EXPORT ${target})
    install(EXPORT ${target} NAMESPACE fmo:: FILE fmo-${name}.cmake DESTINATION ${FMO_CONFIG_DIR})
endfunction()
get_property(shared GLOBAL PROPERTY FMO_SHARED)
get_property(static GLOBAL PROPERTY FMO_STATIC)
foreach(target IN LISTS shared)
    fmo_export(${target})
endforeach()
if(FMO_INSTALL_STATIC)
    foreach(target IN LISTS static)
        fmo_export(${target})
    endforeach()
endif()
configure_package_config_file(cmake/fmoConfig.cmake.in ${CMAKE_BINARY_DIR}/cmake/fmoConfig.cmake
                              INSTALL_DESTINATION ${FMO_CONFIG_DIR}
                              NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cmake/fmoConfigVersion.cmake
                                 COMPATIBILITY ${FMO_COMPATIBILITY})
install(FILES ${CMAKE_BINARY_DIR}/cmake/fmoConfig.cmake
              ${CMAKE_BINARY_DIR}/cmake/fmoConfigVersion.cmake DESTINATION ${FMO_CONFIG_DIR})

# pkg-config. Paths are relative to the .pc file, so that a prefix can be chosen when installing
# and moved later. Static: replace -lfmo by -l:libfmo.a in what `pkg-config --static --libs` says.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    set(FMO_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
    set(FMO_PC_LIBDIR ${CMAKE_INSTALL_LIBDIR})
else()
    file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    string(REGEX REPLACE "/$" "" up ${up})
    set(FMO_PC_PREFIX "\${pcfiledir}/${up}")
    set(FMO_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY "\${prefix}"
           OUTPUT_VARIABLE FMO_PC_INCLUDEDIR)
# fmo_pkg_config(library description requires private...)
function(fmo_pkg_config library description requires)
    set(NAME ${library})
    set(DESCRIPTION ${description})
    set(REQUIRES "${requires}")
    list(JOIN ARGN " " PRIVATE)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/fmo.pc.in ${CMAKE_BINARY_DIR}/cmake/${library}.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/cmake/${library}.pc
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
set(cuda "")
if(FMO_WITH_CUDA)
    set(cuda -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt -ldl -lstdc++)
endif()
fmo_pkg_config(fmo "${PROJECT_DESCRIPTION}" "" ${OPENBLAS_LDFLAGS} ${OpenMP_C_LIBRARIES} ${cuda} -lm)
fmo_pkg_config(fmo_io "Data sets, basis sets, fragment systems and results for fmo" fmo ${HDF5_C_LIBRARIES}
               ${ZLIB_LIBRARIES} ${JANSSON_LDFLAGS} ${OpenMP_C_LIBRARIES} -lm)
fmo_pkg_config(fmo_scf "RHF on fmo's Fock builds" fmo ${LAPACKE_LDFLAGS} ${OPENBLAS_LDFLAGS} ${cuda} -lm)
fmo_pkg_config(fmo_fragment "FMO2 on fmo's SCFs" "fmo_io, fmo_scf" ${OpenMP_C_LIBRARIES} -lm)
set(mpi_on fmo)
if(FMO_EXPERIMENTS)
    fmo_pkg_config(fmo_comm "Messages between ranks, started in kernels" fmo ${cuda} -lpthread)
    set(mpi_on fmo_comm)
endif()
if(FMO_WITH_MPI)
    fmo_pkg_config(fmo_mpi "MPI as a network of builds, and of messages started in kernels" ${mpi_on} ${MPI_C_LIBRARIES})
endif()
