// SPDX-License-Identifier: Apache-2.0
/// \file Goes the way to keys: asks STS, the container, the instance, a program.
///
/// Thread-safe; blocks for seconds at most, until `stop`. Secrets never enter an error's text.
#pragma once

#include <stop_token>

#include "headrace/base/clock.h"
#include "headrace/base/result.h"
#include "headrace/storage/s3/credentials.h"
#include "headrace/storage/s3/settings.h"

namespace headrace::s3 {

/// `settings` gives proxies and certificates; metadata is always asked directly.
///  * denied: STS or the container's server refused, in its words
///  * unavailable: it does not answer
///  * invalid: a file or a program that is not there, or answers what is no credentials
Result<Credentials> obtain(const Way& way, const Settings& settings, Clock& clock,
                           const std::stop_token& stop);

/// Of the JSON that container, metadata and programs answer with; the name of the token's field
/// differs ("Token", "SessionToken").
Result<Credentials> parse_credentials(std::string_view json, const char* token_field);

/// True if an error of `obtain` means that this machine has no instance metadata at all.
bool no_instance(const Way& way, const Error& error);

}  // namespace headrace::s3
