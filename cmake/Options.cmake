# SPDX-License-Identifier: Apache-2.0
# Compiler settings that hold for every target of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON) # the Python module links every room
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})

set(HEADRACE_SANITIZE "" CACHE STRING "sanitizers, e.g. address,undefined or thread")
option(HEADRACE_TRAIN "build headrace-train (needs libtorch)" ON)
option(HEADRACE_PYTHON "build the Python module (needs nanobind in .venv)" ON)
option(HEADRACE_FUZZ "link the fuzzers with libFuzzer (clang)" OFF)
option(HEADRACE_EXPERIMENTS "build experiments/coefficient_cache" OFF)

# A product and a sum are two roundings everywhere: a machine that fuses them would crop, resize
# and normalise a little differently.
add_compile_options(-ffp-contract=off)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()

if(HEADRACE_SANITIZE)
  add_compile_options(-fsanitize=${HEADRACE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HEADRACE_SANITIZE})
  add_compile_definitions(HEADRACE_SANITIZED)
endif()
if(HEADRACE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

add_library(headrace_warnings INTERFACE)
target_compile_options(headrace_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Werror
  -Wno-missing-field-initializers # options are set by designated initialisers; the rest is their default
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> # GCC 12 sees an overlap in `text = "literal"` (its bug 105651)
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
