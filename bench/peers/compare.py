"""Compares the outputs of `bench gpu` and `gpu.py`: `compare.py OURS THEIRS`.

A row of both has the same inputs. Where the means of the results are apart by more than the dtype allows, that is said, and
the exit code is 1. The table has milliseconds a call, and how often ours fits into the fastest other.
"""

import re
import sys

ROW = re.compile(r"^(?:(torch\.compile|torch|jax) +)?(\S.*?) +([0-9.]+) ms .*means (\S+) (\S+)$")


def rows(path):
    found = {}
    for line in open(path):
        row = ROW.match(line.strip())
        if row:
            peer, name, time, *means = row.groups()
            found[name, peer or "ours"] = float(time), [float(mean) for mean in means]
    return found


found = {**rows(sys.argv[1]), **rows(sys.argv[2])}
names = list(dict.fromkeys(name for name, _ in found))
peers = ["ours", "torch", "torch.compile", "jax"]
apart = 0
print("| | " + " | ".join(peers) + " | the fastest other by ours |\n" + "|---" * (len(peers) + 2) + "|")
for name in names:
    times = [found.get((name, peer), (None, None))[0] for peer in peers]
    others = [time for time in times[1:] if time]
    ratio = f"{min(others) / times[0]:.2f}" if others and times[0] else ""
    print(f"| {name} | " + " | ".join(f"{time:.3f}" if time else "" for time in times) + f" | {ratio} |")
    if (name, "ours") not in found:
        continue
    ours = found[name, "ours"][1]
    # The weighted mean may suffer from cancellation.
    scale = ours[0] or 1.0
    # 16-bit floats, TF32, and sums of millions of elements with cancellation.
    is_rough = name.startswith(("bf16", "tf32")) or name.endswith(".mlir")
    tolerance = 2e-2 if is_rough else 1e-3 if "sum" in name else 1e-4
    for peer in peers[1:]:
        _, theirs = found.get((name, peer), (None, None))
        if theirs and any(not abs(a - b) <= tolerance * scale for a, b in zip(ours, theirs)):
            apart += 1
            print(f"APART: {name}: ours {ours}, {peer} {theirs}")
print(f"{apart} of the peers' results are apart from ours")
sys.exit(apart > 0)
