"""A program that starts a daemon, writes down both pids, and sleeps."""

import os
import time
from pathlib import Path

reading, writing = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(writing, str(os.getpid()).encode())
        time.sleep(600)
    os._exit(0)
Path("pids").write_text(f"{os.getpid()} {os.read(reading, 20).decode()}\n")
time.sleep(600)
