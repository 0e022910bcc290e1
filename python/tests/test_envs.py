"""Environments: needs the library, and neither torch nor numpy nor gymnasium."""

import copy
import pickle
import random
import time
import unittest
from array import array

import tutti
from tests.support import machine, needs_library
from tests.test_plans import GRAPH

# Per second of CPU time, by far; the figure is in docs/python.md.
LEAST_STEPS_PER_S = 20000


def allowed(env):
    return [action for action, good in enumerate(env.action_masks()) if good]


@needs_library
class Placement(unittest.TestCase):
    def setUp(self):
        from tutti import envs
        self.envs = envs
        self.env = envs.PlacementEnv(ops=20)

    def play(self, env, choose, seed=None, options=None):
        seen, _ = env.reset(seed=seed, options=options)
        total, ended, cut = 0.0, False, False
        while not (ended or cut):
            self.assertEqual(len(seen), env.observation_shape[0])
            seen, reward, ended, cut, info = env.step(choose(allowed(env)))
            total += reward
        return total, info

    def test_the_rewards_add_up_to_minus_the_makespan_over_the_bound(self):
        for seed in range(1, 6):
            total, info = self.play(self.env, random.Random(seed).choice, seed)
            self.assertAlmostEqual(total, -info["makespan_ns"] / info["lower_bound_ns"])
            self.assertAlmostEqual(info["gap"], -total - 1)
            plan = self.env.plan()
            self.assertEqual(self.env.problem.simulate(plan).makespan_ns, info["makespan_ns"])

    def test_the_same_seed_is_the_same_episode_and_no_seed_the_next_of_a_sequence(self):
        first = [self.play(self.env, min, 5), self.play(self.env, min), self.play(self.env, min)]
        again = [self.play(self.env, min, 5), self.play(self.env, min), self.play(self.env, min)]
        self.assertEqual(first, again)
        self.assertNotEqual(first[1], first[2])

    def test_an_observation_is_a_copy_and_features_are_relative_to_the_best_device(self):
        seen, _ = self.env.reset(seed=1)
        kept = array("f", seen)
        self.env.step(allowed(self.env)[0])
        self.assertEqual(seen, kept)
        finishes = [seen[a * self.envs.FEATURES + 1] for a in range(4)]
        self.assertEqual(min(finishes), 0)

    def test_an_action_that_is_not_allowed_raises_and_an_ended_episode_wants_a_reset(self):
        self.env.reset(seed=1)
        for wrong in (-1, 4, 1000, 2**32, -2**32):
            with self.assertRaisesRegex(tutti.TuttiError, "action"):
                self.env.step(wrong)
        self.play(self.env, min, 1)
        with self.assertRaisesRegex(tutti.TuttiError, "reset"):
            self.env.step(0)

    def test_own_problems_are_placed(self):
        problem = tutti.Problem(GRAPH, machine())
        env = self.envs.PlacementEnv([problem])
        self.assertEqual(env.action_count, 2)
        total, info = self.play(env, min)  # both on one device
        self.assertEqual((total, info["makespan_ns"]), (-2.0, 2000))
        drawn = self.envs.PlacementEnv(lambda seed: problem)
        self.assertEqual(self.play(drawn, max, 3)[1]["makespan_ns"], 2000)
        self.assertEqual(self.play(self.env, min, options={"problem": self.env.problem})[1]["makespan_ns"] > 0, True)
        before = self.env.problem
        with self.assertRaisesRegex(tutti.TuttiError, "2 devices"):
            self.env.reset(options={"problem": problem})
        self.assertIs(self.env.problem, before)

    def test_a_window_lets_the_agent_choose_the_op(self):
        env = self.envs.PlacementEnv(ops=20, window=4)
        self.assertEqual(env.action_count, 16)
        self.play(env, random.Random(1).choice, 1)

    def test_a_batch_steps_all_and_leaves_those_that_have_ended(self):
        several = [self.envs.PlacementEnv(ops=ops) for ops in (10, 20)]
        for env in several:
            env.reset(seed=2)
        batch = self.envs.Batch(several)
        ended, steps = [False, False], 0
        while not all(ended):
            actions = [-1 if done else allowed(env)[0] for env, done in zip(several, ended)]
            for i, (_, terminated, _) in enumerate(batch.step(actions)):
                ended[i] = ended[i] or terminated
            steps += 1
        self.assertEqual(steps, 20)

    def test_a_batch_with_an_action_that_is_not_allowed_steps_none(self):
        several = [self.envs.PlacementEnv(ops=10) for _ in range(2)]
        for env in several:
            env.reset(seed=2)
        batch, before = self.envs.Batch(several), bytes(several[0].live_observation)
        for wrong in (4, 2**32, -2):
            with self.assertRaisesRegex(tutti.TuttiError, f"action {wrong} of environment 1"):
                batch.step([allowed(several[0])[0], wrong])
            self.assertEqual(bytes(several[0].live_observation), before)

    def test_an_environment_is_not_copied_and_seeds_are_whole(self):
        for call in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(tutti.TuttiError, "make another one"):
                call(self.env)
        for seed in (-1, 2**64, 0.5):
            with self.assertRaisesRegex(tutti.TuttiError, "seed is"):
                self.env.reset(seed=seed)

    def test_the_steps_of_one_core_are_fast(self):
        self.env.reset(seed=1)
        steps, begin = 0, time.process_time()
        while time.process_time() - begin < 0.5:
            _, _, ended, _, _ = self.env.step(steps % 4)
            steps += 1
            if ended:
                self.env.reset(seed=1 + steps % 50)
        rate = steps / (time.process_time() - begin)
        print(f"placement: {rate:.0f} steps/s", flush=True)
        self.assertGreater(rate, LEAST_STEPS_PER_S)

    def test_gymnasium_finds_what_it_looks_for(self):
        self.assertIs(tutti.envs.PlacementEnv, type(self.env))
        self.assertEqual(self.env.unwrapped, self.env)
        self.assertEqual(self.env.metadata["render_modes"], [])
        self.assertTrue(hasattr(self.env, "spec") and hasattr(self.env, "render_mode"))
        self.env.close()


