# Shared libraries from the objects of the static ones, install rules, find_package(fmo),
# pkg-config. Installed targets: fmo::fmo, fmo::scf (shared), fmo::fmo_static, fmo::scf_static.
option(FMO_INSTALL "Make the install target" ${PROJECT_IS_TOP_LEVEL})
include(CMakePackageConfigHelpers)

# Before 1.0.0 a minor version may break the interface, so it is part of the soname.
set(FMO_SOVERSION ${PROJECT_VERSION_MAJOR})
set(FMO_COMPATIBILITY SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(FMO_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    set(FMO_COMPATIBILITY SameMinorVersion)
endif()
set(FMO_LINKER_LANGUAGE C)
if(FMO_WITH_CUDA)
    set(FMO_LINKER_LANGUAGE CUDA)
endif()

# fmo_shared_library(name static EXPORT name [PUBLIC target...] [PRIVATE library...])
# The shared form of a static library, in a file of the same name; nothing is compiled again. Only
# fmo_* is exported, whatever the libraries linked into it declare.
function(fmo_shared_library name static)
    cmake_parse_arguments(S "" "EXPORT" "PUBLIC;PRIVATE" ${ARGN})
    set(script ${PROJECT_SOURCE_DIR}/cmake/exports.map)
    add_library(${name} SHARED ${script})
    target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${FMO_HEADER_DIR}>
                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${name} PUBLIC ${S_PUBLIC} PRIVATE ${S_PRIVATE})
    target_link_options(${name} PRIVATE -Wl,--version-script=${script})
    if(NOT FMO_SANITIZE)
        target_link_options(${name} PRIVATE -Wl,--no-undefined)
    endif()
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${static} EXPORT_NAME ${S_EXPORT}
                          VERSION ${PROJECT_VERSION} SOVERSION ${FMO_SOVERSION}
                          LINKER_LANGUAGE ${FMO_LINKER_LANGUAGE}
                          LINK_DEPENDS ${script} INSTALL_RPATH $ORIGIN)
    set_target_properties(${static} PROPERTIES EXPORT_NAME ${S_EXPORT}_static)
endfunction()

fmo_shared_library(fmo_shared fmo EXPORT fmo PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,fmo>)
set(FMO_SHARED fmo_shared)
set(FMO_STATIC fmo)
if(TARGET fmo_scf) # as fmo, but standing on the shared libfmo instead of the static one
    get_target_property(libraries fmo_scf LINK_LIBRARIES)
    list(FILTER libraries EXCLUDE REGEX "fmo")
    fmo_shared_library(fmo_scf_shared fmo_scf EXPORT scf PUBLIC fmo_shared PRIVATE ${libraries})
    target_sources(fmo_scf_shared PRIVATE $<TARGET_OBJECTS:fmo_scf>)
    list(APPEND FMO_SHARED fmo_scf_shared)
    list(APPEND FMO_STATIC fmo_scf)
endif()
# C programs need the C++ run-time library that the GPU code uses; CMake adds it by itself only
# where CUDA is enabled as a language.
if(FMO_WITH_CUDA)
    target_link_libraries(fmo INTERFACE $<INSTALL_INTERFACE:stdc++>)
endif()

if(NOT FMO_INSTALL)
    return()
endif()

install(TARGETS fmo-driver fmo-bench)
get_property(headers GLOBAL PROPERTY FMO_PUBLIC_HEADERS)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fmo)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(EXISTS ${PROJECT_SOURCE_DIR}/datasets/basis)
    install(DIRECTORY datasets/basis DESTINATION ${CMAKE_INSTALL_DATADIR}/fmo)
endif()

# find_package(fmo)
set(FMO_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/fmo)
install(TARGETS ${FMO_SHARED} EXPORT fmoShared)
install(TARGETS ${FMO_STATIC} EXPORT fmoStatic)
install(EXPORT fmoShared NAMESPACE fmo:: DESTINATION ${FMO_CONFIG_DIR})
install(EXPORT fmoStatic NAMESPACE fmo:: DESTINATION ${FMO_CONFIG_DIR})
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
set(cuda_scf "")
if(FMO_WITH_CUDA)
    set(cuda -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt -ldl -lstdc++)
    set(cuda_scf -L${CUDAToolkit_LIBRARY_DIR} -lcusolver -lcublas)
endif()
fmo_pkg_config(fmo "${PROJECT_DESCRIPTION}" "" ${HDF5_C_LIBRARIES} ${ZLIB_LIBRARIES}
               ${JANSSON_LDFLAGS} ${OPENBLAS_LDFLAGS} ${OPENSSL_CRYPTO_LIBRARIES}
               ${OpenMP_C_LIBRARIES} ${cuda} -lm)
if(TARGET fmo_scf)
    fmo_pkg_config(fmo_scf "RHF on fmo's Fock builds" fmo ${LAPACKE_LDFLAGS} ${OPENBLAS_LDFLAGS}
                   ${cuda_scf} -lm)
endif()
