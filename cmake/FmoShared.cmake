# Shared libraries from the objects of the static ones; programs that link them find them beside
# themselves, in ../lib, wherever a prefix is put.
# Before 1.0.0 a minor version may break the interface, so it is part of the soname.
set(FMO_SOVERSION ${PROJECT_VERSION_MAJOR})
set(FMO_COMPATIBILITY SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(FMO_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    set(FMO_COMPATIBILITY SameMinorVersion)
endif()
# fmo_install_rpath(target folder): libfmo* is found in `folder`, relative to the installed file, and
# dependencies in their own folders where those are not the system's. Nothing without FMO_INSTALL_RPATH.
function(fmo_install_rpath target folder)
    set(rpath "")
    if(FMO_INSTALL_RPATH)
        set(rpath ${folder} ${FMO_DEPENDENCY_DIRS})
        if(FMO_WITH_CUDA)
            list(APPEND rpath ${FMO_WHEEL_RPATH})
        endif()
    endif()
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "${rpath}")
endfunction()

# CMake sees no language in the objects that shared libraries are made from.
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
                          LINK_DEPENDS ${script})
    fmo_install_rpath(${name} $ORIGIN)
    fmo_wheel_target(${name})
    add_library(fmo::${S_EXPORT} ALIAS ${name})
    set_target_properties(${static} PROPERTIES EXPORT_NAME ${S_EXPORT}_static)
    set_property(GLOBAL APPEND PROPERTY FMO_SHARED ${name})
    set_property(GLOBAL APPEND PROPERTY FMO_STATIC ${static})
endfunction()

# fmo_library(part NEEDS part... LIBRARIES library... SOURCES file...)
# libfmo_PART in both forms, on libfmo or others of its libraries: targets fmo_PART and
# fmo_PART_shared, aliases fmo::PART_static and fmo::PART. More sources may follow by target_sources.
function(fmo_library part)
    cmake_parse_arguments(L "" "" "NEEDS;LIBRARIES;SOURCES" ${ARGN})
    set(name fmo_${part})
    add_library(${name} STATIC ${L_SOURCES})
    add_library(fmo::${part}_static ALIAS ${name})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden
                          CUDA_VISIBILITY_PRESET hidden)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${L_NEEDS}
                          PRIVATE $<BUILD_INTERFACE:fmo_warnings> ${L_LIBRARIES})
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:${FMO_CUDA_FLAGS}>)
    list(TRANSFORM L_NEEDS APPEND _shared)
    fmo_shared_library(${name}_shared ${name} EXPORT ${part} PUBLIC ${L_NEEDS}
                       PRIVATE ${L_LIBRARIES})
    target_sources(${name}_shared PRIVATE $<TARGET_OBJECTS:${name}>)
endfunction()

# fmo_program(name what): installed, with its libraries at a place relative to its own. "what" is a line for the manual page,
# which is made from --help, as a completion for bash is, wherever there is awk and the program can run.
find_program(FMO_AWK awk)
mark_as_advanced(FMO_AWK)
function(fmo_program name what)
    if(FMO_AWK AND NOT CMAKE_CROSSCOMPILING AND NOT FMO_SANITIZE)
        add_custom_command(TARGET ${name} POST_BUILD VERBATIM COMMAND ${CMAKE_COMMAND}
            -DPROGRAM=$<TARGET_FILE:${name}> -DNAME=${name} -DVERSION=${PROJECT_VERSION} -DWHAT=${what}
            -DCHANGELOG=${PROJECT_SOURCE_DIR}/CHANGELOG.md -DAWK=${FMO_AWK} -DFOLDER=${PROJECT_BINARY_DIR}/share
            -P ${PROJECT_SOURCE_DIR}/cmake/pages.cmake)
        set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/pages.awk
                     ${PROJECT_SOURCE_DIR}/cmake/pages.cmake)
        set_property(GLOBAL APPEND PROPERTY FMO_MAN_PAGES ${PROJECT_BINARY_DIR}/share/man/man1/${name}.1)
        set_property(GLOBAL APPEND PROPERTY FMO_COMPLETIONS ${PROJECT_BINARY_DIR}/share/bash-completion/completions/${name})
    endif()
    if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_BINDIR})
        set(rpath ${CMAKE_INSTALL_FULL_LIBDIR})
    else()
        file(RELATIVE_PATH rpath /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
        string(PREPEND rpath $ORIGIN/)
    endif()
    fmo_install_rpath(${name} ${rpath})
    if(NOT FMO_INSTALL AND NOT PROJECT_IS_TOP_LEVEL) # of use to another project, if it asks for them
        set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    fmo_wheel_target(${name})
    set_property(GLOBAL APPEND PROPERTY FMO_PROGRAMS ${name})
endfunction()
