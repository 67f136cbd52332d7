# Public headers stand in their folder and are included as <fmo/name.h>, in the build tree through
# links and when installed from include/fmo.
set(FMO_HEADER_DIR ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${FMO_HEADER_DIR}/fmo)
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.h.in ${FMO_HEADER_DIR}/fmo/version.h @ONLY)
set_property(GLOBAL PROPERTY FMO_PUBLIC_HEADERS ${FMO_HEADER_DIR}/fmo/version.h)

function(fmo_public_headers)
    foreach(path IN LISTS ARGN)
        get_filename_component(name ${path} NAME)
        file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${path} ${FMO_HEADER_DIR}/fmo/${name}
             SYMBOLIC COPY_ON_ERROR)
        set_property(GLOBAL APPEND PROPERTY FMO_PUBLIC_HEADERS
                     ${CMAKE_CURRENT_SOURCE_DIR}/${path})
    endforeach()
endfunction()

# fmo_generated_header(name text...): a public header that CMake writes.
function(fmo_generated_header name)
    string(CONCAT text ${ARGN})
    file(CONFIGURE OUTPUT ${FMO_HEADER_DIR}/fmo/${name} CONTENT "${text}" @ONLY)
    set_property(GLOBAL APPEND PROPERTY FMO_PUBLIC_HEADERS ${FMO_HEADER_DIR}/fmo/${name})
endfunction()
