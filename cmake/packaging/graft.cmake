# Completes the installed folder of libraries (FmoPack.cmake): one file for each library, named as the loader asks
# for it, since wheels have no links; and copies of libraries of others: those outside the system's folders, such as
# PyPI's OpenBLAS, and with FMO_WHEEL_ALONE=1 in the environment all that other machines may lack.
set(folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${FMO_FOLDER}")
file(GLOB links ${folder}/*.so*)
foreach(link IN LISTS links)
    if(IS_SYMLINK ${link})
        file(READ_SYMLINK ${link} target)
        file(RENAME ${folder}/${target} ${link}.new)
        file(RENAME ${link}.new ${link})
    endif()
endforeach()

# Those of the system: glibc's, zlib (PEP 600 lists them) and the loader.
set(system "^(ld-linux.*|libc|libm|libdl|libpthread|librt|libz|libgcc_s|libstdc[+][+])[.]so[.]")
file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${FMO_LIBRARIES} EXECUTABLES ${FMO_PROGRAM}
     RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing CONFLICTING_DEPENDENCIES_PREFIX conflict
     PRE_EXCLUDE_REGEXES ${system} "^libfmo" DIRECTORIES ${FMO_WHEEL_FOLDERS})
if(missing OR conflict_FILENAMES)
    message(FATAL_ERROR "libraries of the module are not found, or in several places: ${missing} ${conflict_FILENAMES}")
endif()
find_program(patchelf patchelf)
if(NOT "$ENV{FMO_WHEEL_ALONE}" STREQUAL "1")
    list(FILTER found EXCLUDE REGEX "^(/usr)?/lib(64|32)?/")
endif()
list(TRANSFORM found REPLACE ".*/" "" OUTPUT_VARIABLE copied)
list(JOIN copied "|" copied)
string(REPLACE "+" "[+]" copied "${copied}")
foreach(library IN LISTS found)
    get_filename_component(name ${library} NAME)
    if(name MATCHES "^lib(crypto|ssl|curl|krb5|hdf5)")
        message(FATAL_ERROR "${name} is no library for a wheel: build a small HDF5, cmake/packaging/hdf5.sh, and \
configure with -DHDF5_ROOT=\"$(cmake/packaging/hdf5.sh)\"")
    endif()
    file(REAL_PATH ${library} file)
    message(STATUS "Copying: ${name} from ${file}")
    file(COPY_FILE ${file} ${folder}/${name})
    file(CHMOD ${folder}/${name} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
    # A copy that needs another copy must find it beside itself.
    file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${file} RESOLVED_DEPENDENCIES_VAR others
         UNRESOLVED_DEPENDENCIES_VAR unknown PRE_EXCLUDE_REGEXES ${system} DIRECTORIES ${FMO_WHEEL_FOLDERS})
    list(FILTER others INCLUDE REGEX "/(${copied})$")
    if(others AND NOT patchelf)
        message(FATAL_ERROR "${name} needs ${others}: install patchelf, which makes it find copies of them")
    elseif(others)
        execute_process(COMMAND ${patchelf} --set-rpath "$ORIGIN" ${folder}/${name} COMMAND_ERROR_IS_FATAL ANY)
    endif()
endforeach()
