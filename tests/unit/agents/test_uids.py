"""A uid that is claimed is nobody else's, and only root can claim one."""

import os
import pwd
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from gradegate.agents.uids import claim_uid
from tests.integration.test_sandbox import as_root

pytestmark = as_root
CLAIM = "from gradegate.agents.uids import claim_uid; print(claim_uid().uid)"
SQUAT = """
import os, pathlib
for folder in ("/run/gradegate-uids", "/var/lib/gradegate-uids"):
    try:
        os.listdir(folder)
        print("listed")
    except OSError:
        pass
    for uid in range(21001, 22000):
        for flags in (os.O_RDONLY, os.O_RDWR | os.O_CREAT):
            try:
                os.open(f"{folder}/{uid}", flags)
                print("opened")
            except OSError:
                pass
"""


@pytest.fixture
def all_names_taken() -> Iterator[None]:
    """Every name in the kernel's namespace of sockets that an agent could think of is bound."""
    with ExitStack() as stack:
        for uid in range(21001, 21900):
            squatter = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            try:
                squatter.bind(f"\0gradegate-agent-{uid}")
            except OSError:
                continue
        yield


def test_a_claim_is_held_against_other_processes() -> None:
    """Until it is given up, or its holder ends."""
    one = claim_uid()
    other = subprocess.run(
        [sys.executable, "-c", CLAIM], capture_output=True, text=True, check=True
    )
    assert int(other.stdout) != one.uid
    two = claim_uid()
    assert two.uid != one.uid
    for each in (one, two):
        assert each.give_up() is None
        assert each.give_up() is None, "once is enough"


@pytest.mark.trust
@pytest.mark.usefixtures("all_names_taken")
def test_uids_are_not_for_everybody_to_claim() -> None:
    """An agent takes all uid claims, so that no other agent can be run."""
    one = claim_uid()
    nobody = pwd.getpwnam("nobody").pw_uid
    said = subprocess.run(
        ["/usr/bin/python3", "-IS", "-c", SQUAT],
        user=nobody,
        group=nobody,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    ).stdout
    two = claim_uid()
    assert said == ""
    for each in (one, two):
        each.give_up()
    assert Path("/run/gradegate-uids").stat().st_uid == os.geteuid()
