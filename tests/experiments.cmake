# The published experiments of fmo-bench, at small sizes on the CPU and on the GPU, and the harness.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

set(bench ${PROJECT_SOURCE_DIR}/driver/bench)
fmo_test(bench_harness STATIC SOURCES bench_harness.c ${bench}/bench.c ${bench}/items.c ${bench}/replay.c
         LIBS OpenMP::OpenMP_C LABELS unit)
fmo_bench_tests(bench_cli Usage Compare Cpu Edges Bounded Json Plot Messages Gpu)
set_tests_properties(bench_gpu PROPERTIES LABELS gpu RESOURCE_LOCK gpu)
