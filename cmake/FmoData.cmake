# Data that are read at run time: share/fmo of an installation and of the build folder. Code finds
# them relative to its own file (base/data_path.c), so that no path of this machine is compiled in.
set(FMO_DATA_DIR ${CMAKE_INSTALL_DATADIR}/fmo)
set(folders "")
foreach(from LIBDIR BINDIR)
    file(RELATIVE_PATH folder ${CMAKE_INSTALL_FULL_${from}} ${CMAKE_INSTALL_FULL_DATADIR}/fmo)
    list(APPEND folders "\"${folder}\"")
endforeach()
list(APPEND folders "\"../share/fmo\"") # from bin, lib and tests of the build folder
list(REMOVE_DUPLICATES folders)
list(JOIN folders "," FMO_DATA_FOLDERS)

# fmo_uses_data(target): it looks for data beside the library or program that it becomes a part of.
function(fmo_uses_data target)
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/base/data_path.c)
    target_compile_definitions(${target} PRIVATE "FMO_DATA_FOLDERS=${FMO_DATA_FOLDERS}")
    target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
    add_dependencies(${target} fmo-data)
endfunction()

set(source ${PROJECT_SOURCE_DIR}/datasets)
set(copy ${PROJECT_BINARY_DIR}/share/fmo)
file(GLOB FMO_DATA_FILES CONFIGURE_DEPENDS ${source}/basis/* ${source}/xyz/* ${source}/hybrids/*.json)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/share/copied
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${copy}
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${source}/basis ${copy}/basis
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${source}/xyz ${copy}/xyz
    COMMAND ${CMAKE_COMMAND} -E make_directory ${copy}/hybrids
    COMMAND ${CMAKE_COMMAND} -E copy ${source}/hybrids/hybrids.json ${copy}/hybrids
    COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/share/copied
    DEPENDS ${FMO_DATA_FILES} VERBATIM COMMENT "Data in ${copy}")
add_custom_target(fmo-data DEPENDS ${PROJECT_BINARY_DIR}/share/copied)
