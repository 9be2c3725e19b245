# stoka_embed(TARGET NAME DIR GLOB...) compiles the content of files into TARGET. The program gets it by
#   std::span<const stoka::EmbeddedFile> stoka::embedded::NAME()
# cmake/embed_files.cmake writes the bytes as C++ arrays at build time.
function(stoka_embed target name dir)
  set(files)
  foreach(pattern ${ARGN})
    file(GLOB found CONFIGURE_DEPENDS RELATIVE ${dir} ${dir}/${pattern})
    list(APPEND files ${found})
  endforeach()
  list(SORT files)
  list(TRANSFORM files PREPEND ${dir}/ OUTPUT_VARIABLE paths)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/embedded_${name}.cpp)
  string(REPLACE ";" "|" joined "${files}")
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DDIR=${dir} -DFILES=${joined} -DOUT=${out}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${paths} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
