# Public headers compile alone as C11 and as C++17 (left out without a C++ compiler).
get_property(headers GLOBAL PROPERTY FMO_PUBLIC_HEADERS)
list(FILTER headers INCLUDE REGEX "[.]h$")
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
