# Public headers compile alone as C11 and as C++17 (left out without a C++ compiler). What functions
# say of NULL.
get_property(headers GLOBAL PROPERTY FMO_PUBLIC_HEADERS)
list(FILTER headers INCLUDE REGEX "[.]h$")
set(header_files ${headers})
list(TRANSFORM headers REPLACE ".*/" "")
find_program(FMO_TEST_CXX NAMES c++ g++ clang++)
mark_as_advanced(FMO_TEST_CXX)
add_test(NAME headers_c11 COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/headers.sh
         ${CMAKE_C_COMPILER} c c11 ${FMO_HEADER_DIR} ${headers})
set_tests_properties(headers_c11 PROPERTIES LABELS unit)
if(FMO_TEST_CXX)
    add_test(NAME headers_cxx17 COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/headers.sh
             ${FMO_TEST_CXX} c++ c++17 ${FMO_HEADER_DIR} ${headers})
    set_tests_properties(headers_cxx17 PROPERTIES LABELS unit)
endif()

# Every pointer that a public function takes, as NULL; arrays that overlap.
fmo_test(arguments SOURCES arguments.c LIBS fmo::fragment LABELS unit)
if(FMO_EXPERIMENTS)
    target_link_libraries(arguments PRIVATE fmo::comm)
endif()
if(FMO_WITH_MPI)
    target_compile_definitions(arguments PRIVATE FMO_TEST_MPI)
    target_link_libraries(arguments PRIVATE fmo::mpi)
endif()
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
add_test(NAME arguments_all COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/arguments.py
         $<TARGET_FILE:arguments> ${header_files})
set_tests_properties(arguments_all PROPERTIES LABELS unit)

# Every field of every public struct with what it must not hold.
fmo_test(fields SOURCES fields.c LIBS fmo::fragment fmo::comm LABELS unit ARGS 60 1)
add_test(NAME fields_all COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/fields.py
         $<TARGET_FILE:fields> ${header_files})
set_tests_properties(fields_all PROPERTIES LABELS unit)
