#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes golden_schemes.txt: whole orders of the schemes blocks and node, built as lists, which is
not how the C++ code works. The file fixes them for ever; a change needs a new version."""
from golden_order import M64, VERSION, Order, mix64, mix_key

RUNS, SHORT, WINDOW, PART, NODE = (int.from_bytes(name, "big") for name in
                                   (b"runs", b"shrt", b"wind", b"part", b"node"))


def permuted(key, items):
    order = Order(0, 0, len(items))
    order.key = key
    return [items[order.at(i)] for i in range(len(items))]


def blocks(seed, epoch, size, block, window):
    key = mix_key(VERSION, seed, epoch, size)
    whole = size // block
    runs = [list(range(i * block, (i + 1) * block)) for i in range(whole)]
    runs = permuted(mix_key(key, RUNS, block), runs)
    if size % block:
        place = ((mix64(mix_key(key, SHORT)) >> 32) * (whole + 1)) >> 32
        runs.insert(place, list(range(whole * block, size)))
    flat = [sample for run in runs for sample in run]
    length = block * window
    windows = [flat[i:i + length] for i in range(0, size, length)]
    return [s for i, w in enumerate(windows) for s in permuted(mix_key(key, WINDOW, i), w)]


def node(seed, epoch, size, nodes, step):
    key = mix_key(VERSION, seed, epoch, size)
    dealt = permuted(mix_key(VERSION, seed, PART, size, nodes), list(range(size)))
    steps, rest = divmod(size, step)
    part = step // nodes
    last = [rest // nodes + (i < rest % nodes) for i in range(nodes)]
    own = []
    for i in range(nodes):
        count = steps * part + last[i]
        own.append(permuted(mix_key(key, NODE, i), dealt[:count]))
        dealt = dealt[count:]
    order = []
    for count in [[part] * nodes] * steps + [last]:
        for i in range(nodes):
            order += own[i][:count[i]]
            own[i] = own[i][count[i]:]
    return order


def main():
    print("# shuffle seed epoch size step : the samples at all positions")
    for seed, epoch in ((0, 0), (7, 3), (M64, 1000)):
        for size in (0, 1, 2, 7, 24, 25, 100):
            for block, window in ((1, 1), (3, 2), (4, 100), (8, 3)):
                order = blocks(seed, epoch, size, block, window)
                print(f"blocks:{block}x{window}", seed, epoch, size, 0, ":", *order)
            for nodes, step in ((1, 5), (2, 4), (3, 12), (4, 4)):
                order = node(seed, epoch, size, nodes, step)
                print(f"node:{nodes}", seed, epoch, size, step, ":", *order)


if __name__ == "__main__":
    main()
