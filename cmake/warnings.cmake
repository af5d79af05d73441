# The warnings for every target of the project, with gcc and clang.
add_library(tdm_warnings INTERFACE)
target_compile_options(tdm_warnings INTERFACE
	-Wall -Wextra -Werror -Wundef -Wshadow -Wformat=2 -Wwrite-strings -Wcast-qual -Wpointer-arith -Wvla
	$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition>)
