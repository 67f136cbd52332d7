# Target docs-api: the public headers as web pages in build/docs/html. Target docs-site: all documents,
# with these pages, as a site in build/docs/site. Any warning fails. Both need Doxygen, and say so
# without; docs-site needs Python and PyPI as well (docs/site/build).
find_program(FMO_DOXYGEN doxygen)
mark_as_advanced(FMO_DOXYGEN)
if(NOT FMO_DOXYGEN)
    foreach(target docs-api docs-site)
        add_custom_target(${target} VERBATIM
            COMMAND ${CMAKE_COMMAND} -E echo
                    "${target} needs Doxygen, which is not here: apt-get install doxygen, and configure again"
            COMMAND ${CMAKE_COMMAND} -E false)
    endforeach()
    return()
endif()

set(FMO_DOCS_DIR ${PROJECT_BINARY_DIR}/docs)
get_property(headers GLOBAL PROPERTY FMO_PUBLIC_HEADERS)
list(FILTER headers INCLUDE REGEX "[.]h$")
# What kernels and hosts share of a message, installed for gmpi.cuh alone: no interface.
list(FILTER headers EXCLUDE REGEX "gmpi_wire[.]h$")
set(FMO_DOCS_FOLDERS ${headers})
list(TRANSFORM FMO_DOCS_FOLDERS REPLACE "/[^/]*$" "")
list(REMOVE_DUPLICATES FMO_DOCS_FOLDERS)
list(JOIN FMO_DOCS_FOLDERS "\" \"" FMO_DOCS_FOLDERS)
set(FMO_DOCS_FOLDERS "\"${FMO_DOCS_FOLDERS}\"")
list(JOIN headers "\" \"" FMO_DOCS_INPUT)
set(FMO_DOCS_INPUT "\"${FMO_DOCS_INPUT}\"")
configure_file(docs/Doxyfile.in ${FMO_DOCS_DIR}/Doxyfile @ONLY)
add_custom_target(docs-api COMMAND ${FMO_DOXYGEN} ${FMO_DOCS_DIR}/Doxyfile VERBATIM
                  COMMENT "API documentation in ${FMO_DOCS_DIR}/html")
add_custom_target(docs-site COMMAND ${PROJECT_SOURCE_DIR}/docs/site/build ${FMO_DOCS_DIR} VERBATIM
                  COMMENT "Site in ${FMO_DOCS_DIR}/site")
add_dependencies(docs-site docs-api)
