# Toolchain: 64-bit ARM, with Debian's cross compiler; tests run under qemu-user. The compiler comes with its own C
# library, so that no package of the other architecture has to be installed.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(sysroot /usr/aarch64-linux-gnu)

# Signs return addresses on the stack, as newer distributions do for all their packages.
set(CMAKE_C_FLAGS_INIT -mbranch-protection=standard)
set(CMAKE_CXX_FLAGS_INIT -mbranch-protection=standard)

# Programs have the paths of their loader and its libraries built in. To look for files below another root (-L), qemu
# takes a lock, which may stay taken forever in a forked child.
set(CMAKE_EXE_LINKER_FLAGS_INIT
	"-Wl,--dynamic-linker=${sysroot}/lib/ld-linux-aarch64.so.1,-rpath,${sysroot}/lib,--disable-new-dtags")

# The libraries of this machine cannot be used.
set(CMAKE_FIND_ROOT_PATH ${sysroot})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# The architecture's signatures are slow to compute under qemu; its own kind is just as good.
find_program(TDM_QEMU NAMES qemu-aarch64 qemu-aarch64-static)
if(TDM_QEMU)
	set(CMAKE_CROSSCOMPILING_EMULATOR "${TDM_QEMU};-cpu;max,pauth-impdef=on;-L;/")
endif()
