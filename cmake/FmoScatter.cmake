# The strategies of accumulate/scatter/scatter.h, as the C preprocessor sees them, so that no row is
# missed for the way it is written:
#   FMO_SCATTER_TYPES  element strategies, by type: native;warp_shared;...
#   FMO_GPU_VARIANTS   kernels: native;native_cas;...;none
#   FMO_GPU_D_VARIANTS      those that take d shells: native;segmented;fixed
# A change to the table configures anew.
set(folder ${PROJECT_SOURCE_DIR}/accumulate/scatter)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${folder}/scatter.h ${folder}/variants.h ${folder}/list.inc)
execute_process(COMMAND ${CMAKE_C_COMPILER} -E -P -DFMO_EXPERIMENTS=${FMO_WITH_EXPERIMENTS} -I${PROJECT_SOURCE_DIR} -I${FMO_HEADER_DIR}
                        -x c ${folder}/list.inc
                OUTPUT_VARIABLE list ERROR_VARIABLE error RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "${folder}/scatter.h: the C preprocessor fails:\n${error}")
endif()

# fmo_scatter_list(variable kind): what follows "kind:" in the preprocessor's output.
function(fmo_scatter_list variable kind)
    string(REGEX MATCHALL "\"${kind}:\" *\"[^\"]*\"" found "${list}")
    list(TRANSFORM found REPLACE ".*\"([^\"]*)\"$" "\\1")
    list(LENGTH found length)
    list(REMOVE_DUPLICATES found)
    list(LENGTH found different)
    if(length EQUAL 0 OR NOT length EQUAL different)
        message(FATAL_ERROR "accumulate/scatter/scatter.h: ${length} rows with ${different} names "
                            "(${kind}: ${found})")
    endif()
    set(${variable} ${found} PARENT_SCOPE)
endfunction()
fmo_scatter_list(FMO_SCATTER_TYPES type)
fmo_scatter_list(FMO_GPU_VARIANTS variant)
fmo_scatter_list(FMO_GPU_D_VARIANTS "d shells")

# Public headers of the device code: a file for each type, `none`, and one that includes them all.
function(fmo_scatter_headers)
    set(includes "")
    set(files scatter/scatter_common.cuh)
    foreach(type IN LISTS FMO_SCATTER_TYPES ITEMS none)
        set(file scatter/scatter_${type}.cuh)
        if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
            message(FATAL_ERROR "accumulate/scatter/scatter.h has an element strategy of the type "
                                "${type}, but there is no accumulate/${file}")
        endif()
        list(APPEND files ${file})
        string(APPEND includes "#include \"scatter_${type}.cuh\"\n")
    endforeach()
    fmo_public_headers(${files} scatter/atomics.cuh)
    fmo_generated_header(scatter_strategies.cuh
        "/* The element strategies of fmo/scatter.h as types. Made by CMake from its table. */\n"
        "#ifndef FMO_SCATTER_STRATEGIES_CUH\n#define FMO_SCATTER_STRATEGIES_CUH\n\n"
        "#include \"scatter_common.cuh\"\n${includes}\n#endif\n")
endfunction()
