# Fragments: energies of other programs, invariances, brute force; the command line.
fmo_test(fragments SOURCES fragments.c LIBS fmo::fragment ARGS ${PROJECT_SOURCE_DIR}/datasets/fmo2
         TIMEOUT 900 LABELS scf fragments)
# Sanitizers are slow, and the small systems go through all of the code.
if(FMO_SANITIZE)
    set_tests_properties(fragments PROPERTIES ENVIRONMENT FMO_TEST_SMALL=1)
else()
    fmo_test(fragments_brute SOURCES fragments_brute.c LIBS fmo::fragment ARGS ${PROJECT_SOURCE_DIR}/datasets/fmo2
             LABELS scf fragments)
    add_test(NAME fragments_large COMMAND fragments ${PROJECT_SOURCE_DIR}/datasets/fmo2 large)
    set_tests_properties(fragments_large PROPERTIES TIMEOUT 1500 LABELS "scf;fragments;large")
endif()

if(FMO_WITH_CUDA)
    add_test(NAME gpu_fragments COMMAND fragments ${PROJECT_SOURCE_DIR}/datasets/fmo2 fused)
    set_tests_properties(gpu_fragments PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900 LABELS gpu
                         RESOURCE_LOCK gpu)
endif()

# Readers of fragment files: what they find and refuse, and mutated files.
add_executable(fragment_show fragment_show.c)
target_include_directories(fragment_show PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(fragment_show PRIVATE fmo::io_static fmo_warnings m) # for tables that are not exported
set_target_properties(fragment_show PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_executable(fragment_draw fragment_draw.c)
target_link_libraries(fragment_draw PRIVATE fmo::fragment fmo_warnings m)
set_target_properties(fragment_draw PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
set(systems ${PROJECT_SOURCE_DIR}/datasets/fmo2)
fmo_test(fragment_mutants SOURCES fragment_mutants.c LABELS io fragments
         ARGS 1500 ${systems}/gly4.pdb ${systems}/gly4.inp ${systems}/gly4.ajf ${systems}/gly5.ajf
              ${systems}/ethane_sto-3g.json)

find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
foreach(part Pdb Gamess AbinitMp Mmcif)
    string(TOLOWER fragment_files_${part} name)
    add_test(NAME ${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/fragment_files.py
                                  --verbose ${part})
    set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS "io;fragments" ENVIRONMENT
        "FMO_SHOW=$<TARGET_FILE:fragment_show>;FMO_SOURCE=${PROJECT_SOURCE_DIR};PYTHONDONTWRITEBYTECODE=1")
endforeach()
foreach(part Table HeatMap Tutorial Refusals)
    string(TOLOWER fragment_tables_${part} name)
    add_test(NAME ${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/fragment_tables.py
                                  --verbose ${part})
    set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS "driver;fragments" ENVIRONMENT
        "FMO_DRIVER=$<TARGET_FILE:fmo-driver>;FMO_DRAW=$<TARGET_FILE:fragment_draw>;FMO_SOURCE=${PROJECT_SOURCE_DIR};PYTHONDONTWRITEBYTECODE=1;$<$<BOOL:${FMO_SANITIZE}>:FMO_TEST_SMALL=1>")
endforeach()
foreach(part Report Inputs Schema Refusals Hybrids Files Resume)
    set(file fragments_cli.py)
    if(part STREQUAL "Inputs")
        set(file fragments_inputs.py)
    endif()
    string(TOLOWER fragments_cli_${part} name)
    add_test(NAME ${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/${file}
                                  --verbose Fragments${part})
    set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS "driver;fragments" ENVIRONMENT
        "FMO_DRIVER=$<TARGET_FILE:fmo-driver>;FMO_H5=$<TARGET_FILE:driver_h5>;FMO_SOURCE=${PROJECT_SOURCE_DIR};PYTHONDONTWRITEBYTECODE=1;$<$<BOOL:${FMO_SANITIZE}>:FMO_TEST_SMALL=1>")
endforeach()
