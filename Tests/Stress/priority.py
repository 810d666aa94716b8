"""The processor time of each process of a test, as if each had the machine that it has in reality."""

import os, time

ATTACKER, SERVER = 19, -10


def own_session(nice):
    """Gives this process a session of its own with the priority `nice`. Without the right to it, leaves the priority as it is.

    Where Linux groups tasks by session (sched_autogroup, see sched(7)), nice values count within a session only, and all sessions get
    equal shares, whatever they do: attackers would take half of the time from the server, and origins another third."""
    try:
        os.setsid()
    except OSError:
        pass  # It has one already.
    for _ in range(50):
        try:
            with open("/proc/self/autogroup", "w") as file:
                file.write(str(nice))
            return
        except BlockingIOError:
            # The kernel allows a user who is not root one change in a tenth of a second.
            time.sleep(0.1)
        except OSError:
            return
