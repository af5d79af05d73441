# What is installed where, and the Debian package.
#
# The library directory depends on the prefix: lib below /usr/local, lib/<architecture> below /usr, where the package is
# installed. So one of two components installs its files, and a third installs everything else:
#   common   commands, headers, pages
#   library  for `cmake --install`
#   package  for cpack
include(CMakePackageConfigHelpers)

set(installed_commands tidemark_command tidemarkd)
set(installed_libraries tidemark tidemark_static)
# What `make demo` and `make install` build: all that is installed, without tests and benchmarks.
add_custom_target(tidemark_installed DEPENDS ${installed_commands} ${installed_libraries} tidemark_metal)

install(TARGETS ${installed_commands} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT common)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT common
	FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES LICENSE README.md CHANGELOG.md ARCHITECTURE.md CONTRIBUTING.md
	DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tidemark COMPONENT common OPTIONAL)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tidemark COMPONENT common
	FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
if(TARGET tidemark_docs)
	install(DIRECTORY ${PROJECT_BINARY_DIR}/docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT common
		FILES_MATCHING PATTERN "*.1")
	install(FILES ${PROJECT_BINARY_DIR}/docs/bash/tidemark COMPONENT common
		DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
	install(FILES ${PROJECT_BINARY_DIR}/docs/bash/tidemark COMPONENT common RENAME tidemarkd
		DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()

# The Python package, where Debian's Python looks for it: below /usr in one directory for all versions, below /usr/local
# in one for each version.
function(tdm_install_python component directory)
	install(DIRECTORY python/tidemark DESTINATION ${directory} COMPONENT ${component} ${ARGN}
		FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
endfunction()

function(tdm_install_library component libdir)
	set(export tidemark_${component})
	set(generated ${PROJECT_BINARY_DIR}/${component})
	set(cmakedir ${libdir}/cmake/tidemark)
	install(TARGETS ${installed_libraries} EXPORT ${export}
		LIBRARY DESTINATION ${libdir} COMPONENT ${component} NAMELINK_COMPONENT ${component} ${ARGN}
		ARCHIVE DESTINATION ${libdir} COMPONENT ${component} ${ARGN})
	install(TARGETS tidemark_metal LIBRARY DESTINATION ${libdir} COMPONENT ${component} ${ARGN})
	install(EXPORT ${export} FILE tidemarkTargets.cmake NAMESPACE tidemark:: DESTINATION ${cmakedir}
		COMPONENT ${component} ${ARGN})
	configure_package_config_file(cmake/tidemarkConfig.cmake.in ${generated}/tidemarkConfig.cmake
		INSTALL_DESTINATION ${cmakedir} NO_SET_AND_CHECK_MACRO)
	write_basic_package_version_file(${generated}/tidemarkConfigVersion.cmake COMPATIBILITY SameMinorVersion)
	install(FILES ${generated}/tidemarkConfig.cmake ${generated}/tidemarkConfigVersion.cmake
		DESTINATION ${cmakedir} COMPONENT ${component} ${ARGN})
	install(CODE "
		execute_process(COMMAND \"\${CMAKE_COMMAND}\"
			\"-Din=${PROJECT_SOURCE_DIR}/cmake/tidemark.pc.in\" \"-Dout=${generated}/tidemark.pc\"
			\"-Dprefix=\${CMAKE_INSTALL_PREFIX}\" \"-Dincludedir=${CMAKE_INSTALL_INCLUDEDIR}\" \"-Dlibdir=${libdir}\"
			\"-Ddescription=${PROJECT_DESCRIPTION}\" \"-Dversion=${PROJECT_VERSION}\"
			-P \"${PROJECT_SOURCE_DIR}/cmake/pkgconfig.cmake\" COMMAND_ERROR_IS_FATAL ANY)"
		COMPONENT ${component} ${ARGN})
	install(FILES ${generated}/tidemark.pc DESTINATION ${libdir}/pkgconfig COMPONENT ${component} ${ARGN})
endfunction()

set(package_libdir lib)
if(CMAKE_LIBRARY_ARCHITECTURE)
	set(package_libdir lib/${CMAKE_LIBRARY_ARCHITECTURE})
endif()
tdm_install_library(library ${CMAKE_INSTALL_LIBDIR})
tdm_install_library(package ${package_libdir} EXCLUDE_FROM_ALL)
execute_process(COMMAND /usr/bin/python3 -c "import sys; print('%d.%d' % sys.version_info[:2])"
	OUTPUT_VARIABLE python_version OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT python_version)
	set(python_version 3)
endif()
set(TDM_PYTHON_DIR lib/python${python_version}/dist-packages CACHE STRING "where the Python package is installed, below the prefix")
tdm_install_python(library ${TDM_PYTHON_DIR})
tdm_install_python(package lib/python3/dist-packages EXCLUDE_FROM_ALL)
install(FILES LICENSE DESTINATION share/doc/tidemark RENAME copyright COMPONENT package EXCLUDE_FROM_ALL)

# What a fleet needs: rules, dashboard, examples. The units are for the package, whose commands are in /usr/bin.
install(DIRECTORY deploy DESTINATION ${CMAKE_INSTALL_DATADIR}/tidemark COMPONENT common)
if(TARGET tidemarkd)
	install(FILES deploy/systemd/tidemarkd.service deploy/systemd/tidemarkd.socket
		DESTINATION lib/systemd/system COMPONENT package EXCLUDE_FROM_ALL)
	install(FILES deploy/systemd/tidemark.sysusers DESTINATION lib/sysusers.d RENAME tidemark.conf
		COMPONENT package EXCLUDE_FROM_ALL)
	install(FILES deploy/systemd/tidemark.tmpfiles DESTINATION lib/tmpfiles.d RENAME tidemark.conf
		COMPONENT package EXCLUDE_FROM_ALL)
	set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/postinst
		${PROJECT_SOURCE_DIR}/cmake/debian/prerm ${PROJECT_SOURCE_DIR}/cmake/debian/postrm)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tidemark)
set(CPACK_PACKAGE_VENDOR "Tidemark developers")
set(CPACK_PACKAGE_CONTACT "Tidemark developers <dev@tidemark.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DESCRIPTION "Tidemark shows where every byte of a Tenstorrent accelerator's memory is:
who holds it, at which address, why it peaked, whether it leaks, and whether
the next model will fit. This package contains the command, the client library
and the files needed to build programs with it.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
	OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_INSTALL_CMAKE_PROJECTS
	"${PROJECT_BINARY_DIR};tidemark;common;/;${PROJECT_BINARY_DIR};tidemark;package;/")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "fonts-dejavu-core, libcurl4") # letters in charts; --connect
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3 (>= 3.11)")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
