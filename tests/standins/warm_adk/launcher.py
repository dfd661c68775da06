"""Has the server become what this was started as, and ends as it ends."""

import json
import os
import socket
import sys
from pathlib import Path

with socket.socket(socket.AF_UNIX) as server:
    server.connect(str(Path(__file__).with_name("socket")))
    order = {"arguments": sys.argv[1:], "cwd": str(Path.cwd()), "environ": dict(os.environ)}
    socket.send_fds(server, [b"."], [0, 1, 2])
    server.sendall(json.dumps(order).encode())
    server.shutdown(socket.SHUT_WR)
    sys.exit(int(server.recv(16)))
