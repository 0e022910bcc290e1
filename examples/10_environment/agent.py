"""Learns to place ops on four GPUs, by the cross-entropy method, and is tested on graphs that it has not seen.

A linear policy: each op, in the order of HEFT, goes to the device with the largest weighted sum of the eight numbers
that the environment shows of it. Only the makespans of the 24 training graphs teach it the weights.
"""

import math
import random
import statistics
import sys

from tutti.envs import FEATURES, PlacementEnv

ROUNDS, CANDIDATES, ELITE = 10, 40, 8
TRAINING, SEALED = range(1, 25), range(1_000_001, 1_000_201)  # seeds of graphs
env = PlacementEnv(family="layered", ops=30, machine="p100-4")


def makespan(weights, seed):
    seen, _ = env.reset(seed=seed)
    ended = False
    while not ended:
        mask, best, most = env.action_masks(), None, -math.inf
        for action in range(env.action_count):
            if mask[action]:
                its = seen[action * FEATURES:(action + 1) * FEATURES]
                score = math.fsum(weight * number for weight, number in zip(weights, its))
                if score > most:
                    best, most = action, score
        seen, _, ended, _, info = env.step(best)
    return info["makespan_ns"]


def log_ratio(weights, seed, policy="heft"):
    """The logarithm of the agent's makespan over that of a policy of tutti."""
    ours = makespan(weights, seed)
    return math.log(ours / env.problem.plan(policy).summary["makespan_ns"])


def train(rng):
    centre, spread = [0.0] * FEATURES, [1.0] * FEATURES
    for _ in range(ROUNDS):
        drawn = [[rng.gauss(c, s) for c, s in zip(centre, spread)] for _ in range(CANDIDATES)]
        drawn.sort(key=lambda weights: math.fsum(math.log(makespan(weights, seed)) for seed in TRAINING))
        columns = list(zip(*drawn[:ELITE]))
        centre, spread = [statistics.fmean(c) for c in columns], [statistics.pstdev(c) + 0.02 for c in columns]
    return centre


weights = train(random.Random(1))
for policy in ("heft", "contention_eft"):
    logs = [log_ratio(weights, seed, policy) for seed in SEALED]
    error = 1.96 * statistics.stdev(logs) / math.sqrt(len(logs))
    low, mean, high = (math.exp(statistics.fmean(logs) + shift) for shift in (-error, 0, error))
    print(f"{mean:.3f}x {policy} (95 % interval {low:.3f} to {high:.3f}) on {len(logs)} unseen graphs")
    if policy == "heft" and high > 0.97:
        sys.exit("the agent does not beat HEFT by 3 %")
