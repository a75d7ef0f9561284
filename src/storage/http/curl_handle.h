// SPDX-License-Identifier: Apache-2.0
/// \file What of libcurl the loop needs, with owners and with its codes made ours.
#pragma once

#include <curl/curl.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "headrace/storage/http/exchange.h"
#include "headrace/storage/http/loop.h"

namespace headrace::http {

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeMulti {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};

/// Once a process, before the first handle.
void init_curl();

/// An easy handle that is used for one request after another. One thread.
class EasyHandle {
 public:
  struct Callbacks {
    curl_write_callback header;       ///< with the owner of the request
    curl_write_callback body;         ///< with the owner of the request
    curl_opensocket_callback open;    ///< with `sockets`
    curl_closesocket_callback close;  ///< with `sockets`
    void* sockets = nullptr;
  };
  EasyHandle(const LoopOptions& options, const Callbacks& callbacks);

  CURL* get() const { return easy_.get(); }
  /// `request` stays alive until the attempt is over.
  void prepare(const Request& request, void* owner);
  /// Only connects to the server of `request`, without TLS; then `socket`.
  void prepare_connection(const Request& request, void* owner);
  /// The connection's, or -1. The caller keeps curl from closing it.
  int socket() const;
  /// The one place where curl's codes become outcomes.
  Outcome outcome(CURLcode code, int status) const;

 private:
  void configure();

  const LoopOptions& options_;
  const Callbacks callbacks_;
  std::unique_ptr<CURL, FreeEasy> easy_;
  std::unique_ptr<curl_slist, FreeList> headers_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  std::string server_;
  bool clean_ = false;  // configured, and last used for a GET
};

}  // namespace headrace::http
