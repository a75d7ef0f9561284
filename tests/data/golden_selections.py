#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes golden_selections.txt: orders of several sets in proportions and of samples with weights,
worked out with fractions and a line of intervals, which is not how the C++ code works. The file
fixes them for ever; a change needs a new version."""
from fractions import Fraction

from golden_order import M64, Order, mix_key
from golden_schemes import blocks

SHIFT, BITS = int.from_bytes(b"shft", "big"), 24


def selected(seed, epoch, sizes, repeat, shares, epoch_samples, weights):
    """The samples of an epoch, in canonical order."""
    line, sample = [], 0  # (sample, length)
    for i, size in enumerate(sizes):
        own = [Fraction(weights[sample + k]) if weights else Fraction(1) for k in range(size)]
        factor = Fraction(repeat[i]) if repeat else Fraction(1)
        if shares:
            factor = Fraction(shares[i]) / sum(own)
        line += [(sample + k, weight * factor) for k, weight in enumerate(own)]
        sample += size
    count = epoch_samples
    if not count:
        times = repeat or ["1"] * len(sizes)
        count = int(sum(size * Fraction(r) for size, r in zip(sizes, times)) + Fraction(1, 2))
    whole = sum(length for _, length in line)
    turned = int(f"{epoch & ((1 << BITS) - 1):0{BITS}b}"[::-1], 2)
    shift = (turned + mix_key(seed, SHIFT, count)) & ((1 << BITS) - 1)
    points = [(slot + Fraction(shift, 1 << BITS)) * whole / count for slot in range(count)]
    drawn, end, at = [], Fraction(0), 0
    for sample, length in line:
        end += length
        while at < count and points[at] < end:
            drawn.append(sample)
            at += 1
    return drawn


def main():
    print("# shuffle seed epoch epoch-samples ; sizes ; repeat ; shares ; weights : samples")
    cases = [
        ((10,), (), (), 0, ()), ((10,), (), (), 4, ()), ((10,), (), (), 23, ()),
        ((3, 5), ("1", "1"), (), 0, ()), ((3, 5), ("2", "0.5"), (), 0, ()),
        ((3, 5, 1), ("0", "1", "4"), (), 0, ()), ((4, 7), (), ("0.7", "0.3"), 0, ()),
        ((4, 7), (), ("1", "3"), 40, ()), ((6, 2), (), ("0", "1"), 5, ()),
        ((8,), (), (), 0, ("1", "2", "0", "0.25", "0.25", "1", "1", "1")),
        ((2, 3), ("3", "1"), (), 0, ("1", "0.5", "2", "2", "0.1")),
        ((2, 3), (), ("0.9", "0.1"), 20, ("1", "3", "2", "2", "0.1")),
    ]
    for seed, epoch in ((0, 0), (0, 1), (0, 6), (7, 3), (M64, 1000)):
        for sizes, repeat, shares, epoch_samples, weights in cases:
            drawn = selected(seed, epoch, sizes, repeat, shares, epoch_samples, weights)
            size = len(drawn)
            order = Order(seed, epoch, size)
            orders = {
                "none": range(size),
                "global": [order.at(i) for i in range(size)],
                "blocks:3x2": blocks(seed, epoch, size, 3, 2),
            }
            for shuffle, slots in orders.items():
                print(shuffle, seed, epoch, epoch_samples, ";", *sizes, ";", *repeat, ";", *shares, ";",
                      *weights, ":", *(drawn[slot] for slot in slots))


if __name__ == "__main__":
    main()