@needs_library
class Jobs(unittest.TestCase):
    def setUp(self):
        from tutti import envs
        self.envs = envs

    def play(self, env, seed, choose):
        seen, _ = env.reset(seed=seed)
        total, ended, cut = 0.0, False, False
        while not (ended or cut):
            seen, reward, ended, cut, info = env.step(choose(env, seen))
            total += reward
        return total, info

    def quickest(self, env, seen):
        pairs = allowed(env)
        return min(pairs, key=lambda a: seen[a * 8 + 3] if a < env.action_count - 1 else 1e9)

    def test_all_jobs_end_and_the_quickest_pair_is_better_than_a_random_one(self):
        env, rng = self.envs.JobsEnv(jobs=15), random.Random(1)
        best = [self.play(env, seed, self.quickest) for seed in (1, 2, 3)]
        drawn = [self.play(env, seed, lambda env, seen: rng.choice(allowed(env))) for seed in (1, 2, 3)]
        self.assertEqual({info["jobs"] for _, info in best + drawn}, {15})
        self.assertGreater(sum(total for total, _ in best), sum(total for total, _ in drawn))
        self.assertEqual(best[0], self.play(env, 1, self.quickest))

    def test_own_machine_and_jobs(self):
        env = self.envs.JobsEnv(machine(), [GRAPH], jobs=3, jobs_per_s=1e6)
        self.assertEqual(env.action_count, 8 * 2 + 1)
        _, info = self.play(env, 1, self.quickest)
        self.assertEqual(info["jobs"], 3)

    def test_an_episode_is_cut_short_on_request(self):
        env = self.envs.JobsEnv(jobs=15, most_steps=7)
        env.reset(seed=1)
        steps = 0
        cut = False
        while not cut:
            _, _, ended, cut, _ = env.step(allowed(env)[0])
            steps += 1
            self.assertFalse(ended)
        self.assertEqual(steps, 7)

    def test_wrong_settings_are_one_sentence(self):
        for settings, words in (({"jobs_per_s": -1.0}, "jobs_per_s"), ({"window": -2}, "window"), ({"jobs": -1}, "jobs"),
                                ({"window": 2**32 + 1}, "window"), ({"costs": "/nope"}, "/nope cannot be read"),
                                ({"graphs": [GRAPH]}, "belong together")):
            with self.assertRaisesRegex(tutti.TuttiError, words):
                self.envs.JobsEnv(**settings)

    def test_the_steps_of_one_core_are_fast(self):
        env = self.envs.JobsEnv(jobs=50)
        env.reset(seed=1)
        steps, begin = 0, time.process_time()
        while time.process_time() - begin < 0.5:
            _, _, ended, _, _ = env.step(bytes(env.action_masks()).index(1))
            steps += 1
            if ended:
                env.reset(seed=steps)
        rate = steps / (time.process_time() - begin)
        print(f"jobs: {rate:.0f} steps/s", flush=True)
        self.assertGreater(rate, LEAST_STEPS_PER_S)


if __name__ == "__main__":
    unittest.main()
