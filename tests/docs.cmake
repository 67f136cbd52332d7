# Documents: widths, links, paths, and the index of raw results.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
add_test(NAME docs_check COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/docs_check.py)
add_test(NAME docs_check_finds
         COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/docs_check.py --self-test)
set_tests_properties(docs_check docs_check_finds PROPERTIES TIMEOUT 60 LABELS docs
                     ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
