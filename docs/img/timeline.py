"""Draws docs/img/timeline.svg: the timeline of docs/img/pipeline-gpu.svg, reduced to two rows.

docs/img/pipeline-gpu.svg is the output of `inflight timeline` for the pipeline bench on an H200. This script reads its
spans, merges the kernels of each step, and fills the host row with the time between two submissions or waits, in which
the host prepares and uploads the next batch. Run it as `python3 docs/img/timeline.py`.
"""

import re
from pathlib import Path

FOLDER = Path(__file__).parent
FIRST_X, PIXELS_PER_MS = 190.0, 13.0  # of the source
STEPS, LEFT, SCALE, ROW = 6, 96, 8.0, 26  # of the picture

source = (FOLDER / "pipeline-gpu.svg").read_text()
labels = [(float(y), name) for y, name in re.findall(r'<text x="16" y="([\d.]+)" class="label">([^<]+)</text>', source)]
spans = re.findall(
    r'<rect class="span[^"]*" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"[^>]*><title>([^\n<]+)', source
)


def of(track):
    """The spans of a track as (begin, end, name), in milliseconds."""
    tops = sorted(y for y, _ in labels)
    top = next(y for y, name in labels if name == track)
    below = min((y for y in tops if y > top), default=float("inf"))
    return sorted(
        ((float(x) - FIRST_X) / PIXELS_PER_MS, (float(x) + float(w) - FIRST_X) / PIXELS_PER_MS, name)
        for x, y, w, name in spans
        if top - 15 <= float(y) < below - 15
    )


def merge(intervals, gap):
    merged = []
    for begin, end in sorted(intervals):
        if merged and begin - merged[-1][1] < gap:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


host = of("main")
waits = [(begin, end) for begin, end, name in host if name.startswith("wait") and end - begin > 0.1]
busy = merge([(begin, end) for begin, end, _ in host], 0.3)
prepares = [(before[1], after[0]) for before, after in zip(busy, busy[1:]) if after[0] - before[1] > 1]
# The kernels of one step begin and end together in a trace: their batch does.
batches = sorted({(round(begin, 1), round(end, 1)) for begin, end, name in of("cuda stream 2") if end - begin > 2})
steps = []
for begin, end in batches:
    if steps and begin < steps[-1][1] - 1:
        steps[-1] = (min(begin, steps[-1][0]), max(end, steps[-1][1]))
    else:
        steps.append((begin, end))

steps, prepares = steps[:STEPS], prepares[:STEPS]
last = steps[-1][1] + 1
waits = [wait for wait in waits if wait[1] <= last]
width, height = round(LEFT + last * SCALE + 12), 128
picture = [
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
    "font-family=\"system-ui, 'Helvetica Neue', Arial, sans-serif\" font-size=\"12\">",
    f'<rect width="{width}" height="{height}" fill="#fff"/>',
]


def x(ms):
    return f"{LEFT + ms * SCALE:.1f}"


def bar(begin, end, y, color, text):
    size = (end - begin) * SCALE
    picture.append(f'<rect x="{x(begin)}" y="{y}" width="{size:.1f}" height="{ROW}" rx="2" fill="{color}" stroke="#fff"/>')
    if size > 9 * len(text):
        middle = f"{LEFT + (begin + end) / 2 * SCALE:.1f}"
        picture.append(f'<text x="{middle}" y="{y + 17}" fill="#fff" text-anchor="middle">{text}</text>')


for ms in range(0, int(last) + 1, 10):
    picture.append(f'<line x1="{x(ms)}" x2="{x(ms)}" y1="30" y2="108" stroke="#e5e7eb"/>')
    picture.append(f'<text x="{x(ms)}" y="124" fill="#6b7280" text-anchor="middle">{ms} ms</text>')
for position, (color, text) in enumerate(
    [("#b7791f", "host prepares a batch"), ("#c8443c", "host waits for the previous loss"), ("#2f6fb0", "device computes")]
):
    left = LEFT + [0, 160, 380][position]
    picture.append(f'<rect x="{left:.1f}" y="8" width="11" height="11" rx="2" fill="{color}"/>')
    picture.append(f'<text x="{left + 16:.1f}" y="18" fill="#1f2937">{text}</text>')
for y, name in [(36, "host thread"), (36 + ROW + 12, "H200")]:
    picture.append(f'<text x="{LEFT - 10}" y="{y + 17}" fill="#1f2937" text-anchor="end">{name}</text>')
    picture.append(f'<rect x="{LEFT}" y="{y}" width="{last * SCALE:.1f}" height="{ROW}" fill="#f3f4f6"/>')
for number, (begin, end) in enumerate(prepares, 2):
    bar(begin, end, 36, "#b7791f", f"batch {number}")
for begin, end in waits:
    bar(begin, end, 36, "#c8443c", "")
for number, (begin, end) in enumerate(steps, 1):
    bar(begin, end, 36 + ROW + 12, "#2f6fb0", f"step {number}")
picture.append("</svg>\n")
(FOLDER / "timeline.svg").write_text("\n".join(picture))
print("steps", steps, "prepares", prepares, "waits", waits, sep="\n")
