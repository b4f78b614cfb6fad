"""For each run of a results file of the peers' harness: the time of the best peers over its own.

Against: the best peer that keeps every value (plain C, that with -fno-math-errno -fno-trapping-math, by hand or by Highway
where the bits are those of scalar code), the best plain compiled C, the best -ffast-math one, and the fixed sequences of exp and
log by hand, the best polynomials of exp and log. For regions without division
or root the last counts among the best too, for what they round is free. Times are the fastest rounds', or medians with --median.
"""

import collections
import math
import sys

REGIONS = {"advance", "horner8", "expanded_poly", "distribute", "weighted_u8"}
PLAIN = {"clang", "gcc"}
IEEE = {"clang-ieee", "gcc-ieee"}
BY_HAND = {"hand", "highway"}
FAST = {"clang-fast", "gcc-fast"}
POLYNOMIAL = {"polynomial", "sleef", "highway"}


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
    print(
        "| elements | profile | kernel | against the best | which | against plain C | against -ffast-math "
        "| against the sequence | against polynomials |"
    )
    print("| ---: | --- | --- | ---: | --- | ---: | ---: | ---: | ---: |")
    for (count, isa, kernel), times in rows.items():
        if "rake" not in times:
            continue
        keeps = lambda family, strict: (
            family in PLAIN | IEEE
            or family in BY_HAND and strict
            or kernel in REGIONS and family in FAST
        )
        fair, which = best(times, keeps)
        plain, _ = best(times, lambda family, _: family in PLAIN)
        fast, _ = best(times, lambda family, _: family in FAST)
        polynomial, _ = best(times, lambda family, _: family in POLYNOMIAL and "sequence" in times)
        for family in ("rake", "rake-checked"):
            if family not in times:
                continue
            own = times[family][0]
            against = lambda time: "" if math.isnan(time) else f"{time / own:.2f}"
            sequence = times.get("sequence", (math.nan,))[0]
            name = kernel + family.removeprefix("rake").replace("-", ", ")
            if family == "rake":
                sums[count, isa].append((fair / own, plain / own))
            cells = [count, isa, name, against(fair), which, *map(against, (plain, fast, sequence, polynomial))]
            print("| " + " | ".join(map(str, cells)) + " |")
    for (count, isa), ratios in sums.items():
        fair, plain = zip(*ratios)
        print(f"| {count} | {isa} | geometric mean | {mean(fair):.2f} | | {mean(plain):.2f} | | | |")


main()
