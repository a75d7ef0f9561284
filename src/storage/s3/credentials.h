// SPDX-License-Identifier: Apache-2.0
/// \file Keys, and the ways there are to get them.
///
/// Values. settings.h says which way a machine means; obtain.h goes it; keeper.h keeps them fresh.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

namespace headrace::s3 {

struct Credentials {
  std::string access_key;  ///< empty: unsigned
  std::string secret_key;
  std::string session_token;
  std::string source;        ///< for messages: "the environment", "profile x of /home/…"
  std::int64_t expires = 0;  ///< seconds since 1970; 0: not known, or never

  bool unsigned_mode() const { return access_key.empty(); }
};

struct Way;

/// STS AssumeRole: a profile with role_arn and source_profile or credential_source.
struct AssumeRole {
  std::shared_ptr<const Way> base;  ///< whose keys sign the question
  std::string role_arn;
  std::string session_name;
  std::string external_id;
  std::string seconds;  ///< duration_seconds; empty: the role's own
};
/// STS AssumeRoleWithWebIdentity: Kubernetes (IRSA), GitHub, Slurm plugins.
struct WebIdentity {
  std::string role_arn;
  std::string session_name;
  std::string token_file;  ///< read anew each time: it is short-lived
};
/// A server beside the container: ECS, EKS Pod Identity, SageMaker.
struct Container {
  std::string url;
  std::string token;       ///< value of the header Authorization; may be empty
  std::string token_file;  ///< read anew each time; instead of `token`
};
/// The instance's role, by IMDSv2.
struct InstanceMetadata {
  std::string url;  ///< "http://169.254.169.254"
};
/// A program that prints keys as JSON.
struct Process {
  std::string command;  ///< for /bin/sh
};

struct Way {
  std::variant<Credentials, AssumeRole, WebIdentity, Container, InstanceMetadata, Process> how;
  std::string source;  ///< for messages: "profile x of /home/…"
  std::string sts;     ///< for the two that ask STS: "https://sts.eu-west-1.amazonaws.com"
  std::string region;  ///< of that STS
};

}  // namespace headrace::s3
