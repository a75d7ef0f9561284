// SPDX-License-Identifier: Apache-2.0
/// \file Lists folders side by side, and one long folder in pieces side by side.
///
/// A server answers one listing page by page. When no other folder is left, an idle lister begins
/// a second listing in the middle of a long one, near a guessed key (key_space.h). What makes the
/// pieces whole is not the order of keys, which is never relied on:
///
///  1. The first key of each piece, and the last of each of its pages, are marks: all that follows
///     a mark in the server's own order is, or will be, listed by the piece that set it.
///  2. A piece that meets another's mark ends there.
///
/// So the pieces are all of the list whatever the guesses were, if the server has some order of
/// its own, which continuing a list asks of it anyway. A server that begins at the beginning
/// whatever it is told is found out by its first mark, and asked no second time. A key may come
/// twice where keys change meanwhile or the order is not that of bytes: an ObjectIndex drops it.
///
/// Takes two marks a thousand keys in memory. A folder of up to four pages costs no more requests
/// than before; a longer one at most 32 and a half more than its pages.
#pragma once

#include <span>
#include <stop_token>
#include <string>

#include "headrace/records/listing.h"
#include "headrace/storage/near_lister.h"

namespace headrace {

/// As list_folders.
Result<void> list_in_pieces(NearLister& store, std::span<const std::string> folders,
                            unsigned listers, const std::stop_token& stop, const ObjectSink& sink);

}  // namespace headrace
