# Command line, start script, README, profile. The command-line tests are Python (standard library).
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

# A helper that looks into result files and alters data sets.
add_executable(driver_h5 driver_h5.c)
target_include_directories(driver_h5 PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${HDF5_INCLUDE_DIRS})
target_link_libraries(driver_h5 PRIVATE fmo::io fmo_warnings ${HDF5_C_LIBRARIES} m)
set_target_properties(driver_h5 PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

fmo_test(driver_progress SOURCES driver_progress.c ${PROJECT_SOURCE_DIR}/driver/cli/progress.c)
fmo_test(driver_readme_example SOURCES driver_readme_example.c
         ARGS ${PROJECT_SOURCE_DIR}/datasets/h2o_sto-3g.h5)

# One ctest entry per class of these files.
set(parts_cli Usage Streams Terminal)
set(parts_report Report Modes Several Json)
set(parts_check Check Output BadInput)
set(parts_start Readme Quickstart)
set(parts_options Matrix)
foreach(file cli report check start options)
    foreach(part IN LISTS parts_${file})
        string(TOLOWER driver_${part} name)
        add_test(NAME ${name} COMMAND Python3::Interpreter
                                      ${CMAKE_CURRENT_SOURCE_DIR}/driver_${file}.py --verbose ${part})
        set_tests_properties(${name} PROPERTIES TIMEOUT 1800 LABELS driver ENVIRONMENT
            "FMO_DRIVER=$<TARGET_FILE:fmo-driver>;FMO_H5=$<TARGET_FILE:driver_h5>;FMO_SOURCE=${PROJECT_SOURCE_DIR};FMO_MPIEXEC=${MPIEXEC_EXECUTABLE};FMO_MAKE_BAD=$<$<TARGET_EXISTS:make-bad-file>:$<TARGET_FILE:make-bad-file>>;PYTHONDONTWRITEBYTECODE=1")
    endforeach()
endforeach()

# Files that are there already, signals while one is written, names on a terminal, doubtful data sets.
add_library(driver_signal MODULE driver_signal.c)
target_link_libraries(driver_signal PRIVATE fmo_warnings ${CMAKE_DL_LIBS})
set_target_properties(driver_signal PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
foreach(part Replace Shown Doubts Interrupt)
    string(TOLOWER driver_${part} name)
    add_test(NAME ${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/driver_files.py
                                  --verbose ${part})
    set_tests_properties(${name} PROPERTIES TIMEOUT 1800 LABELS driver ENVIRONMENT
        "FMO_DRIVER=$<TARGET_FILE:fmo-driver>;FMO_BENCH=$<TARGET_FILE:fmo-bench>;FMO_H5=$<TARGET_FILE:driver_h5>;FMO_SIGNAL=$<TARGET_FILE:driver_signal>;FMO_SOURCE=${PROJECT_SOURCE_DIR};FMO_MAKE_BAD=$<TARGET_FILE:make-bad-file>;PYTHONDONTWRITEBYTECODE=1")
endforeach()

# fmo-driver --batch, on the CPU and on a GPU.
foreach(part Batch BatchGpu)
    string(TOLOWER driver_${part} name)
    add_test(NAME ${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/driver_batch.py
                                  --verbose ${part})
    set_tests_properties(${name} PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 77 LABELS driver ENVIRONMENT
        "FMO_DRIVER=$<TARGET_FILE:fmo-driver>;FMO_H5=$<TARGET_FILE:driver_h5>;FMO_SOURCE=${PROJECT_SOURCE_DIR};PYTHONDONTWRITEBYTECODE=1")
endforeach()
set_tests_properties(driver_batchgpu PROPERTIES LABELS gpu RESOURCE_LOCK gpu)

# Under mpirun, and a build without MPI that is started so: the same sources, without its library.
set(parts NoMpi)
set(mpiexec "")
set(no_mpi $<TARGET_FILE:fmo-driver>)
add_library(driver_fate MODULE driver_fate.c)
target_link_libraries(driver_fate PRIVATE fmo_warnings ${CMAKE_DL_LIBS})
set_target_properties(driver_fate PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
if(FMO_WITH_MPI)
    get_target_property(sources fmo-driver SOURCES)
    list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/driver/)
    add_executable(driver_no_mpi ${sources})
    target_include_directories(driver_no_mpi PRIVATE ${HDF5_INCLUDE_DIRS})
    target_link_libraries(driver_no_mpi PRIVATE fmo_cli fmo::fragment ${HDF5_C_LIBRARIES} OpenMP::OpenMP_C)
    set_target_properties(driver_no_mpi PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    set(no_mpi $<TARGET_FILE:driver_no_mpi>)
    if(NOT FMO_SANITIZE) # MPI's own leaks
        set(mpiexec ${MPIEXEC_EXECUTABLE})
        list(APPEND parts Results Failures)
    endif()
endif()
foreach(part IN LISTS parts)
    string(TOLOWER driver_ranks_${part} name)
    add_test(NAME ${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/driver_ranks.py
                                  --verbose ${part})
    set_tests_properties(${name} PROPERTIES TIMEOUT 600 RESOURCE_LOCK mpi LABELS "driver;mpi" ENVIRONMENT
        "FMO_DRIVER=$<TARGET_FILE:fmo-driver>;FMO_H5=$<TARGET_FILE:driver_h5>;FMO_SOURCE=${PROJECT_SOURCE_DIR};FMO_MPIEXEC=${mpiexec};FMO_NO_MPI=${no_mpi};FMO_FATE=$<TARGET_FILE:driver_fate>;PYTHONDONTWRITEBYTECODE=1")
endforeach()
