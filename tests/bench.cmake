# fmo-bench: Fock builds, on the CPU and on the GPU; what is said where there are no experiments.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

set(bench ${PROJECT_SOURCE_DIR}/driver/bench)
fmo_test(bench_fock STATIC SOURCES bench_fock.c ${bench}/molecules.c ${bench}/work.c LIBS OpenMP::OpenMP_C
         LABELS unit)

# fmo_bench_tests(script class...): one ctest entry per class of a script.
function(fmo_bench_tests script)
    foreach(part IN LISTS ARGN)
        string(TOLOWER bench_${part} name)
        add_test(NAME ${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/${script}.py
                                      --verbose ${part})
        set_tests_properties(${name} PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 77 ENVIRONMENT
            "FMO_BENCH=$<TARGET_FILE:fmo-bench>;FMO_SOURCE=${PROJECT_SOURCE_DIR};PYTHONDONTWRITEBYTECODE=1")
    endforeach()
endfunction()
fmo_bench_tests(bench_builds Builds BuildsGpu)
set_tests_properties(bench_buildsgpu PROPERTIES LABELS gpu RESOURCE_LOCK gpu)
if(NOT FMO_EXPERIMENTS)
    add_test(NAME bench_not_built COMMAND fmo-bench histogram --items 10)
    set_tests_properties(bench_not_built PROPERTIES LABELS unit PASS_REGULAR_EXPRESSION
                         "histogram: built without FMO_EXPERIMENTS")
endif()
