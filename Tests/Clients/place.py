"""Where the checks find the server's program, the tools of PyPI, and room for files."""

import sys
import tempfile
from importlib import import_module
from pathlib import Path

from server import Missing, Server, run, tool

POSTER = "/t/p/w342/sample/1.jpg"


class Place:
    """The program of the server, a folder for what is written, and the folder of a Python environment."""

    def __init__(self, program, folder, python):
        self.program, self.folder, self.python = program, folder, python
        sys.path[:0] = [str(path) for path in python.glob("lib/python*/site-packages")]

    def server(self, keys="", sources="sample: { type: sample }", **options):
        """A server that runs until the check is over."""
        return Server(self.program, self.folder, keys, sources, **options)

    def room(self, name):
        """A new folder."""
        return Path(tempfile.mkdtemp(prefix=name, dir=self.folder))

    def python_tool(self, name):
        """A program of the Python environment."""
        return tool(name, self.python / "bin")

    def module(self, name):
        """A module of the Python environment."""
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
