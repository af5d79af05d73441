# A grammar of tree-sitter as a static library, tdm_grammar_<language>. Its C files are generated tables, fetched by
# scripts/install-deps: they get neither our warnings nor the sanitizers, and are optimised in every build, because they
# are most of the time that parsing takes.
if(DEFINED ENV{TIDEMARK_DEPS})
	set(deps $ENV{TIDEMARK_DEPS})
else()
	set(deps ${PROJECT_SOURCE_DIR}/.deps)
endif()
set(TDM_DEPS ${deps} CACHE PATH "where scripts/install-deps has put the grammars")

function(tdm_grammar language version)
	set(folder ${TDM_DEPS}/tree-sitter-${language}-${version}/src)
	if(NOT EXISTS ${folder}/parser.c)
		message(FATAL_ERROR "${folder}/parser.c is missing: run scripts/install-deps")
	endif()
	add_library(tdm_grammar_${language} STATIC ${folder}/parser.c ${folder}/scanner.c)
	target_include_directories(tdm_grammar_${language} PRIVATE ${folder})
	set_target_properties(tdm_grammar_${language} PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
	target_compile_options(tdm_grammar_${language} PRIVATE -w -O2 -g0 ${TDM_PLAIN})
endfunction()
