# find_package(gmod): gmod::device has gmod_device.cuh, for kernels, and gmod::gmod has gmod.h and the library, for host
# code that calls it. Programs need neither to run under GMOD.
if(NOT TARGET gmod::device)
  get_filename_component(gmod_include "${CMAKE_CURRENT_LIST_DIR}/@INCLUDEDIR@" ABSOLUTE)
  get_filename_component(gmod_library "${CMAKE_CURRENT_LIST_DIR}/../../libgmod.so" ABSOLUTE)
  add_library(gmod::device INTERFACE IMPORTED)
  set_target_properties(gmod::device PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${gmod_include}")
  add_library(gmod::gmod SHARED IMPORTED)
  set_target_properties(gmod::gmod PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${gmod_include}"
    IMPORTED_LOCATION "${gmod_library}" IMPORTED_SONAME libgmod.so)
  unset(gmod_include)
  unset(gmod_library)
endif()
