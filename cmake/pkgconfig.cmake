# Writes tidemark.pc at installation, because only then the prefix is known (cmake --install --prefix, cpack).
# In: in, out, prefix, includedir, libdir, description, version.
configure_file(${in} ${out} @ONLY)
