# Install rules, find_package(fmo), pkg-config. Installed targets: fmo::fmo, fmo::io, fmo::scf,
# fmo::fragment, fmo::comm and, where MPI was found, fmo::mpi (shared); with FMO_INSTALL_STATIC also
# fmo::fmo_static, ...
include(CMakePackageConfigHelpers)

# C programs need the C++ run-time library that the GPU code uses; CMake adds it by itself only
# where CUDA is enabled as a language.
if(FMO_WITH_CUDA)
    target_link_libraries(fmo INTERFACE $<INSTALL_INTERFACE:stdc++>)
endif()

if(NOT FMO_INSTALL)
    return()
endif()

# Components: library (shared libraries and the data that they read), development (headers, static
# libraries, find_package, pkg-config), programs, python.
get_property(programs GLOBAL PROPERTY FMO_PROGRAMS)
install(TARGETS ${programs} COMPONENT programs)
get_property(pages GLOBAL PROPERTY FMO_MAN_PAGES)
get_property(completions GLOBAL PROPERTY FMO_COMPLETIONS)
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT programs)
install(FILES ${completions} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT programs)
get_property(headers GLOBAL PROPERTY FMO_PUBLIC_HEADERS)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fmo COMPONENT development)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
install(DIRECTORY datasets/basis datasets/hybrids datasets/xyz DESTINATION ${FMO_DATA_DIR}
        COMPONENT library PATTERN *.py EXCLUDE)

# The Python module, which runs with any Python 3.9 or newer; it finds libfmo relative to its own
# folder (driver/python/fmo/_library.py).
find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
if(Python3_FOUND)
    set(python lib/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/site-packages)
    set(FMO_PYTHON_DIR ${python} CACHE STRING "Folder for the Python module, relative to the prefix")
    install(DIRECTORY driver/python/fmo DESTINATION ${FMO_PYTHON_DIR} COMPONENT python
            FILES_MATCHING PATTERN *.py PATTERN py.typed PATTERN __pycache__ EXCLUDE)
endif()

# find_package(fmo)
set(FMO_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/fmo)
# fmo_export(target): a file of targets for each library and form, as cmake/fmoConfig.cmake.in includes them.
function(fmo_export target)
    get_target_property(name ${target} EXPORT_NAME)
    install(TARGETS ${target} EXPORT ${target} LIBRARY COMPONENT library NAMELINK_COMPONENT development
            ARCHIVE COMPONENT development)
    install(EXPORT ${target} NAMESPACE fmo:: FILE fmo-${name}.cmake DESTINATION ${FMO_CONFIG_DIR}
            COMPONENT development)
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
configure_package_config_file(cmake/fmoConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/fmoConfig.cmake
                              INSTALL_DESTINATION ${FMO_CONFIG_DIR}
                              NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/fmoConfigVersion.cmake
                                 COMPATIBILITY ${FMO_COMPATIBILITY})
install(FILES ${PROJECT_BINARY_DIR}/cmake/fmoConfig.cmake
              ${PROJECT_BINARY_DIR}/cmake/fmoConfigVersion.cmake DESTINATION ${FMO_CONFIG_DIR} COMPONENT development)

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
# fmo_link_words(variable library...): words for a linker, without absolute paths. Folders that it does
# not search by itself are in the .pc file's variable `dependencies`, for --define-variable.
function(fmo_link_words variable)
    set(words "")
    foreach(library IN LISTS ARGN)
        if(NOT IS_ABSOLUTE "${library}")
            list(APPEND words ${library})
            continue()
        endif()
        file(REAL_PATH ${library} real)
        cmake_path(GET library PARENT_PATH folder)
        cmake_path(GET library FILENAME name)
        cmake_path(GET real FILENAME real) # Debian: hdf5/serial/libhdf5.so is libhdf5_serial.so.103
        string(REGEX REPLACE "[.]so[.].*" ".so" real ${real})
        find_library(found NAMES ${name} ${real} PATHS ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES}
                     NO_DEFAULT_PATH NO_CACHE)
        if(found)
            cmake_path(GET found FILENAME name)
        else()
            list(PREPEND words -L${folder})
        endif()
        string(REGEX REPLACE "^lib([^.]*).*" "-l\\1" name ${name})
        list(APPEND words ${name})
        unset(found)
    endforeach()
    list(REMOVE_DUPLICATES words)
    list(JOIN words " " words)
    set(${variable} "${words}" PARENT_SCOPE)
endfunction()

# fmo_pkg_config(library description requires private...)
function(fmo_pkg_config library description requires)
    set(NAME ${library})
    set(DESCRIPTION ${description})
    set(REQUIRES "${requires}")
    fmo_link_words(private ${ARGN})
    string(REGEX MATCHALL "-L[^ ]+" DEPENDENCIES "${private}")
    string(REGEX REPLACE "-L[^ ]+ *" "" PRIVATE "${private}")
    list(JOIN DEPENDENCIES " " DEPENDENCIES)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/fmo.pc.in ${PROJECT_BINARY_DIR}/cmake/${library}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/cmake/${library}.pc
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()
set(cuda "")
if(FMO_WITH_CUDA)
    set(cuda ${CUDA_cudart_static_LIBRARY} -lrt -ldl -lstdc++)
endif()
set(openmp ${OpenMP_C_LIBRARIES})
set(blas ${FMO_CBLAS_LINK_LIBRARIES})
fmo_pkg_config(fmo "${PROJECT_DESCRIPTION}" "" ${blas} ${openmp} ${cuda} -lm)
fmo_pkg_config(fmo_io "Data sets, basis sets, fragment systems and results for fmo" fmo ${HDF5_C_LIBRARIES}
               ${ZLIB_LIBRARIES} ${FMO_JANSSON_LINK_LIBRARIES} ${openmp} -ldl -lm)
fmo_pkg_config(fmo_scf "RHF on fmo's Fock builds" fmo ${FMO_LAPACKE_LINK_LIBRARIES} ${blas} ${cuda} -lm)
fmo_pkg_config(fmo_fragment "FMO2 on fmo's SCFs" "fmo_io, fmo_scf" ${openmp} -lm)
set(mpi_on fmo)
if(FMO_EXPERIMENTS)
    fmo_pkg_config(fmo_comm "Messages between ranks, started in kernels" fmo ${cuda} -lpthread)
    set(mpi_on fmo_comm)
endif()
if(FMO_WITH_MPI)
    fmo_pkg_config(fmo_mpi "MPI as a network of builds, and of messages started in kernels" ${mpi_on} ${MPI_C_LIBRARIES})
endif()
if(PROJECT_IS_TOP_LEVEL)
    include(packaging/deb)
endif()
