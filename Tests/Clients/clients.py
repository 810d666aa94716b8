#!/usr/bin/env python3
"""Tries a server with the tools and clients that people use.

Usage: clients.py PROGRAM FOLDER PYTHON [CHECK…]: the server's program, a folder for what is written, the folder of a Python
environment with the packages of .ci/clients, and the names of the checks to run. Prints a line for each. A tool that is not there skips
its check; where CI is set, that is a failure.
"""

import os
import ssl
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import dialects  # noqa: E402
import downloads  # noqa: E402
import monitoring  # noqa: E402
import protocols  # noqa: E402
import proxies  # noqa: E402
import thumbor_beside  # noqa: E402
from place import Place  # noqa: E402
from server import Missing  # noqa: E402

CHECKS = {
    name.removeprefix("check_").replace("_", "-"): check
    for module in [dialects, thumbor_beside, downloads, protocols, proxies, monitoring]
    for name, check in vars(module).items() if name.startswith("check_")
}


def main():
    place = Place(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
    wanted = sys.argv[4:] or list(CHECKS)
    passed, failed, skipped = [], [], []
    for name in wanted:
        begun = time.monotonic()
        try:
            note = CHECKS[name](place)
            passed.append(name)
            print(f"ok       {name} ({time.monotonic() - begun:.1f} s){': ' + note if note else ''}", flush=True)
        except Missing as missing:
            skipped.append(name)
            print(f"skipped  {name}: {missing} is not installed", flush=True)
        except (AssertionError, OSError, subprocess.TimeoutExpired, KeyError, ssl.SSLError) as error:
            failed.append(name)
            print(f"FAILED   {name}: {error!r:.4000}", flush=True)
    print(f"{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    sys.exit(1 if failed or not passed or (skipped and os.environ.get("CI")) else 0)


main()
