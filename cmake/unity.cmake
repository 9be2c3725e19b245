# stoka_unity(TARGET FILE...) compiles several files of one folder as one, so that headers are parsed and
# templates instantiated only once for all of them. Neighbouring files form a group of at most STOKA_UNITY
# kilobytes. Larger groups make a full build faster, smaller groups a rebuild after a change of one file.
# 0 compiles each file separately. Files with SKIP_UNITY_BUILD_INCLUSION are always compiled separately.
set(STOKA_UNITY 120 CACHE STRING "Kilobytes of source compiled as one file; 0 compiles each file separately")

function(stoka_unity target)
  if(NOT STOKA_UNITY GREATER 0)
    return()
  endif()
  math(EXPR limit "${STOKA_UNITY} * 1024")
  list(SORT ARGN)
  set(last_folder "")
  set(group 0)
  set(size 0)
  foreach(file ${ARGN})
    get_filename_component(folder ${file} DIRECTORY)
    file(SIZE ${file} bytes)
    math(EXPR size "${size} + ${bytes}")
    if(NOT folder STREQUAL last_folder OR size GREATER limit)
      math(EXPR group "${group} + 1")
      set(size ${bytes})
    endif()
    set(last_folder ${folder})
    get_filename_component(name ${folder} NAME)
    set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${name}_${group})
  endforeach()
  # In a unity build, GCC warns of a class in a header with a member of internal linkage; compiled
  # separately, the same file gives no warning.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
