# Toolchain file for aarch64, with Debian's cross compiler and, for the small programs that are run while building,
# qemu-user. FMO_AARCH64_ROOT: a folder into which Debian's arm64 packages libjansson-dev, libjansson4, zlib1g-dev and
# zlib1g were unpacked (dpkg -x).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(root $ENV{FMO_AARCH64_ROOT}/usr)
set(ENV{PKG_CONFIG_LIBDIR} ${root}/lib/aarch64-linux-gnu/pkgconfig)
list(APPEND CMAKE_PREFIX_PATH ${root})
set(FMO_WHEEL_FOLDERS ${root}/lib/aarch64-linux-gnu /usr/aarch64-linux-gnu/lib)
set(ZLIB_LIBRARY ${root}/lib/aarch64-linux-gnu/libz.so)
set(ZLIB_INCLUDE_DIR ${root}/include)
