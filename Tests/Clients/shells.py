"""Tries the completion scripts in the shells that they are for."""

import os

from server import run, tool

# What is typed, and what the shell completes. A folder has one file and one folder.
LINES = {
    "onesheet pre": "prefetch", "onesheet prefetch --ca": "--cache", "onesheet serve --config fi": "films.yaml",
    "onesheet serve --cache fo": "folder", "onesheet config pr": "print",
}


def prepare(context, shell):
    """A folder with the script for `shell`."""
    room = context.new_folder(shell)
    (room / "folder").mkdir()
    (room / "films.yaml").touch()
    code, script = run(context.program, "--generate-completion-script", shell)
    assert code == 0, script
    (room / "script").write_text(script)
    # The scripts call the program by its name.
    (room / "bin").mkdir()
    (room / "bin" / "onesheet").symlink_to(os.path.abspath(context.program))
    return room, dict(os.environ, PATH=f"{room / 'bin'}:{os.environ['PATH']}")


def check_bash(context):
    """bash completes commands, options, files and folders."""
    bash, (room, environment) = tool("bash"), prepare(context, "bash")
    for line, expected in LINES.items():
        words = line.split()
        # As bash calls the function: the command, the word, and the one before it.
        command = (
            f"source ./script; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; COMP_LINE='{line}'; COMP_POINT={len(line)}; "
            f"_onesheet onesheet {words[-1]} {words[-2]}; echo \"${{COMPREPLY[*]}}\"")
        code, text = run(bash, "-c", command, cwd=room, env=environment)
        assert code == 0 and text.split() == [expected], (line, text)


def check_fish(context):
    """fish completes the same."""
    fish, (room, environment) = tool("fish"), prepare(context, "fish")
    for line, expected in LINES.items():
        code, text = run(fish, "--no-config", "-c", f"source script; complete -C '{line}'", cwd=room, env=environment)
        assert code == 0 and [found.split("\t")[0].rstrip("/") for found in text.splitlines()] == [expected], (line, text)
