"""Damaged files in the cache's folder: the server has to start all the same, and to show the right pictures."""

import os, random, shutil

import pictures

WAYS = ("cut", "empty", "noise", "swapped", "folder", "link", "dangling link", "pipe")


def harm(path, way, outside, choice):
    """Damages the file at `path`."""
    with open(path, "rb") as file:
        data = file.read()
    os.remove(path)
    if way == "folder":
        os.makedirs(f"{path}/deeper")
    elif way == "link":
        os.symlink(outside, path)
    elif way == "dangling link":
        os.symlink("/nowhere/at/all", path)
    elif way == "pipe":
        os.mkfifo(path)
    else:
        data = {"cut": data[:len(data) // 2], "empty": b"", "noise": choice.randbytes(max(len(data), 100)), "swapped": data[len(data) // 2:] + data[:len(data) // 2]}[way]
        with open(path, "wb") as file:
            file.write(data)


def check(server, scene, count, seed, note):
    """Starts the server on `count` damaged copies of a good cache, or on all that there are; returns what went wrong."""
    choice, faults = random.Random(seed), []
    cache, kept, outside = f"{server.room}/cache", f"{server.room}/cache-kept", f"{server.room}/outside"
    path = scene.image(f"http://{scene.honest}/good/600x900/damage.jpg")

    def look():
        import wire
        answer = wire.once(server.target, path, timeout=20)
        if answer.status != 200:
            return f"{answer.status}: {answer.text}"
        if not pictures.is_near(pictures.first_pixel(answer.body)[0], pictures.color_of("damage")):
            return "another picture"

    def end():
        server.process.terminate()
        try:
            server.process.wait(20)
        except Exception:
            server.kill()

    if server.start() is None:
        return ["it does not start on an empty folder: " + " | ".join(server.last_lines())], 0
    look()
    end()
    shutil.copytree(cache, kept, symlinks=True)
    names = sorted(name for name in os.listdir(kept) if os.path.isfile(f"{kept}/{name}"))
    cases = [(name, way) for name in names for way in WAYS]
    choice.shuffle(cases)
    cases = cases[:count] if count else cases
    for name, way in cases:
        shutil.rmtree(cache)
        shutil.copytree(kept, cache, symlinks=True)
        with open(outside, "w") as file:
            file.write("not of the cache\n")
        harm(f"{cache}/{name}", way, outside, choice)
        if server.start(10) is None:
            faults.append(f"{name}, {way}: it does not start: {server.last_lines(1)[0] if server.log_bytes() else ''}")
            server.kill()
            continue
        try:
            if problem := look():
                faults.append(f"{name}, {way}: {problem}")
        except OSError as error:
            faults.append(f"{name}, {way}: {type(error).__name__}")
        end()
        with open(outside) as file:
            if file.read() != "not of the cache\n":
                faults.append(f"{name}, {way}: it wrote through the link")
        note(name, way)
    shutil.rmtree(cache)
    shutil.rmtree(kept)
    return faults, len(cases)
