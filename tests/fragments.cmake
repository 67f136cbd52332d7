# Fragments: energies of other programs, invariances, brute force; the command line.
fmo_test(fragments SOURCES fragments.c LIBS fmo::scf ARGS ${PROJECT_SOURCE_DIR}/datasets/fmo2
         TIMEOUT 900 LABELS scf fragments)
# Sanitizers are slow, and the small systems go through all of the code.
if(FMO_SANITIZE)
    set_tests_properties(fragments PROPERTIES ENVIRONMENT FMO_TEST_SMALL=1)
else()
    add_test(NAME fragments_large COMMAND fragments ${PROJECT_SOURCE_DIR}/datasets/fmo2 large)
    set_tests_properties(fragments_large PROPERTIES TIMEOUT 1500 LABELS "scf;fragments;large")
endif()

find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
foreach(part Report Refusals Files Resume)
    string(TOLOWER fragments_cli_${part} name)
    add_test(NAME ${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/fragments_cli.py
                                  --verbose Fragments${part})
    set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS "driver;fragments" ENVIRONMENT
        "FMO_DRIVER=$<TARGET_FILE:fmo-driver>;FMO_H5=$<TARGET_FILE:driver_h5>;FMO_SOURCE=${PROJECT_SOURCE_DIR};PYTHONDONTWRITEBYTECODE=1")
endforeach()
