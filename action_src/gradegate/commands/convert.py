"""`gradegate convert`: an eval set of ADK's as an EvaluationDataset, and the other way round."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradegate.commands.options import say, write
from gradegate.model.errors import InputError


def add_arguments(parser: ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="an eval set (*.evalset.json) or a *-dataset.json"
    )
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="its config (default: the one it is run with)"
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for the new set and config"
    )
    parser.add_argument("--force", action="store_true", help="overwrite files that are there")


def convert(options: Namespace, environ: Mapping[str, str]) -> int:
    """Write the other format; list what it cannot say."""
    del environ
    from gradegate.evalsets.conversion import to_dataset, to_eval_set
    from gradegate.evalsets.dataset import is_dataset
    from gradegate.evalsets.load import read_pair

    eval_set, config = read_pair(options.file, options.config)
    if is_dataset(eval_set.document.value):
        made = to_eval_set(eval_set, config)
        names = f"{eval_set.stem}.evalset.json", "test_config.json"
        config_text = _json(made.config)
    else:
        made = to_dataset(eval_set, config)
        names = f"{eval_set.stem}-dataset.json", "eval_config.yaml"
        config_text = _yaml(made.config)
    files = {options.out / names[0]: _json(made.eval_set), options.out / names[1]: config_text}
    for path in () if options.force else files:
        if path.exists():
            raise InputError(f"{path} is there already: name another folder, or add --force")
    for path, text in files.items():
        write(path, text)
        say(f"wrote {path}")
    for line in made.lost:
        say(f"left out: {line}")
    return 0


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _yaml(value: Any) -> str:
    import yaml

    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
