"""Node and npm packages for the tests against what others wrote. Nothing of this is vendored: packages are installed
below the build directory, once; without node, npm or a registry the tests are skipped (exit status 77)."""
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]
DIRECTORY = pathlib.Path(os.environ.get("LEAGUE_NODE_DIR", ROOT / "build" / "interop"))


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def install(name, packages):
    """The directory in which `packages` ("name@version") are installed; skips the test where that is not possible."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        skip("node and npm are not on this machine")
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    with open(DIRECTORY / f"{name}.lock", "w", encoding="utf-8") as lock:  # tests at once may need the same packages
        fcntl.flock(lock, fcntl.LOCK_EX)
        return install_in(DIRECTORY / name, packages)


def install_in(directory, packages):
    wanted = dict(package.rsplit("@", 1) for package in packages)
    manifest = directory / "package.json"
    if manifest.exists() and json.loads(manifest.read_text()).get("dependencies") == wanted and \
            all((directory / "node_modules" / one / "package.json").exists() for one in wanted):
        return directory
    directory.mkdir(exist_ok=True)
    manifest.write_text(json.dumps({"name": "interop", "private": True, "dependencies": wanted}))
    try:
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"], cwd=directory, timeout=300,
                              capture_output=True, text=True, check=False)
    except subprocess.TimeoutExpired:
        manifest.unlink()
        skip("npm install took too long")
    if done.returncode != 0:
        manifest.unlink()
        skip(f"npm cannot install {', '.join(packages)}: {done.stderr.strip()[-400:]}")
    return directory


def program(name, variable="LEAGUE_BIN_DIR", default="build/bin"):
    """An executable of the build; fails the test where it is missing."""
    path = pathlib.Path(os.environ.get(variable, ROOT / default)) / name
    if not path.exists():
        print(f"{path} is missing; build first")
        sys.exit(1)
    return str(path)
