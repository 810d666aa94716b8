"""What every check gets: the server's program, the tools beside this Python, and folders for what is written."""

import sys
import tempfile
from importlib import import_module
from pathlib import Path

from server import Missing, Server, run, tool

POSTER = "/t/p/w342/sample/1.jpg"


class Context:
    """The program of the server, and a folder for what is written."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def server(self, keys="", sources="sample: { type: sample }", **options):
        """A server that runs until the check is over."""
        return Server(self.program, self.folder, keys, sources, **options)

    def new_folder(self, name):
        return Path(tempfile.mkdtemp(prefix=name, dir=self.folder))

    def python_tool(self, name):
        """A program that PyPI has installed."""
        return tool(name, Path(sys.executable).parent)

    def module(self, name):
        """A module that PyPI has installed."""
        try:
            return import_module(name)
        except ImportError:
            raise Missing(name) from None

    def certificate(self):
        """The paths of a self-signed certificate and its key."""
        certificate, key = self.folder / "certificate.pem", self.folder / "key.pem"
        code, text = run(
            tool("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-keyout", str(key), "-out", str(certificate))
        assert code == 0, text
        return certificate, key
