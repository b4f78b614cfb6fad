"""For each run of a results file of the peers' harness: the time of the best peers over its own.

Against: the best peer that keeps every value (plain C, that with -fno-math-errno -fno-trapping-math, by hand or by Highway
where the bits are those of scalar code), the best plain compiled C, the best -ffast-math one, and the fixed sequences of exp and
log by hand. For regions without division
or root the last counts among the best too, for what they round is free. Times are the fastest rounds', or medians with --median.
"""

import collections
import math
import sys

REGIONS = {"advance", "horner8", "expanded_poly", "distribute", "weighted_u8"}
PLAIN = {"clang", "gcc"}
IEEE = {"clang-ieee", "gcc-ieee"}
BY_HAND = {"hand", "highway"}


def best(times, wanted):
    found = [(time, family) for family, (time, strict) in times.items() if wanted(family, strict)]
    return min(found, default=(math.nan, "-"))


def mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def main():
    column = 5 if "--median" in sys.argv else 4
    rows = collections.defaultdict(dict)
    for line in open(sys.argv[1]):
        fields = line.rstrip("\n").split("\t")
        if len(fields) == 11 and fields[1].isdigit():
            rows[fields[1], fields[2], fields[0]][fields[3]] = (float(fields[column]), fields[10] == "same")
    sums = collections.defaultdict(list)
    print("| elements | profile | kernel | against the best | which | against plain C | against -ffast-math | against the sequence |")
    print("| ---: | --- | --- | ---: | --- | ---: | ---: | ---: |")
    for (count, isa, kernel), times in rows.items():
        if "rake" not in times:
            continue
        own = times["rake"][0]
        keeps = lambda family, strict: (
            family in PLAIN | IEEE
            or family in BY_HAND and strict
            or kernel in REGIONS and family.endswith("-fast")
        )
        fair, which = best(times, keeps)
        plain, _ = best(times, lambda family, _: family in PLAIN)
        fast, _ = best(times, lambda family, _: family.endswith("-fast"))
        sequence = f"{times['sequence'][0] / own:.2f}" if "sequence" in times else ""
        sums[count, isa].append((fair / own, plain / own))
        print(f"| {count} | {isa} | {kernel} | {fair / own:.2f} | {which} | {plain / own:.2f} | {fast / own:.2f} | {sequence} |")
    for (count, isa), ratios in sums.items():
        fair, plain = zip(*ratios)
        print(f"| {count} | {isa} | geometric mean | {mean(fair):.2f} | | {mean(plain):.2f} | | |")


main()
