#!/usr/bin/env python3
"""Tries a server with the tools and clients that people use.

Usage: clients.py PROGRAM FOLDER [CHECK…]: the server's program, a folder for what is written, and the names of the checks to run. Runs
with the Python that has the packages of .ci/clients. Prints a line for each check. A tool that is not there skips its check; where CI is
set, that is a failure.
"""

import os
import sys
import time
from pathlib import Path

import dialects
import downloads
import media_servers
import mirror
import monitoring
import outage
import outbound
import protocols
import proxies
import rating_posters
import real_thumbor
import shells
from context import Context
from server import Missing

CHECKS = {
    name.removeprefix("check_").replace("_", "-"): check
    for module in [
        dialects, mirror, rating_posters, media_servers, outage, outbound, real_thumbor, downloads, protocols, proxies, monitoring, shells]
    for name, check in vars(module).items() if name.startswith("check_")
}


def main():
    context = Context(sys.argv[1], Path(sys.argv[2]))
    wanted = sys.argv[3:] or list(CHECKS)
    passed, failed, skipped = [], [], []
    for name in wanted:
        begun = time.monotonic()
        try:
            note = CHECKS[name](context)
            passed.append(name)
            print(f"ok       {name} ({time.monotonic() - begun:.1f} s){': ' + note if note else ''}", flush=True)
        except Missing as missing:
            skipped.append(name)
            print(f"skipped  {name}: {missing} is not installed", flush=True)
        except Exception as error:
            failed.append(name)
            print(f"FAILED   {name}: {error!r:.4000}", flush=True)
    print(f"{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    sys.exit(1 if failed or not passed or (skipped and os.environ.get("CI")) else 0)


main()
