"""Starts a program on a kernel that refuses Landlock, as older container engines have theirs do.

    without_landlock.py PROGRAM ARGUMENT…

A filter of system calls answers its three with EPERM, for the program and all that it starts.
"""

import ctypes
import os
import struct
import sys

_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER = 38, 22, 2
_LOAD, _AT_LEAST, _ABOVE, _RETURN = 0x20, 0x35, 0x25, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001
_FIRST, _LAST = 444, 446


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def _main() -> None:
    steps = b"".join(
        struct.pack("=HBBI", *step)
        for step in (
            (_LOAD, 0, 0, 0),  # the call's number
            (_AT_LEAST, 0, 2, _FIRST),
            (_ABOVE, 1, 0, _LAST),
            (_RETURN, 0, 0, _REFUSE),
            (_RETURN, 0, 0, _ALLOW),
        )
    )
    kernel = ctypes.CDLL(None, use_errno=True)
    program = _Program(len(steps) // 8, steps)
    if kernel.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) or kernel.prctl(
        _SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0
    ):
        sys.exit(os.strerror(ctypes.get_errno()))
    os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606 - no shell is the point


if __name__ == "__main__":
    _main()
