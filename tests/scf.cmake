# SCF: its small problems, its options, energies against PySCF (scf_energies.json), bit equality.
# The GPU forms of the same programs have "fused" as their argument.
fmo_test(scf_parts SOURCES scf_parts.c ${PROJECT_SOURCE_DIR}/driver/scf/diis.c LIBS fmo::scf
         LABELS unit scf)
fmo_test(scf_small SOURCES scf_small.c ${PROJECT_SOURCE_DIR}/driver/scf/small.c LIBS OpenMP::OpenMP_C
         LABELS unit scf)
fmo_test(scf_work_items SOURCES scf_work_items.c LABELS unit scf)
fmo_test(scf_scaled SOURCES scf_scaled.c LIBS fmo::scf LABELS scf data)
fmo_test(scf_run SOURCES scf_run.c LIBS fmo::scf ARGS cpu LABELS scf)
fmo_test(scf_batch SOURCES scf_batch.c LIBS fmo::scf ARGS cpu LABELS scf)
fmo_test(scf_callbacks STATIC SOURCES scf_callbacks.c LIBS fmo::scf_static Threads::Threads ARGS cpu LABELS scf)
fmo_test(scf_lockstep STATIC SOURCES scf_lockstep.c LIBS fmo::scf_static LABELS scf)
fmo_test(scf_block STATIC SOURCES scf_block.c LIBS fmo::scf_static LABELS scf)
if(FMO_SANITIZE)
    set_tests_properties(scf_lockstep PROPERTIES ENVIRONMENT FMO_TEST_SMALL=1)
endif()
add_test(NAME scf_batch_threads COMMAND scf_batch aside)
add_test(NAME scf_callbacks_threads COMMAND scf_callbacks aside)
set_tests_properties(scf_batch_threads scf_callbacks_threads PROPERTIES TIMEOUT 600 LABELS scf)
fmo_test(scf_ranks SOURCES scf_ranks.c LIBS fmo::fragment Threads::Threads LABELS scf fragments)
if(FMO_SANITIZE)
    set_tests_properties(scf_ranks PROPERTIES ENVIRONMENT FMO_TEST_SMALL=1)
endif()
# Sanitizers are slow, and a few molecules go through all of the code.
if(FMO_SANITIZE)
    set(SCF_NAMES LiH NH3 "N2 stretched")
    set(SCF_NAMES_D H2O HCl HBr)
endif()
fmo_test(scf_energies SOURCES scf_energies.c LIBS fmo::scf PkgConfig::FMO_JANSSON
         ARGS ${CMAKE_CURRENT_SOURCE_DIR}/scf_energies.json cpu ${SCF_NAMES} TIMEOUT 1200
         LABELS scf)
fmo_test(scf_energies_d SOURCES scf_energies.c LIBS fmo::scf PkgConfig::FMO_JANSSON
         ARGS ${CMAKE_CURRENT_SOURCE_DIR}/scf_energies_d.json cpu ${SCF_NAMES_D} TIMEOUT 1200
         LABELS scf)
if(FMO_WITH_CUDA)
    # No GPU is needed to load the libraries; nor for one of their names that has nothing in it.
    fmo_test(scf_nvidia STATIC SOURCES scf_nvidia.cu LIBS fmo::scf_static CUDA::cudart_static
             LABELS scf)
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/empty.c CONTENT "int fmo_empty;\n")
    add_library(scf_nvidia_empty SHARED ${CMAKE_CURRENT_BINARY_DIR}/empty.c)
    string(REGEX MATCH "^[0-9]+" cuda_major ${CUDAToolkit_VERSION})
    set_target_properties(scf_nvidia_empty PROPERTIES OUTPUT_NAME cublas SUFFIX .so.${cuda_major}
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/empty)
    add_test(NAME scf_nvidia_refused COMMAND scf_nvidia refused)
    set_tests_properties(scf_nvidia_refused PROPERTIES LABELS scf ENVIRONMENT
        LD_LIBRARY_PATH=${CMAKE_CURRENT_BINARY_DIR}/empty)
    add_test(NAME gpu_scf_run COMMAND scf_run fused)
    add_test(NAME gpu_scf_batch COMMAND scf_batch fused)
    add_test(NAME gpu_scf_care COMMAND scf_callbacks fused)
    add_test(NAME gpu_scf_lockstep COMMAND scf_lockstep fused)
    add_test(NAME gpu_scf_block COMMAND scf_block fused)
    add_test(NAME gpu_scf_energies
             COMMAND scf_energies ${CMAKE_CURRENT_SOURCE_DIR}/scf_energies.json fused)
    add_test(NAME gpu_scf_energies_d
             COMMAND scf_energies ${CMAKE_CURRENT_SOURCE_DIR}/scf_energies_d.json fused)
    set_tests_properties(gpu_scf_run gpu_scf_batch gpu_scf_care gpu_scf_lockstep gpu_scf_block gpu_scf_energies
        gpu_scf_energies_d PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1800
                         LABELS gpu RESOURCE_LOCK gpu)
endif()

# One ctest entry per class of scf_cli.py and scf_spin.py.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
foreach(part Usage Refusals Cutoff Report FarApart NotConverged Output Json Batch)
    string(TOLOWER scf_cli_${part} name)
    add_test(NAME ${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/scf_cli.py
                                  --verbose Scf${part})
    set_tests_properties(${name} PROPERTIES TIMEOUT 1800 LABELS "driver;scf" ENVIRONMENT
        "FMO_DRIVER=$<TARGET_FILE:fmo-driver>;FMO_H5=$<TARGET_FILE:driver_h5>;FMO_SOURCE=${PROJECT_SOURCE_DIR};PYTHONDONTWRITEBYTECODE=1")
endforeach()

add_test(NAME basis_families COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/basis_families.py)
set_tests_properties(basis_families PROPERTIES TIMEOUT 1800 LABELS "scf;io" ENVIRONMENT
    "FMO_DRIVER=$<TARGET_FILE:fmo-driver>;FMO_SOURCE=${PROJECT_SOURCE_DIR};PYTHONDONTWRITEBYTECODE=1")
foreach(part Comment Spin)
    string(TOLOWER scf_cli_${part} name)
    add_test(NAME ${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/scf_spin.py
                                  --verbose Scf${part})
    set_tests_properties(${name} PROPERTIES TIMEOUT 1800 LABELS "driver;scf" ENVIRONMENT
        "FMO_DRIVER=$<TARGET_FILE:fmo-driver>;FMO_H5=$<TARGET_FILE:driver_h5>;FMO_SOURCE=${PROJECT_SOURCE_DIR};PYTHONDONTWRITEBYTECODE=1")
endforeach()
# Threads with little stack; sanitizers have frames of their own size.
if(NOT FMO_SANITIZE)
    fmo_test(stack SOURCES stack.c LIBS fmo::scf LABELS scf)
endif()

fmo_test(few_functions SOURCES few_functions.c LIBS fmo::scf LABELS scf)
if(NOT FMO_SANITIZE)
    add_test(NAME few_functions_load COMMAND few_functions $<TARGET_FILE:fmo-driver>)
    set_tests_properties(few_functions_load PROPERTIES TIMEOUT 600 LABELS "scf;driver")
endif()

# Where electrons jump between far atoms the smallest rounding leads to other stationary points, and
# the sanitizers' build rounds differently: its end is 0.45 hartree higher for F2 at 10 angstrom.
if(FMO_SANITIZE AND TEST scf_cli_farapart)
    set_tests_properties(scf_cli_farapart PROPERTIES DISABLED TRUE)
endif()
