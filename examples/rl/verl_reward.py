"""The reward of a training with verl, named in its configuration:

    reward.custom_reward_function.path=verl_reward.py
    reward.custom_reward_function.name=compute_score

Each row of the dataset has ``extra_info: {"case": ID}``. verl needs a number for every sample, so
the policy is named here: what could not be scored counts as 0, and ``scored`` in
``reward_extra_info`` tells it from an answer that is wrong.
"""

from pathlib import Path

from proctor import Grader, rewards

grader = Grader(Path(__file__).with_name("tasks.yaml"), deadline=30)
compute_score = rewards.verl(grader, no_score=0.0)
