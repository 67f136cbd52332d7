# The libraries fmo stands on. Debian: libhdf5-dev libtrexio-dev libopenblas-dev liblapacke-dev
# libjansson-dev zlib1g-dev pkg-config. CUDA is used when nvcc is found, never required.
find_package(PkgConfig REQUIRED)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(HDF5 REQUIRED COMPONENTS C)
if(FMO_TESTS) # tests read our files with it
    pkg_check_modules(FMO_TREXIO REQUIRED IMPORTED_TARGET trexio>=2.2)
endif()
pkg_check_modules(FMO_OPENBLAS REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(FMO_LAPACKE REQUIRED IMPORTED_TARGET lapacke)
pkg_check_modules(FMO_JANSSON REQUIRED IMPORTED_TARGET jansson)
find_package(ZLIB REQUIRED)

set(FMO_DEPENDENCIES ${FMO_OPENBLAS_LINK_LIBRARIES} ${FMO_LAPACKE_LINK_LIBRARIES} ${FMO_JANSSON_LINK_LIBRARIES}
                     ${HDF5_C_LIBRARIES} ${ZLIB_LIBRARIES} ${OpenMP_C_LIBRARIES})

set(FMO_WITH_CUDA OFF)
if(NOT FMO_CUDA STREQUAL "OFF")
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
        if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
            set(CMAKE_CUDA_ARCHITECTURES OFF) # those of a release
        endif()
        enable_language(CUDA)
        # Machine code of all from the PTX of one: the sources ask for nothing beyond 8.0, and sm_90's
        # is the same from it, kernel for kernel (docs/how-to/test-a-change.md). Each PTX of kernels with d shells
        # takes minutes, machine code from it seconds. PTX itself is for GPUs of other kinds.
        if(NOT CMAKE_CUDA_ARCHITECTURES)
            string(APPEND CMAKE_CUDA_FLAGS
                   " --generate-code=arch=compute_75,code=[compute_75]"
                   " --generate-code=arch=compute_80,code=[sm_80,sm_90,sm_100,sm_120,compute_80]")
        endif()
        find_package(CUDAToolkit REQUIRED)
        set(CMAKE_CUDA_STANDARD 17)
        set(CMAKE_CUDA_STANDARD_REQUIRED ON)
        set(FMO_WITH_CUDA ON)
        # Device code takes a seventh of the space; a kernel is unpacked when it is first used.
        set(FMO_CUDA_COMPRESS size CACHE STRING "Compression of device code: size, balance, speed or none")
        set_property(CACHE FMO_CUDA_COMPRESS PROPERTY STRINGS size balance speed none)
        if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
            list(APPEND FMO_CUDA_FLAGS --compress-mode=${FMO_CUDA_COMPRESS})
        elseif(NOT FMO_CUDA_COMPRESS STREQUAL "none")
            list(APPEND FMO_CUDA_FLAGS -Xfatbin=-compress-all)
        endif()
    elseif(FMO_CUDA STREQUAL "ON")
        message(FATAL_ERROR "FMO_CUDA=ON but no nvcc was found: put it on PATH or set CUDACXX")
    else()
        message(STATUS "nvcc not found: built without CUDA")
    endif()
endif()

# MPI and NCCL are used where they are found, by libfmo_mpi and by programs; libfmo needs neither.
set(FMO_WITH_MPI OFF)
if(NOT FMO_MPI STREQUAL "OFF")
    find_package(MPI QUIET COMPONENTS C)
    if(MPI_C_FOUND)
        set(FMO_WITH_MPI ON)
        list(APPEND FMO_DEPENDENCIES ${MPI_C_LIBRARIES})
    elseif(FMO_MPI STREQUAL "ON")
        message(FATAL_ERROR "FMO_MPI=ON but no MPI was found: install libopenmpi-dev and openmpi-bin")
    else()
        message(STATUS "MPI not found: built without libfmo_mpi")
    endif()
endif()
set(FMO_WITH_NCCL OFF)
if(FMO_WITH_CUDA AND NOT FMO_NCCL STREQUAL "OFF")
    find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
    find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
    mark_as_advanced(NCCL_INCLUDE_DIR NCCL_LIBRARY)
    if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
        set(FMO_WITH_NCCL ON)
    endif()
endif()
if(FMO_NCCL STREQUAL "ON" AND NOT FMO_WITH_NCCL)
    message(FATAL_ERROR "FMO_NCCL=ON but there is no CUDA or no NCCL: set NCCL_INCLUDE_DIR and NCCL_LIBRARY")
endif()

# Folders of dependencies that the loader does not search by itself; those of the system it does, or
# has links of the same soname in one that it does.
set(FMO_DEPENDENCY_DIRS "")
foreach(library IN LISTS FMO_DEPENDENCIES)
    cmake_path(GET library PARENT_PATH folder)
    if(folder AND NOT folder MATCHES "^(/usr)?/lib(64|32)?(/|$)")
        list(APPEND FMO_DEPENDENCY_DIRS ${folder})
    endif()
endforeach()
list(REMOVE_DUPLICATES FMO_DEPENDENCY_DIRS)
