# fmo-bench: the harness, every experiment at small sizes on the CPU and on the GPU, the command line.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

set(bench ${PROJECT_SOURCE_DIR}/driver/bench)
fmo_test(bench_harness STATIC SOURCES bench_harness.c ${bench}/bench.c ${bench}/items.c ${bench}/replay.c
         LIBS OpenMP::OpenMP_C LABELS unit)

fmo_test(bench_fock STATIC SOURCES bench_fock.c ${bench}/molecules.c ${bench}/work.c LIBS OpenMP::OpenMP_C
         LABELS unit)

# One ctest entry per class of a script.
set(bench_cli_classes Usage Compare Cpu Edges Bounded Json Plot Messages Gpu)
set(bench_builds_classes Builds BuildsGpu)
foreach(script bench_cli bench_builds)
    foreach(part ${${script}_classes})
        string(TOLOWER bench_${part} name)
        add_test(NAME ${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/${script}.py
                                      --verbose ${part})
        set_tests_properties(${name} PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 77 ENVIRONMENT
            "FMO_BENCH=$<TARGET_FILE:fmo-bench>;FMO_SOURCE=${PROJECT_SOURCE_DIR};PYTHONDONTWRITEBYTECODE=1")
    endforeach()
endforeach()
set_tests_properties(bench_gpu bench_buildsgpu PROPERTIES LABELS gpu RESOURCE_LOCK gpu)
