"""The tree tells where a module is tested, and nothing in it is there for nobody."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "action_src" / "gradegate"
MODULES = {
    path.relative_to(SOURCES).with_suffix("").as_posix(): path
    for path in sorted(SOURCES.rglob("*.py"))
    if path.name != "__init__.py" and "demo/base" not in path.as_posix()
}
ELSEWHERE = {
    "agents/adk": "integration/test_adk_agent",
    "agents/adk_worker/": "integration/test_adk_agent",
    "agents/environment": "integration/test_adk_environments",
    "agents/factory": "integration/test_agent_folders",
    "agents/launch": "integration/test_sandbox",
    "agents/line_": "integration/test_line_agent",
    "agents/process_pool": "integration/test_line_agent",
    "agents/recorded": "integration/test_recorded",
    "agents/sandbox": "integration/test_sandbox",
    "agents/supervisor": "integration/test_sandbox",
    "agents/tool_answers": "integration/test_recorded_tools",
    "agents/uv": "integration/test_adk_environments",
    "cli": "end_to_end/test_entry_point",
    "commands/action": "end_to_end/test_action",
    "commands/audit": "end_to_end/test_toothless_sets",
    "commands/check": "end_to_end/test_bad_input",
    "commands/convert": "unit/evalsets/test_conversion",
    "commands/compare": "end_to_end/test_entry_point",
    "commands/criteria": "unit/test_docs_criteria",
    "commands/demo": "end_to_end/test_demo",
    "commands/steadiness": "end_to_end/test_memory_gate",
    "commands/options": "end_to_end/test_entry_point",
    "commands/record": "end_to_end/test_new_user",
    "commands/run": "end_to_end/test_run",
    "commands/show": "end_to_end/test_show",
    "compare/base_history": "unit/compare/test_memory",
    "compare/flakiness": "end_to_end/test_memory_gate",
    "compare/stats/tabulate": "unit/compare/stats/test_exact",
    "compare/terms": "unit/compare/test_next_runs",
    "criteria/base/judged": "unit/criteria/base/test_judged_items",
    "criteria/base/": "unit/criteria/base/test_criterion",
    "demo/": "end_to_end/test_demo",
    "evalsets/config": "unit/evalsets/test_lint",
    "evalsets/discover": "integration/test_discovery",
    "evalsets/formats": "unit/evalsets/test_load",
    "evalsets/ignored_args": "unit/pipeline/test_score",
    "evalsets/project": "unit/pipeline/test_prepare",
    "files/": "unit/files/test_json_document",
    "forges/github/checks": "integration/test_github_check",
    "forges/github/comments": "integration/test_github_comment",
    "forges/github/data_branch": "integration/test_github_data_branch",
    "forges/github/lookups": "integration/test_github_pulls",
    "forges/github/": "integration/test_github_trouble",
    "github_action/acceptance": "end_to_end/test_acceptance",
    "github_action/base_records": "end_to_end/test_data_branch",
    "github_action/forks": "end_to_end/test_forks",
    "github_action/comment_reply": "end_to_end/test_comment_commands",
    "github_action/main": "end_to_end/test_action",
    "github_action/outcome": "end_to_end/test_action",
    "judge/cache": "integration/test_store",
    "judge/providers/vertex_sdk": "integration/test_vertex_judge",
    "judge/usage": "unit/judge/test_client",
    "model/posting": "integration/test_github_check",
    "model/evalset": "unit/evalsets/test_load",
    "model/overrides": "unit/github_action/test_inputs",
    "model/settings": "unit/files/test_settings_toml",
    "model/simulation": "unit/agents/test_users",
    "model/": "unit/files/test_results_json",
    "pipeline/case_filter": "unit/pipeline/test_prepare",
    "pipeline/evaluate": "end_to_end/test_run",
    "pipeline/records": "end_to_end/test_memory_gate",
    "pipeline/planted": "unit/pipeline/test_weaknesses",
    "pipeline/tools_used": "integration/test_recorded_tools",
    "pipeline/deferred": "end_to_end/test_scope",
    "sides/scope": "unit/sides/test_scope_of",
    "pipeline/services": "end_to_end/test_run",
    "ports": "integration/test_github_comment",
    "progress": "end_to_end/test_interrupted",
    "report/": "unit/report/test_golden",
    "sides/": "integration/test_git_sides",
    "store/sqlite_history": "integration/test_history_store",
    "store/sqlite": "integration/test_store",
    "wiring": "end_to_end/test_run",
}
"""Where a module, or all below a folder, is tested if not in a place of its own name."""
CALLED_BY_OTHERS = {
    "connection_made": "asyncio",
    "pipe_data_received": "asyncio",
    "pipe_connection_lost": "asyncio",
    "process_exited": "asyncio",
    "connection_lost": "asyncio",
    "before_agent_callback": "google-adk",
    "before_model_callback": "google-adk",
    "after_model_callback": "google-adk",
    "get_behavior_instructions_str": "users' own templates, as in google-adk",
    "get_violation_rubrics_str": "users' own templates, as in google-adk",
    "join_path": "jinja2",
    "handle_request": "httpx",
    "increment": "urllib3",
    "get_retry_after": "urllib3",
    "new": "urllib3",
}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_tested_where_its_name_leads(module: str) -> None:
    """In the same place below `tests/unit`, or where the table says."""
    folder, _, name = module.rpartition("/")
    own = ROOT / "tests" / "unit" / folder / f"test_{name}.py"
    told = max((key for key in ELSEWHERE if module.startswith(key)), key=len, default=None)
    assert own.exists() or told, f"write {own.relative_to(ROOT)}, or say where it is tested"
    if not own.exists() and told:
        assert (ROOT / "tests" / f"{ELSEWHERE[told]}.py").exists()


def defined(tree: ast.Module) -> Iterator[str]:
    """What a module defines and others should use; what is decorated is the decorator's to use."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.decorator_list
        ) or (isinstance(node, ast.ClassDef) and not node.bases):
            yield node.name


def test_everything_is_used() -> None:
    """By the sources, a template, or a program that calls it by a name we do not choose."""
    texts = [path.read_text(encoding="utf-8") for path in MODULES.values()]
    templates = [path.read_text(encoding="utf-8") for path in (ROOT / "templates").rglob("*.j2")]
    templates += [path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.j2")]
    words = Counter(word for text in (*texts, *templates) for word in re.findall(r"\w+", text))
    names = Counter(name for text in texts for name in defined(ast.parse(text)))
    unused = [
        name
        for name, times in names.items()
        if words[name] <= times and not name.startswith("__") and name not in CALLED_BY_OTHERS
    ]
    assert unused == []
