"""Conversations with an agent, through ADK's own runner."""

import inspect
import time
import uuid
from collections.abc import Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext
from dataclasses import dataclass
from typing import Any

from .loading import Loaded
from .recorded_tools import Tape, agents_below, answering_tools, current
from .serialization import Json, invocation

_RETRIED = [408, 429, 500, 502, 503, 504]


class Notebook:
    """Notes what each agent was told and given, and has its model calls retried."""

    def __init__(self) -> None:
        from google.genai import types

        self.asked: dict[tuple[str, str], Any] = {}
        self.answered: dict[tuple[str, str], Any] = {}
        self._retry = types.HttpRetryOptions(
            attempts=6, initial_delay=1.0, max_delay=30.0, exp_base=2.0, http_status_codes=_RETRIED
        )

    async def before_model(self, callback_context: Any, llm_request: Any) -> None:
        """Note what an agent's model is told."""
        from google.genai import types

        self.asked[callback_context.invocation_id, callback_context.agent_name] = llm_request
        options = llm_request.config.http_options or types.HttpOptions()
        options.retry_options = options.retry_options or self._retry
        llm_request.config.http_options = options

    async def after_model(self, callback_context: Any, llm_response: Any) -> None:
        """Note that it answered."""
        del llm_response
        who = (callback_context.invocation_id, callback_context.agent_name)
        if who in self.asked:
            self.answered.setdefault(who, self.asked[who])

    def take(self, invocation_id: str) -> Json:
        """What each agent's model was first told in one turn, which is forgotten then."""
        told = {n: r.config for (turn, n), r in self.answered.items() if turn == invocation_id}
        for notes in (self.asked, self.answered):
            for who in [who for who in notes if who[0] == invocation_id]:
                del notes[who]
        return told


def noting(loaded: Loaded) -> tuple[Notebook, list[Any]]:
    """A notebook for a session, and the plugins that write in it.

    google-adk has plugins since 1.7; before that every session shares a notebook, in which the
    agents' own callbacks write.
    """
    try:
        from google.adk.plugins.base_plugin import BasePlugin
    except ImportError:
        if loaded.notebook is None:
            loaded.notebook = Notebook()
            for agent in agents_below(loaded.agent):
                note_model_calls(agent, loaded.notebook)
        return loaded.notebook, []
    notebook = Notebook()

    class Noting(BasePlugin):  # type: ignore[misc] # google-adk is not where we are checked
        async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
            await notebook.before_model(callback_context, llm_request)

        async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
            await notebook.after_model(callback_context, llm_response)

    return notebook, [Noting("gradegate_notebook")]


def note_model_calls(agent: Any, notebook: Notebook) -> None:
    """Hang the notebook on an agent, before what hangs there already."""
    if hasattr(agent, "before_model_callback"):
        before, after = (
            agent.canonical_before_model_callbacks,
            agent.canonical_after_model_callbacks,
        )
        agent.before_model_callback = [notebook.before_model, *before]
        agent.after_model_callback = [notebook.after_model, *after]


@dataclass
class Session:
    """One conversation with the agent, in services of its own."""

    runner: Any
    notebook: Notebook
    user_id: str
    session_id: str
    tape: "Tape | None" = None
    """Of the tools' answers, where they are recorded."""

    async def turn(self, user_content: Json) -> Json:
        """Say one thing and have what the agent made of it."""
        from google.genai import types

        message = types.Content.model_validate(user_content)
        message.role = message.role or "user"
        events: list[Any] = []
        began = time.monotonic()
        current.set(self.tape)  # each request has a context of its own
        with busy_times() as busy:
            stream = self.runner.run_async(
                user_id=self.user_id, session_id=self.session_id, new_message=message
            )
            async with aclosing(stream):
                events.extend([event async for event in stream])
        seconds = time.monotonic() - began
        turn = events[0].invocation_id if events else ""
        return {
            **invocation(events, self.notebook.take(turn)),
            "creation_timestamp": events[0].timestamp if events else time.time(),
            "duration": round(seconds, 3),
            "model_duration": busy and round(busy.model_seconds(), 3),
            "tool_duration": busy and round(busy.tool_seconds(), 3),
        }


def busy_times() -> AbstractContextManager[Any]:
    """google-adk's own stopwatch for models and tools, where its version has one."""
    try:
        from google.adk.telemetry._instrumentation import collect_busy_intervals
    except ImportError:
        return nullcontext()
    return collect_busy_intervals()  # type: ignore[no-any-return]


async def replay(history: Sequence[Json], loaded: Loaded, sessions: Any, session: Any) -> None:
    """Put what was said before into the session; words of no agent by name are the agent's own."""
    from google.adk.events.event import Event
    from google.adk.events.event_actions import EventActions
    from google.genai import types

    for number, event in enumerate(history):
        content, author = event.get("content"), event["author"]
        own = author not in ("user", *(agent.name for agent in agents_below(loaded.agent)))
        noted = Event(
            author=loaded.agent.name if own else author,
            invocation_id=f"history-{number}",
            content=content and types.Content.model_validate(content),
            actions=EventActions(state_delta=event.get("state_delta") or {}),
        )
        await settled(sessions.append_event(session, noted))


async def settled(value: Any) -> Any:
    """What a service of google-adk's answers, at once as before 1.0 or when it is awaited."""
    return await value if inspect.isawaitable(value) else value


async def open_session(
    loaded: Loaded, start: Json, history: Sequence[Json] = (), tools: "Json | None" = None
) -> Session:
    """Begin a conversation that shares nothing with any other but the agent itself.

    State that ADK keeps by user or by app would otherwise leak from case to case.
    """
    from google.adk.artifacts.in_memory_artifact_service import InMemoryArtifactService
    from google.adk.memory.in_memory_memory_service import InMemoryMemoryService
    from google.adk.runners import Runner
    from google.adk.sessions.in_memory_session_service import InMemorySessionService

    notebook, plugins = noting(loaded)
    answering = answering_tools(loaded.agent) if tools else []
    if loaded.app:
        # What answers tools sees a call before others can change it.
        plugins = [*answering, *loaded.app.plugins, *plugins]
        what: Json = {"app": loaded.app.model_copy(update={"plugins": plugins})}
    else:
        plugins = [*answering, *plugins]
        what = {"agent": loaded.agent, **({"plugins": plugins} if plugins else {})}
    app_name = start.get("app_name") or loaded.name
    sessions = InMemorySessionService()
    session = await settled(
        sessions.create_session(
            app_name=app_name,
            user_id=start.get("user_id") or "test_user_id",
            state=start.get("state") or {},
            session_id=start.get("session_id") or str(uuid.uuid4()),
        )
    )
    await replay(history, loaded, sessions, session)
    runner = Runner(
        **what,
        app_name=app_name,
        session_service=sessions,
        artifact_service=InMemoryArtifactService(),
        memory_service=InMemoryMemoryService(),
    )
    tape = Tape(tools) if tools else None
    return Session(runner, notebook, session.user_id, session.id, tape)
