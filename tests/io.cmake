# Data sets and results. make-bad-file serves the command-line tests too: see io_make_bad.c.
add_executable(make-bad-file io_make_bad.c io_bad_files.c)
target_include_directories(make-bad-file PRIVATE ${HDF5_INCLUDE_DIRS})
target_link_libraries(make-bad-file PRIVATE fmo_warnings ${HDF5_C_LIBRARIES} m)
set_target_properties(make-bad-file PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

set(FMO_IO_TEST_LIBS ${HDF5_C_LIBRARIES} OpenMP::OpenMP_C) # OpenMP brings POSIX threads along
fmo_test(io_dataset SOURCES io_dataset.c LIBS ${FMO_IO_TEST_LIBS} LABELS io)
fmo_test(io_refusals SOURCES io_refusals.c io_bad_files.c LIBS ${FMO_IO_TEST_LIBS} LABELS io)
fmo_test(io_damage SOURCES io_damage.c LIBS ${FMO_IO_TEST_LIBS} LABELS io)
fmo_test(io_result SOURCES io_result.c LIBS ${FMO_IO_TEST_LIBS} LABELS io)
foreach(name io_dataset io_refusals io_damage io_result)
    target_include_directories(${name} PRIVATE ${HDF5_INCLUDE_DIRS})
endforeach()
