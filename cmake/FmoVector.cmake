# One source, one object library per instruction set, all of them in libfmo; base/vector.h says
# at run time which one is for this CPU.
#   fmo_vector_objects(part SOURCES kernel.c TABLES FMO_CPU_KERNELS=fmo_cpu_kernels)
# compiles the sources with FMO_SIMD_WIDTH, FMO_VECTOR_NAME ("AVX2") and, for each table, its macro
# as the table's name in this set (FMO_CPU_KERNELS=fmo_cpu_kernels_avx2).
set(FMO_VECTOR_SETS baseline)
set(FMO_VECTOR_baseline "baseline" 2)
# as __x86_64__ in base/vector.h
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND FMO_VECTOR_SETS avx2 avx512)
    set(FMO_VECTOR_avx2 "AVX2" 4 -mavx2 -mfma)
    set(FMO_VECTOR_avx512 "AVX-512" 8 -mavx512f -mavx512dq -mavx512vl -mavx2 -mfma
                          -mprefer-vector-width=512)
endif()

function(fmo_vector_objects part)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;TABLES")
    foreach(set IN LISTS FMO_VECTOR_SETS)
        set(flags ${FMO_VECTOR_${set}})
        list(POP_FRONT flags label width)
        list(TRANSFORM arg_TABLES APPEND _${set} OUTPUT_VARIABLE tables)
        set(name fmo_${part}_${set})
        add_library(${name} OBJECT ${arg_SOURCES})
        target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${FMO_HEADER_DIR})
        target_compile_definitions(${name} PRIVATE ${tables} FMO_VECTOR_NAME="${label}"
                                   FMO_SIMD_WIDTH=${width})
        target_compile_options(${name} PRIVATE -fno-math-errno -fno-trapping-math ${flags})
        target_link_libraries(${name} PRIVATE OpenMP::OpenMP_C fmo_warnings)
        set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON
                              C_VISIBILITY_PRESET hidden)
        target_sources(fmo PRIVATE $<TARGET_OBJECTS:${name}>)
    endforeach()
endfunction()
