# Basis, Boys function, ERI classes one by one and in vector lanes, far quartets, one-electron integrals, headers.
fmo_test(integrals_basis STATIC SOURCES integrals_basis.c LABELS unit)
fmo_test(integrals_boys STATIC SOURCES integrals_boys.c LABELS unit)
fmo_test(integrals_eri STATIC SOURCES integrals_eri.c LABELS unit)
fmo_test(eri_matrix STATIC SOURCES eri_matrix.c LABELS unit data)
fmo_test(integrals_md STATIC SOURCES integrals_md.c LABELS unit)
fmo_test(integrals_sp_pairs STATIC SOURCES integrals_sp_pairs.c LABELS unit)
fmo_test(integrals_far STATIC SOURCES integrals_far.c LABELS unit)
fmo_test(integrals_far_nodes STATIC SOURCES integrals_far_nodes.c LABELS unit)
fmo_test(integrals_far_decision STATIC SOURCES integrals_far_decision.c LABELS unit)
fmo_test(integrals_separation STATIC SOURCES integrals_separation.c LABELS unit)

# Nothing that integrals/shells.h says is said anywhere else.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
add_test(NAME tables COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tables.py
                             --compiler ${CMAKE_C_COMPILER})
# Which capacity may include which (docs/explanation/design.md).
add_test(NAME arrows COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/arrows.py)
add_test(NAME arrows_finds COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/arrows.py --self-test)
set_tests_properties(tables arrows arrows_finds PROPERTIES LABELS unit)

fmo_test(integrals_one_electron SOURCES integrals_one_electron.c LIBS ${HDF5_C_LIBRARIES}
         LABELS unit data)
target_include_directories(integrals_one_electron PRIVATE ${HDF5_INCLUDE_DIRS})

# With the library's sums over charges, one charge at a time.
fmo_test(integrals_charges STATIC SOURCES integrals_charges.c LABELS unit)
target_link_libraries(integrals_charges PRIVATE OpenMP::OpenMP_C)
add_library(charge_sums_one OBJECT ${PROJECT_SOURCE_DIR}/integrals/one_electron/charge_sums.c)
target_include_directories(charge_sums_one PRIVATE ${PROJECT_SOURCE_DIR} ${FMO_HEADER_DIR})
target_compile_definitions(charge_sums_one PRIVATE FMO_CHARGE_KERNELS=fmo_charge_kernels_one
                           FMO_VECTOR_NAME="one charge")
target_link_libraries(charge_sums_one PRIVATE fmo_warnings)
target_sources(integrals_charges PRIVATE $<TARGET_OBJECTS:charge_sums_one>)

# One object per vector width, with the flags of accumulate/cpu/kernel.c.
fmo_test(integrals_vector STATIC SOURCES integrals_vector.c LABELS unit)
function(vector_forms width name)
    add_library(vector_forms_${width} OBJECT vector_forms.c)
    target_include_directories(vector_forms_${width} PRIVATE ${PROJECT_SOURCE_DIR} ${FMO_HEADER_DIR})
    target_compile_definitions(vector_forms_${width} PRIVATE FMO_SIMD_WIDTH=${width}
                               VECTOR_FORMS=vector_forms_${width} VECTOR_NAME="${name}")
    target_compile_options(vector_forms_${width} PRIVATE -fno-math-errno -fno-trapping-math ${ARGN})
    target_link_libraries(vector_forms_${width} PRIVATE fmo_warnings)
    target_sources(integrals_vector PRIVATE $<TARGET_OBJECTS:vector_forms_${width}>)
endfunction()
vector_forms(1 "one quartet")
vector_forms(2 "baseline, 2")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_definitions(integrals_vector PRIVATE VECTOR_X86)
    vector_forms(4 "AVX2, 4" -mavx2 -mfma)
    vector_forms(8 "AVX-512, 8" -mavx512f -mavx512dq -mavx512vl -mavx2 -mfma
                 -mprefer-vector-width=512)
endif()

# Many d shells, without a copy of anything inlined: fewer of them.
if(FMO_SANITIZE)
    set_tests_properties(integrals_eri integrals_vector PROPERTIES ENVIRONMENT FMO_TEST_SMALL=1 TIMEOUT 1800)
endif()
