"""GRPO with TRL and a suite as the reward: two steps with a tiny model on the CPU.

    pip install trl
    python train_trl.py

A real training names a model in place of the tiny one; the reward stays as it is.
"""

from pathlib import Path

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

from proctor import Grader, rewards

WORDS = ["<pad>", "<eos>", "What", "is", "the", "capital", "of", "France", "?", "Paris", "Rome"]


def tiny_model() -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast]:
    """Return a model of one layer that knows eleven words, and has learnt nothing."""
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<pad>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="<eos>", padding_side="left"
    )
    config = LlamaConfig(
        vocab_size=len(WORDS), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=2, pad_token_id=0, eos_token_id=1,
        bos_token_id=None,
    )  # fmt: skip
    return LlamaForCausalLM(config), tokenizer


def main() -> None:
    rows = [{"prompt": "What is the capital of France ?", "case": "capital"}] * 8
    model, tokenizer = tiny_model()
    settings = GRPOConfig(
        output_dir="trained", max_steps=2, per_device_train_batch_size=4, num_generations=4,
        max_completion_length=6, use_cpu=True, report_to=[], logging_steps=1, save_strategy="no",
        disable_tqdm=True,
    )  # fmt: skip
    with Grader(Path(__file__).with_name("tasks.yaml"), deadline=30) as grader:
        trainer = GRPOTrainer(
            model=model,
            reward_funcs=[rewards.trl(grader)],
            train_dataset=Dataset.from_list(rows),
            processing_class=tokenizer,
            args=settings,
        )
        trainer.train()
    steps = [row for row in trainer.state.log_history if "reward" in row]
    print(f"{len(steps)} steps, {steps[-1]['proctor/unscored']:.0%} without a score")


if __name__ == "__main__":
    main()
