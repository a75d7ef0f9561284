# SPDX-License-Identifier: Apache-2.0
# room(NAME [USES room...] [LINKS target...]): one library, its tests, fuzzers and benchmarks.
#
# A room sees only its own headers and those of the rooms it uses, through an include root of
# its own in the build tree: an upward include does not compile. Every file of the folder
# belongs to the room by its name, so none can be forgotten:
#   *_test.cc   one test program a room, label = room   *_fuzz.cc   a fuzzer each
#   *_bench.cc  a google-benchmark program each         *.h *.cc    the library
# Folders named testing/ hold what others need to test against the room: library <room>_testing.
include(GoogleTest)
enable_testing()
set_property(GLOBAL PROPERTY CTEST_TARGETS_ADDED 1) # no dashboard targets

function(room path)
  cmake_parse_arguments(A "" "" "USES;LINKS" ${ARGN})
  string(REPLACE "/" "_" name ${path})
  set(source_dir ${PROJECT_SOURCE_DIR}/src/${path})
  set(root ${PROJECT_BINARY_DIR}/rooms/${name})
  get_filename_component(parent ${root}/headrace/${path} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${source_dir} ${root}/headrace/${path} SYMBOLIC)

  file(GLOB_RECURSE all CONFIGURE_DEPENDS RELATIVE ${source_dir} ${source_dir}/*.h ${source_dir}/*.cc)
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(fuzzers ${all})
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  set(benches ${all})
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(FILTER all EXCLUDE REGEX "_(test|fuzz|bench)\\.cc$|(^|/)main\\.cc$")
  set(testing ${all})
  list(FILTER testing INCLUDE REGEX "(^|/)testing/")
  list(FILTER all EXCLUDE REGEX "(^|/)testing/")

  _room_library(headrace_${name} ${root} ${path} "${all}")
  target_link_libraries(headrace_${name} PUBLIC ${A_LINKS})
  set(used_testing "")
  foreach(used ${A_USES})
    string(REPLACE "/" "_" used ${used})
    target_link_libraries(headrace_${name} PUBLIC headrace_${used})
    if(TARGET headrace_${used}_testing)
      list(APPEND used_testing headrace_${used}_testing)
    endif()
  endforeach()

  if(testing)
    _room_library(headrace_${name}_testing ${root} ${path} "${testing}")
    target_link_libraries(headrace_${name}_testing PUBLIC headrace_${name} ${used_testing} GTest::gtest GTest::gmock)
    set(used_testing headrace_${name}_testing)
  endif()
  if(tests)
    list(TRANSFORM tests PREPEND ${source_dir}/)
    add_executable(headrace_${name}_test ${tests})
    set_target_properties(headrace_${name}_test PROPERTIES CXX_CLANG_TIDY "") # gtest's macros drown it
    target_link_libraries(headrace_${name}_test PRIVATE headrace_${name} ${used_testing}
      headrace_warnings GTest::gtest GTest::gmock GTest::gtest_main)
    target_compile_definitions(headrace_${name}_test PRIVATE
      HEADRACE_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data" HEADRACE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    gtest_discover_tests(headrace_${name}_test DISCOVERY_TIMEOUT 60
      TEST_PREFIX "${name}." PROPERTIES LABELS ${name} TIMEOUT 300)
  endif()
  foreach(file ${fuzzers})
    get_filename_component(fuzzer ${file} NAME_WE)
    add_executable(${fuzzer} ${source_dir}/${file})
    target_link_libraries(${fuzzer} PRIVATE headrace_${name} headrace_warnings)
    if(HEADRACE_FUZZ)
      target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
    else() # built in every build with a plain main that replays the corpus, so that it cannot rot
      target_sources(${fuzzer} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz_main.cc)
    endif()
    add_test(NAME ${name}.corpus.${fuzzer} COMMAND ${fuzzer} ${PROJECT_SOURCE_DIR}/tests/corpus/${fuzzer})
    set_tests_properties(${name}.corpus.${fuzzer} PROPERTIES LABELS "${name};fuzz" TIMEOUT 300)
  endforeach()
  foreach(file ${benches})
    get_filename_component(bench ${file} NAME_WE)
    add_executable(${bench} ${source_dir}/${file})
    target_link_libraries(${bench} PRIVATE headrace_${name} ${used_testing} headrace_warnings benchmark::benchmark_main)
  endforeach()
endfunction()

# Headers go into a FILE_SET, so that all_verify_interface_header_sets compiles each alone.
function(_room_library target root path files)
  set(headers ${files})
  list(FILTER headers INCLUDE REGEX "\\.h$")
  list(FILTER headers EXCLUDE REGEX "-inl\\.h$") # parts of files that Highway compiles once a target
  list(FILTER files INCLUDE REGEX "\\.cc$")
  list(TRANSFORM headers PREPEND ${root}/headrace/${path}/)
  list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/src/${path}/)
  if(NOT files)
    file(WRITE ${PROJECT_BINARY_DIR}/rooms/empty.cc "")
    set(files ${PROJECT_BINARY_DIR}/rooms/empty.cc)
  endif()
  add_library(${target} STATIC ${files})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${root} FILES ${headers})
  target_link_libraries(${target} PRIVATE headrace_warnings)
endfunction()
