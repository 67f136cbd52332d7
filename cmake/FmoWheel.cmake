# Binaries for Python wheels, which run on other machines: with an older glibc (cmake/packaging/older_glibc.py does the
# rest), another OpenBLAS, and NVIDIA's libraries from wheels. Next: FmoPack.cmake, cmake/packaging/wheel.py.
option(FMO_WHEEL "Build for wheels: older glibc, NVIDIA's libraries from wheels, OpenBLAS of PyPI if it is there" OFF)
set(FMO_OPENBLAS_DIR "" CACHE PATH "Folder scipy_openblas32 of that PyPI package, to be used as OpenBLAS; empty: the system's")

set(FMO_WHEEL_RPATH "")
if(FMO_WHEEL)
    # Where dlopen finds cuBLAS and cuSOLVER, seen from fmo/lib: wheels of CUDA 13, and of CUDA 12.
    set(site $ORIGIN/../..)
    set(FMO_WHEEL_RPATH ${site}/nvidia/cu13/lib ${site}/nvidia/cublas/lib ${site}/nvidia/cusolver/lib)
    if(EXISTS ${HDF5_ROOT}/lib/libhdf5.a) # cmake/packaging/hdf5.sh; Debian's static one is for programs only
        set(HDF5_USE_STATIC_LIBRARIES ON)
    endif()
    # C++ in GPU code: of libstdc++ only what is used, since its random_device, which comes with CUB's exceptions, needs
    # glibc 2.36; and the system's libgcc_s, since the static unwinder needs 2.35.
    add_link_options(-Wl,-s "$<IF:$<LINK_LANGUAGE:CUDA>,-static-libstdc++;-Wl$<COMMA>--gc-sections,-static-libgcc>")
    if(NOT FMO_OPENBLAS_DIR)
        find_package(Python3 COMPONENTS Interpreter)
        execute_process(COMMAND ${Python3_EXECUTABLE} -c
                        "import os, scipy_openblas32 as s; print(os.path.dirname(s.get_lib_dir()))"
                        OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        if(folder)
            set_property(CACHE FMO_OPENBLAS_DIR PROPERTY VALUE ${folder})
        endif()
    endif()
endif()

# fmo_wheel_target(target): a library or program for wheels has its own stat and the like, and loads the parts of glibc
# that older ones have as libraries of their own.
function(fmo_wheel_target target)
    if(FMO_WHEEL)
        target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/packaging/old_glibc.c)
        target_link_options(${target} PRIVATE
            -Wl,--push-state,--no-as-needed,-l:libpthread.so.0,-l:libdl.so.2,--pop-state)
    endif()
endfunction()

# fmo_use_scipy_openblas(folder): imported targets as pkg-config makes them, for an OpenBLAS whose functions have
# a prefix.
function(fmo_use_scipy_openblas folder)
    set(library ${folder}/lib/libscipy_openblas.so)
    if(NOT EXISTS ${library})
        message(FATAL_ERROR "FMO_OPENBLAS_DIR: ${library} is not there: give the folder scipy_openblas32 of the unpacked wheel")
    endif()
    set(functions cblas_dgemm cblas_dgemv LAPACKE_dsyevd LAPACKE_dsygvd LAPACKE_dpotrf LAPACKE_dtrtri openblas_get_parallel
                  openblas_get_num_threads openblas_set_num_threads openblas_get_num_procs)
    list(TRANSFORM functions REPLACE "(.+)" "\\1=scipy_\\1")
    add_library(PkgConfig::FMO_CBLAS INTERFACE IMPORTED GLOBAL)
    target_include_directories(PkgConfig::FMO_CBLAS INTERFACE ${folder}/include)
    target_compile_definitions(PkgConfig::FMO_CBLAS INTERFACE ${functions})
    target_link_libraries(PkgConfig::FMO_CBLAS INTERFACE ${library})
    add_library(PkgConfig::FMO_LAPACKE ALIAS PkgConfig::FMO_CBLAS)
endfunction()
