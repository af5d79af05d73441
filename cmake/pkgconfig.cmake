# Writes tidemark.pc during installation, because the prefix is not known earlier (cmake --install --prefix, cpack).
# Inputs: in, out, prefix, includedir, libdir, description, version.
configure_file(${in} ${out} @ONLY)
