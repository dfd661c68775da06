"""The agent of a folder or module, found where ADK's own tools look for it."""

import importlib
import inspect
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any


@dataclass
class Loaded:
    """An agent, with what came along with it."""

    agent: Any
    app: Any = None
    reset: Callable[[], object] | None = None
    """The module's `reset_data`: the agent keeps its data in globals."""
    resources: Any = None
    """The exit stack that `get_agent_async` may hand out with the agent."""
    is_bound: bool = False
    """Whether it was made within an event loop, and may live in that one alone."""
    notebook: Any = None
    """What notes model calls where google-adk has no plugins: it hangs on the agents themselves."""

    @property
    def name(self) -> str:
        """What ADK shall call the application where the case does not say."""
        return str(self.app.name if self.app else self.agent.name)


async def load(place: Path, before_agent: Callable[[], None] = lambda: None) -> Loaded:
    """The agent of a folder or module, found where ADK's own tools look for it."""
    sys.path.insert(0, str(place.parent))
    read_dotenv(place)
    before_agent()
    for module in modules(place):
        found = await agent_in(module)
        if found:
            return found
    config = place / "root_agent.yaml"
    if config.is_file():
        from google.adk.agents.config_agent_utils import from_config

        return Loaded(from_config(str(config)))
    raise LookupError(
        f"no `root_agent`, `app` or `get_agent_async` in {place.name}/agent.py or "
        f"{place.name}/__init__.py, and no {place.name}/root_agent.yaml"
    )


def modules(place: Path) -> Iterator[ModuleType]:
    """The modules that may hold the agent, imported one after the other."""
    single = place if place.suffix == ".py" else place.with_name(f"{place.name}.py")
    if not place.is_dir() and single.is_file():
        yield importlib.import_module(single.stem)
        return
    package = as_package(place)
    if (place / "__init__.py").is_file():
        yield importlib.import_module(package)
    if (place / "agent.py").is_file() or (place / "agent" / "__init__.py").is_file():
        yield importlib.import_module(f"{package}.agent")


def as_package(folder: Path) -> str:
    """A name to import the folder by: its own, unless that cannot be one or is taken.

    Python lists a folder to find a module in it, and what a checkout lies in may be closed to us.
    """
    name = folder.name
    if name.isidentifier() and name not in sys.modules and os.access(folder.parent, os.R_OK):
        return name
    alias = "agent_" + "".join(c if c.isalnum() else "_" for c in name)
    link = Path(tempfile.mkdtemp(), alias)
    link.symlink_to(folder)
    sys.path.insert(0, str(link.parent))
    return alias


async def agent_in(module: ModuleType) -> Loaded | None:
    """What the module offers: an app before its agent, an agent before its maker."""
    reset = getattr(module, "reset_data", None)
    reset = reset if callable(reset) else None
    app: Any = getattr(module, "app", None)
    if is_app(app):
        return Loaded(app.root_agent, app, reset)
    agent = getattr(module, "root_agent", None)
    if agent is not None:
        return Loaded(checked(agent, module), reset=reset)
    make = getattr(module, "get_agent_async", None)
    if make is None:
        return None
    made = make()
    made = await made if inspect.isawaitable(made) else made
    agent, resources = made if isinstance(made, tuple) else (made, None)
    return Loaded(checked(agent, module), reset=reset, resources=resources, is_bound=True)


def is_app(value: Any) -> bool:
    """Whether it is an application of google-adk's, which knows them since 1.14."""
    try:
        from google.adk.apps.app import App
    except ImportError:
        return False
    return isinstance(value, App)


def checked(agent: Any, module: ModuleType) -> Any:
    """The agent, if it is one."""
    if not isinstance(getattr(agent, "name", None), str):
        kind = type(agent).__name__
        raise TypeError(f"`root_agent` in {module.__name__} is no agent of ADK's but a {kind}")
    return agent


def read_dotenv(place: Path) -> None:
    """Set what the nearest `.env` at or above the agent says and nobody has set yet."""
    top = Path.cwd()
    for folder in (place, *place.parents):
        file = folder / ".env"
        if file.is_file():
            from dotenv import dotenv_values  # type: ignore[import-not-found] # google-adk's

            for name, value in dotenv_values(file).items():
                if value is not None:
                    os.environ.setdefault(name, value)
            return
        if folder == top:
            return
