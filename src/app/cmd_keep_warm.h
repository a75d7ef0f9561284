// SPDX-License-Identifier: Apache-2.0
/// \file `headrace keep warm`, a subcommand with options of its own.
#pragma once

#include "command.h"

namespace headrace::app {

void add_keep_warm(CLI::App& keep, Invocation& invocation);

}  // namespace headrace::app
