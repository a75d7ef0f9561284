// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/open_store.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "headrace/storage/local/local_store.h"
#include "headrace/storage/s3/s3_store.h"
#include "headrace/storage/single/single_store.h"

namespace headrace {
namespace {

/// Of a path; "" for a bare name.
std::size_t name_begins(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? 0 : slash + 1;
}

Result<std::unique_ptr<Store>> open_local(const Uri& uri, const Context& context,
                                          const StoreOptions& options) {
  const LocalStoreOptions local{.threads = options.local_threads};
  if (options.root == StoreOptions::Root::find_out) {
    struct stat status {};
    if (::stat(uri.path.c_str(), &status) != 0)
      return errno_error(errno, "open").at(uri.path).advise("check the path");
    if (!S_ISDIR(status.st_mode)) {
      if (!S_ISREG(status.st_mode)) {
        return Error(Code::invalid, "neither a folder nor a regular file").at(uri.path);
      }
      HEADRACE_TRY(auto split, split_object(uri));
      return make_single_store(make_local_store(split.first.path, context, local), split.second);
    }
  }
  return make_local_store(uri.path, context, local);
}

Result<std::unique_ptr<Store>> open_s3(const Uri& uri, const Context& context,
                                       const StoreOptions& options) {
  if (options.root == StoreOptions::Root::folder) {
    const bool slash = uri.path.empty() || uri.path.ends_with('/');
    return make_s3_store(uri.authority, slash ? uri.path : uri.path + '/', context, options.s3,
                         options.stop);
  }
  HEADRACE_TRY(OpenedS3 opened,
               find_s3_store(uri.authority, uri.path, context, options.s3, options.stop));
  if (opened.only_key.empty()) return std::move(opened.store);
  return make_single_store(std::move(opened.store), std::move(opened.only_key));
}

Result<std::unique_ptr<Store>> open_nfs(const Uri& uri, const Context& context,
                                        const StoreOptions& options) {
  const bool folder = options.root == StoreOptions::Root::folder;
  HEADRACE_TRY(OpenedNfs opened, open_nfs_store(uri, folder, context, options.nfs, options.stop));
  if (opened.only_key.empty()) return std::move(opened.store);
  if (folder) return Error(Code::invalid, "is a file, not a folder").at(uri.to_string());
  return make_single_store(std::move(opened.store), std::move(opened.only_key));
}

}  // namespace

Result<std::pair<Uri, std::string>> split_object(const Uri& uri) {
  const auto begin = name_begins(uri.path);
  if (begin == uri.path.size()) {
    return Error(Code::invalid, "names a folder, not an object", "add a name at the end")
        .at(uri.to_string());
  }
  Uri folder = uri;
  folder.path.resize(begin);
  if (folder.path.empty() && uri.scheme == Scheme::local) folder.path = ".";
  return std::pair(std::move(folder), uri.path.substr(begin));
}

Result<std::unique_ptr<Store>> open_store(const Uri& uri, const Context& context,
                                          const StoreOptions& options) {
  switch (uri.scheme) {
    case Scheme::local:
      return open_local(uri, context, options);
    case Scheme::s3:
      return open_s3(uri, context, options);
    case Scheme::nfs:
      return open_nfs(uri, context, options);
    case Scheme::memory:
      break;
  }
  return Error(Code::invalid, "no store reads this scheme",
               "give a path, s3://bucket/prefix or nfs://host/export/path")
      .at(uri.to_string());
}

}  // namespace headrace
