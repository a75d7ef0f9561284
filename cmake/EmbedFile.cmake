# SPDX-License-Identifier: Apache-2.0
# Run by embed(): writes OUTPUT, a C++ source that holds the bytes of INPUT.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(................................................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
file(WRITE ${OUTPUT} "#include <string_view>
namespace headrace::embedded {
namespace {
constexpr char kBytes[] = {
${bytes}0};
}
extern const std::string_view ${NAME};
constinit const std::string_view ${NAME}(kBytes, sizeof(kBytes) - 1);
}
")
