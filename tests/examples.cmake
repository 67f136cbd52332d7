# The programs of docs/examples: compiled, run, and the same as the documents show.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

set(examples coulomb_exchange batch scf device_pointers)
set(EXAMPLE_LIBS_scf PkgConfig::FMO_LAPACKE PkgConfig::FMO_OPENBLAS)
set(EXAMPLE_LIBS_device_pointers CUDA::cudart_static)
foreach(name IN LISTS examples)
    set(program "") # left out: the test says so and is skipped
    if(FMO_WITH_CUDA OR NOT name STREQUAL "device_pointers")
        add_executable(example_${name} ${PROJECT_SOURCE_DIR}/docs/examples/${name}.c)
        target_link_libraries(example_${name} PRIVATE fmo::io fmo_warnings ${EXAMPLE_LIBS_${name}} m)
        set_target_properties(example_${name} PROPERTIES
                              RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
        set(program $<TARGET_FILE:example_${name}>)
    endif()
    add_test(NAME example_${name} COMMAND Python3::Interpreter
             ${CMAKE_CURRENT_SOURCE_DIR}/examples.py ${name} ${program})
    set_tests_properties(example_${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1200 LABELS unit
                         ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;OMP_WAIT_POLICY=PASSIVE")
endforeach()
set_tests_properties(example_device_pointers PROPERTIES LABELS gpu RESOURCE_LOCK gpu)
add_test(NAME example_all_shown COMMAND Python3::Interpreter
         ${CMAKE_CURRENT_SOURCE_DIR}/examples.py ${examples} --all)
set_tests_properties(example_all_shown PROPERTIES LABELS unit ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
