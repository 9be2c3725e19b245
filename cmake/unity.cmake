# stoka_unity(TARGET FILE...): has several files of one folder compiled as one, so that headers are read
# and templates instantiated once for all of them. A group is as many neighbours as have STOKA_UNITY
# kilobytes together: more is quicker for the whole, less is quicker after a change to one file. 0: each
# file on its own. Files that must stay on their own get SKIP_UNITY_BUILD_INCLUSION.
set(STOKA_UNITY 120 CACHE STRING "Kilobytes of source compiled as one file; 0: each file on its own")

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
  # A class of a header may hold what one source file keeps to itself; compiled alone that is no question.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
