"""The founding study as a Python script, for benchmarks: what a user without this program would write.

    python3 benches/founding.py study                 both parts of the study
    python3 benches/founding.py csv ROWS FILE         a grid of so many rows through csv.writer, with the columns of a sweep
    python3 benches/founding.py chart FILE            a chart of five lines of 200 points, 1600 x 1000: seconds of the later ones
"""

import csv
import random
import sys
import time

PEAK, BANDWIDTH = 989e12, 3.35e12
TARGET, DRAFTER = (7.50e9, 131072, 8.03e9), (1.24e9, 32768, 1.24e9)
USABLE = 0.9 * 80e9


def step_time(model, batch, tokens, context):
    params, kv, _ = model
    return max(2 * params * batch * tokens / PEAK, (2 * params + kv * context * batch) / BANDWIDTH)


def bound(model, batch, tokens, context):
    params, kv, _ = model
    return "compute" if 2 * params * batch * tokens / PEAK > (2 * params + kv * context * batch) / BANDWIDTH else "memory"


def expected_tokens(alpha, k):
    return (1 - alpha ** (k + 1)) / (1 - alpha)


def speculative_token(p, q):
    x = random.choices(range(len(q)), q)[0]
    if random.random() < min(1.0, p[x] / q[x]):
        return x, True
    residual = [max(0.0, a - b) for a, b in zip(p, q)]
    return random.choices(range(len(p)), residual)[0], False


def study():
    p, q = [0.40, 0.25, 0.15, 0.10, 0.06, 0.04], [0.30, 0.35, 0.05, 0.20, 0.05, 0.05]
    counts, accepted, trials = [0] * 6, 0, 200_000
    for _ in range(trials):
        token, was_accepted = speculative_token(p, q)
        counts[token] += 1
        accepted += was_accepted
    distance = sum(abs(count / trials - chance) for count, chance in zip(counts, p)) / 2
    print(f"acceptance {accepted / trials:.3f}, theory {sum(map(min, p, q)):.3f}, total variation {distance:.4f}")
    for k in [1, 2, 4, 8]:
        rounds, tokens = 50_000, 0
        for _ in range(rounds):
            run = 0
            while run < k and random.random() < 0.7:
                run += 1
            tokens += run + 1
        print(f"k={k}: {tokens / rounds:.3f}, theory {expected_tokens(0.7, k):.3f}")
    for batch in [1, 16, 64, 256]:
        for alpha in [0.6, 0.8]:
            cells = []
            for k in [1, 2, 4, 6, 8]:
                round_s = k * step_time(DRAFTER, batch, 1, 2048) + step_time(TARGET, batch, k + 1, 2048)
                cells.append(expected_tokens(alpha, k) * step_time(TARGET, batch, 1, 2048) / round_s)
            print(batch, alpha, *(f"{cell:.2f}" for cell in cells))


def rows(count):
    made = 0
    while True:
        for context in range(256, 4096 + 1, 256):
            for batch in range(1, 65):
                for alpha in [0.30 + 0.01 * step for step in range(64)]:
                    for k in range(1, 17):
                        base = step_time(TARGET, batch, 1, context)
                        draft = k * step_time(DRAFTER, batch, 1, context)
                        verify = step_time(TARGET, batch, k + 1, context)
                        tokens = expected_tokens(alpha, k)
                        blocks = -(-(context + k + 1) // 16) * 16
                        own = 2 * TARGET[2] + batch * TARGET[1] * (-(-(context + 1) // 16) * 16)
                        both = 2 * (TARGET[2] + DRAFTER[2]) + batch * (TARGET[1] + DRAFTER[1]) * blocks
                        round_s = draft + verify
                        yield [
                            "founding-h100", "founding-llama-3-8b", "llama-1b", "ideal", "aggregate", 1, batch, context, k, k + 1,
                            "iid", alpha, tokens, base, draft, verify, 0, round_s, tokens * base / round_s, batch / base,
                            batch * tokens / round_s, bound(TARGET, batch, 1, context), bound(DRAFTER, batch, 1, context),
                            bound(TARGET, batch, k + 1, context), own, both, own <= USABLE, both <= USABLE, "",
                        ]
                        made += 1
                        if made == count:
                            return


def chart(path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plot

    took = []
    for _ in range(6):
        begun = time.perf_counter()
        figure, axes = plot.subplots(figsize=(16, 10), dpi=100)
        batches = [1.05**at for at in range(200)]
        for k in [1, 2, 4, 6, 8]:
            values = []
            for batch in batches:
                round_s = k * step_time(DRAFTER, batch, 1, 2048) + step_time(TARGET, batch, k + 1, 2048)
                values.append(expected_tokens(0.8, k) * step_time(TARGET, batch, 1, 2048) / round_s)
            axes.plot(batches, values, label=f"k={k}")
        axes.set_xscale("log")
        axes.set_title("Speedup against batch")
        axes.legend()
        figure.savefig(path)
        plot.close(figure)
        took.append(time.perf_counter() - begun)
    print(sorted(took[1:])[2])


def main():
    match sys.argv[1:]:
        case ["study"]:
            study()
        case ["csv", count, path]:
            with open(path, "w", newline="") as file:
                csv.writer(file).writerows(rows(int(count)))
        case ["chart", path]:
            chart(path)
        case _:
            sys.exit(__doc__)


main()
