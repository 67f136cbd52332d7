# Writes FOLDER/man/man1/NAME.1 and FOLDER/bash-completion/completions/NAME from what PROGRAM --help prints (pages.awk).
# Variables: PROGRAM NAME VERSION WHAT CHANGELOG AWK FOLDER
file(STRINGS ${CHANGELOG} dates REGEX "^## .* [0-9]+-[0-9]+-[0-9]+$" LIMIT_COUNT 1)
string(REGEX MATCH "[0-9]+-[0-9]+-[0-9]+$" date "${dates}")
foreach(page man bash)
    set(file man/man1/${NAME}.1)
    if(page STREQUAL "bash")
        set(file bash-completion/completions/${NAME})
    endif()
    cmake_path(GET file PARENT_PATH folder)
    file(MAKE_DIRECTORY ${FOLDER}/${folder})
    execute_process(COMMAND ${PROGRAM} --help
                    COMMAND ${AWK} -v page=${page} -v name=${NAME} -v version=${VERSION} -v date=${date}
                            -v what=${WHAT} -f ${CMAKE_CURRENT_LIST_DIR}/pages.awk
                    OUTPUT_FILE ${FOLDER}/${file} RESULTS_VARIABLE results)
    if(NOT results STREQUAL "0;0")
        message(FATAL_ERROR "${PROGRAM} --help, or ${AWK} on its output, fails: ${results}")
    endif()
endforeach()
