# Toolchain: 64-bit ARM, with Debian's cross compiler; tests run under qemu-user. The compiler brings its C library along, so that no package
# of the other architecture has to be installed.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(sysroot /usr/aarch64-linux-gnu)

# Return addresses on the stack are signed, as newer distributions build everything.
set(CMAKE_C_FLAGS_INIT -mbranch-protection=standard)
set(CMAKE_CXX_FLAGS_INIT -mbranch-protection=standard)

# Programs name their loader and its libraries themselves. To look for files below another root (-L), qemu takes a lock that a child of
# fork() may find taken for ever.
set(CMAKE_EXE_LINKER_FLAGS_INIT
	"-Wl,--dynamic-linker=${sysroot}/lib/ld-linux-aarch64.so.1,-rpath,${sysroot}/lib,--disable-new-dtags")

# Libraries of this machine are of no use.
set(CMAKE_FIND_ROOT_PATH ${sysroot})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# The signatures that the architecture prescribes take long to compute; qemu's own are as good.
find_program(TDM_QEMU NAMES qemu-aarch64 qemu-aarch64-static)
if(TDM_QEMU)
	set(CMAKE_CROSSCOMPILING_EMULATOR "${TDM_QEMU};-cpu;max,pauth-impdef=on;-L;/")
endif()
