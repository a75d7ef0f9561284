# SPDX-License-Identifier: Apache-2.0
# embed(TARGET NAME FILE): FILE's bytes as `headrace::embedded::NAME`, a std::string_view that
# lives as long as the program. Declare it where it is used:
#   namespace headrace::embedded { extern const std::string_view prices; }
# So the program needs no file beside it at run time.
function(embed target name file)
  set(source ${PROJECT_BINARY_DIR}/embedded/${name}.cc)
  set(input ${PROJECT_SOURCE_DIR}/${file})
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DINPUT=${input} -DOUTPUT=${source}
      -P ${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake
    DEPENDS ${input} ${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake VERBATIM)
  set_source_files_properties(${source} PROPERTIES SKIP_LINTING ON)
  target_sources(${target} PRIVATE ${source})
endfunction()
