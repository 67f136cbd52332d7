# Build type, options, warnings and sanitizers. As a part of another project fmo has no tests, and
# leaves the build type and what is installed to that project.
set(FMO_TESTS OFF)
if(PROJECT_IS_TOP_LEVEL)
    if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
        set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
    endif()
    option(BUILD_TESTING "Build the tests" ON)
    set(FMO_TESTS ${BUILD_TESTING})
endif()
option(FMO_INSTALL "Make the install target" ${PROJECT_IS_TOP_LEVEL})
option(FMO_INSTALL_STATIC "Install the static libraries too" ON)
set(rpath ON)
if(CMAKE_INSTALL_PREFIX MATCHES "^/(usr)?/*$")
    set(rpath OFF)
endif()
option(FMO_INSTALL_RPATH "Installed files find libfmo* relative to themselves; OFF: by the loader's search path, as \
packages of a distribution do" ${rpath})
option(FMO_EXPERIMENTS
       "Published experiments: strategies that auto never takes, libfmo_comm, fmo-bench beyond builds" ON)
option(FMO_WERROR "Treat warnings as errors" OFF)
set(FMO_SANITIZE OFF CACHE STRING
    "ON: AddressSanitizer and UndefinedBehaviorSanitizer; thread: ThreadSanitizer")
set_property(CACHE FMO_SANITIZE PROPERTY STRINGS OFF ON thread)
option(FMO_CUDA_QUICK "Compile GPU code in a fraction of the time, into slow code: to see that it compiles" OFF)
set(FMO_BLAS openblas CACHE STRING "BLAS with CBLAS and 32-bit integers, by its name in pkg-config: openblas, \
mkl-dynamic-lp64-gomp, or any other, such as blas, Debian's alternatives (OpenBLAS, BLIS, ATLAS, reference)")
set(lapack lapacke)
if(FMO_BLAS MATCHES "^mkl")
    set(lapack ${FMO_BLAS})
endif()
set(FMO_LAPACK ${lapack} CACHE STRING "LAPACKE, by its name in pkg-config")
set(FMO_CUDA AUTO CACHE STRING "GPU code: AUTO (if nvcc is found), ON or OFF")
set_property(CACHE FMO_CUDA PROPERTY STRINGS AUTO ON OFF)
set(FMO_MPI AUTO CACHE STRING "libfmo_mpi, messages between processes: AUTO (if MPI is found), ON or OFF")
set_property(CACHE FMO_MPI PROPERTY STRINGS AUTO ON OFF)
set(FMO_NCCL AUTO CACHE STRING "NCCL beside our own transports in fmo-bench: AUTO (if found), ON or OFF")
set_property(CACHE FMO_NCCL PROPERTY STRINGS AUTO ON OFF)

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # vector extensions, POSIX

if(FMO_TESTS)
    enable_testing()
endif()

set(FMO_WITH_EXPERIMENTS 0)
if(FMO_EXPERIMENTS)
    set(FMO_WITH_EXPERIMENTS 1)
endif()
add_compile_definitions(FMO_EXPERIMENTS=${FMO_WITH_EXPERIMENTS})

add_library(fmo_warnings INTERFACE)
# Clang reports loops that it does not unroll as requested; that is no fault, and speed is measured.
set(FMO_C_WARNINGS -Wall -Wextra -Wshadow -Wstrict-prototypes -Wvla $<$<C_COMPILER_ID:Clang>:-Wno-pass-failed>
                   $<$<BOOL:${FMO_WERROR}>:-Werror>)
target_compile_options(fmo_warnings INTERFACE $<$<COMPILE_LANGUAGE:C>:${FMO_C_WARNINGS}>)
if(FMO_SANITIZE)
    set(FMO_SANITIZE_FLAGS -fsanitize=address,undefined -fno-sanitize-recover=all
                           -fno-omit-frame-pointer)
    if(FMO_SANITIZE STREQUAL "thread")
        # GCC takes vectors that are set lane by lane for uninitialised ones where each access is watched.
        set(FMO_SANITIZE_FLAGS -fsanitize=thread -fno-omit-frame-pointer
                               $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    endif()
    add_compile_options("$<$<COMPILE_LANGUAGE:C>:${FMO_SANITIZE_FLAGS}>")
    add_link_options("$<$<LINK_LANGUAGE:C>:${FMO_SANITIZE_FLAGS}>")
endif()

# Two build folders give the same bytes: debugging information names no absolute paths, except in
# debug builds. Nothing else in our code holds paths of the source or build folder.
if(CMAKE_C_FLAGS MATCHES "-g" OR NOT CMAKE_BUILD_TYPE MATCHES "^(Debug|Release)$")
    set(map -ffile-prefix-map=${CMAKE_BINARY_DIR}=./build -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.
            -ffile-prefix-map=${PROJECT_BINARY_DIR}=./build)
    list(JOIN map "," joined)
    add_compile_options("$<$<COMPILE_LANGUAGE:C>:${map}>" $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${joined}>)
endif()

# Host code inside .cu gets the C warnings that C++ knows.
set(FMO_CUDA_FLAGS -Xcompiler=-Wall,-Wextra,-fopenmp,-fvisibility=hidden)
if(FMO_WERROR)
    list(APPEND FMO_CUDA_FLAGS -Xcompiler=-Werror --Werror=all-warnings -Xptxas=--warning-as-error)
endif()
