"""Makes tests/support, scripts and docs importable; every test script imports this first."""

import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
for folder in ("tests/support", "scripts", "docs"):
    sys.path.insert(0, str(SOURCE / folder))
