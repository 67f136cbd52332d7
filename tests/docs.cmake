# Documents: widths, paths, and the index of raw results; links are checked by the target docs-site.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
add_test(NAME docs_check COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/docs_check.py)
# Target docs-api where there is no Doxygen: a project of that target alone.
add_test(NAME docs_api_without_doxygen
         COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${CMAKE_CURRENT_SOURCE_DIR}/docs_api
                 ${CMAKE_BINARY_DIR}/tests/docs_api --build-generator ${CMAKE_GENERATOR}
                 --build-target docs-api --build-options -DFMO_DOXYGEN=)
set_tests_properties(docs_api_without_doxygen PROPERTIES TIMEOUT 60 LABELS docs PASS_REGULAR_EXPRESSION
                     "docs-api needs Doxygen, which is not here: apt-get install doxygen, and configure again")
set_tests_properties(docs_check PROPERTIES TIMEOUT 60 LABELS docs
                     ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
