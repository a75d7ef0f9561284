#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes golden_order.txt: the order of samples, worked out a second time and independently of
the C++ code. The file fixes the order for ever; a change of the order needs a new version."""

M64 = (1 << 64) - 1
VERSION, ROUNDS, SUBSTITUTE = 1, 8, 0x73756273


def mix64(x):
    x = (x + 0x9E3779B97F4A7C15) & M64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & M64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & M64
    return x ^ (x >> 31)


def mix_key(first, *rest):
    key = mix64(first)
    for number in rest:
        key = mix64(key ^ number)
    return key


class Order:
    def __init__(self, seed, epoch, size):
        self.size = size
        self.half = ((size - 1).bit_length() + 1) // 2 if size > 1 else 0
        self.key = mix_key(VERSION, seed, epoch, size)

    def at(self, x):
        if self.size < 2:
            return x
        mask = (1 << self.half) - 1
        while True:
            left, right = x >> self.half, x & mask
            for r in range(ROUNDS):
                value = mix64(self.key ^ mix64(((right << 8) | r) & M64)) & mask
                left, right = right, left ^ value
            x = (left << self.half) | right
            if x < self.size:
                return x

    def substitute(self, position, attempt):
        if self.size < 2:
            return position
        state = mix_key(self.key, SUBSTITUTE, position, attempt)
        bound = self.size - 1
        first, second = mix64(state), mix64((state + 0x9E3779B97F4A7C15) & M64)
        step = 1 + (((first >> 32) * bound) >> 32 if bound <= 0xFFFFFFFF else second % bound)
        return self.at((position + step) % self.size)


def main():
    print("# seed epoch size : the samples at all positions of a small set;")
    print("# seed epoch size @ position : the sample there, then its eight substitutes")
    seeds, epochs = (0, 1, 7, M64), (0, 1, 2, 1000)
    for seed in seeds:
        for epoch in epochs:
            for size in (0, 1, 2, 3, 5, 10, 17):
                order = Order(seed, epoch, size)
                print(seed, epoch, size, ":", *(order.at(p) for p in range(size)))
            for size in (1000, 10**6, 3 * 10**9, 10**12):
                order = Order(seed, epoch, size)
                for position in (0, 1, 2, size // 3, size // 2, size - 1):
                    print(seed, epoch, size, "@", position, ":", order.at(position),
                          *(order.substitute(position, a) for a in range(8)))


if __name__ == "__main__":
    main()
