# The Python module: its structs against the headers, and all of it against PySCF (skipped where no Python has it, see
# python_helpers.py).
if(FMO_SANITIZE)
    return() # a Python without the sanitizers' run-time library cannot load such a libfmo
endif()
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

add_executable(python_layout python_layout.c)
target_link_libraries(python_layout PRIVATE fmo::fragment fmo_warnings)
set_target_properties(python_layout PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

set(library FMO_LIBRARY=$<TARGET_FILE_DIR:fmo_shared>/$<TARGET_LINKER_FILE_NAME:fmo_shared>)
add_test(NAME python_mirror COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/python_mirror.py)
set_tests_properties(python_mirror PROPERTIES TIMEOUT 60 LABELS unit
    ENVIRONMENT "${library};FMO_LAYOUT=$<TARGET_FILE:python_layout>;PYTHONDONTWRITEBYTECODE=1")

# Where the scripts of datasets/ make their environment.
add_test(NAME datasets_venv COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/datasets_venv.py)
set_tests_properties(datasets_venv PROPERTIES TIMEOUT 60 LABELS unit
    ENVIRONMENT "FMO_SOURCE=${PROJECT_SOURCE_DIR};PYTHONDONTWRITEBYTECODE=1")

# One ctest entry per class of these files.
set(environment ${library} FMO_CMAKE=${CMAKE_COMMAND}
                FMO_BUILD=${CMAKE_BINARY_DIR} PYTHONDONTWRITEBYTECODE=1)
set(parts_module Matrices Options Plans Fallback Finding)
set(parts_scf Patch Scf)
set(parts_patch PatchAttributes PatchRefused PatchConversions PatchMethods)
set(parts_errors Errors Interrupt Types)
set(parts_gpu_rules PatchGpuRules)
set(parts_cupy Arrays Patched)
foreach(file module scf patch errors gpu_rules cupy)
    foreach(part IN LISTS parts_${file})
        string(TOLOWER python_${part} name)
        add_test(NAME ${name} COMMAND Python3::Interpreter
                                      ${CMAKE_CURRENT_SOURCE_DIR}/python_${file}.py ${part})
        set_tests_properties(${name} PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 77 LABELS python
                             ENVIRONMENT "${environment}")
    endforeach()
endforeach()
set_tests_properties(python_finding PROPERTIES RESOURCE_LOCK install_manifest)
