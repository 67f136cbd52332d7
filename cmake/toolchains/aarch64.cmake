# Toolchain file for aarch64 on another machine, with Debian's cross compiler. What is compiled runs under qemu-user, as
# small programs do while building, and the tests. .ci/aarch64 uses it.
# FMO_AARCH64_ROOT: a folder into which Debian's arm64 packages of libraries were unpacked (dpkg -x).
set(FMO_AARCH64_ROOT "$ENV{FMO_AARCH64_ROOT}" CACHE PATH "Folder of unpacked arm64 packages")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FMO_AARCH64_ROOT)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(folder ${FMO_AARCH64_ROOT}/usr/lib/aarch64-linux-gnu)
set(path ${folder}:${FMO_AARCH64_ROOT}/lib/aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=${path})
set(ENV{PKG_CONFIG_LIBDIR} ${folder}/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${FMO_AARCH64_ROOT})
set(CMAKE_FIND_ROOT_PATH ${FMO_AARCH64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-rpath-link=${path})
set(FMO_WHEEL_FOLDERS ${folder} /usr/aarch64-linux-gnu/lib)
