// SPDX-License-Identifier: Apache-2.0
/// \file What the environment and the shared files say: as whom, where, and by which road.
///
/// Pure functions of what is handed in; nothing is asked of any server. Keys are looked for as the
/// AWS tools do: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; the profile's role_arn
/// (AWS_PROFILE, else "default"); AWS_WEB_IDENTITY_TOKEN_FILE; the profile's keys in the
/// credentials file, then in the config file; its credential_process; the container's endpoint; the
/// instance's metadata, only at AWS; else none: requests go unsigned, as public buckets allow.
#pragma once

#include <optional>
#include <string>

#include "headrace/base/result.h"
#include "headrace/storage/s3/credentials.h"
#include "headrace/storage/s3/profiles.h"
#include "headrace/storage/s3/proxy.h"

namespace headrace::s3 {

/// Where the bucket's name stands.
enum class Addressing { automatic, path, virtual_host };

struct Settings {
  Credentials credentials;  ///< known at once; unsigned if there is another way, or none
  std::optional<Way> way;   ///< to get them first
  std::string region;       ///< empty: not said
  std::string endpoint;     ///< AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, endpoint_url; empty: AWS
  std::string ca_bundle;    ///< AWS_CA_BUNDLE, ca_bundle; empty: the system's
  Addressing addressing = Addressing::automatic;  ///< s3.addressing_style, AWS_VIRTUAL_HOSTING
  bool request_payer = false;            ///< AWS_REQUEST_PAYER=requester: this account pays
  bool dualstack = false;                ///< AWS_USE_DUALSTACK_ENDPOINT
  bool fips = false;                     ///< AWS_USE_FIPS_ENDPOINT
  std::optional<int> max_attempts = {};  ///< AWS_MAX_ATTEMPTS, max_attempts: in all, 1 to 1000
  Proxies proxies = {};
};

/// `invalid` for a profile that does not exist, or that gets its keys in a way that is not
/// supported (SSO, MFA), which the error names with the remedy; for values that cannot be.
Result<Settings> load_settings(const Environment& environment);

}  // namespace headrace::s3
