# lld, where it is installed: a sanitized build has hundreds of programs, and it links them faster than the compiler's own
# linker. Builds that are installed or cross-compiled keep the compiler's. mold is not used: version 1.10 of Debian 12 has
# linked programs whose read-only part after relocation could not be protected, so that they did not start.
if(TDM_LTO OR TDM_BARE)
	return()
endif()
include(CheckLinkerFlag)
check_linker_flag(C -fuse-ld=lld TDM_HAS_lld)
if(TDM_HAS_lld)
	add_link_options(-fuse-ld=lld)
endif()
