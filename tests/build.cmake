# What docs/ says of changes to the code, followed in a copy of the sources.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
if(FMO_SANITIZE)
    return() # the same again, slower
endif()
set(nvcc "") # a build without CUDA skips it
if(FMO_WITH_CUDA)
    set(nvcc ${CMAKE_CUDA_COMPILER})
endif()
add_test(NAME build_strategy COMMAND Python3::Interpreter
         ${CMAKE_CURRENT_SOURCE_DIR}/build_strategy.py ${PROJECT_SOURCE_DIR}
         ${CMAKE_BINARY_DIR}/tests/strategy ${CMAKE_COMMAND} ${nvcc})
set_tests_properties(build_strategy PROPERTIES LABELS build SKIP_RETURN_CODE 77 TIMEOUT 1800
                     PROCESSORS 2 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
