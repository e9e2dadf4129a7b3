"""Runs the program on a terminal of a given width, as a person sees it."""

import fcntl
import os
import pty
import struct
import subprocess
import termios

from runs import PROGRAM


def run(columns, *words):
    """Exit code and everything that reaches the terminal: stdout and stderr."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1")
    process = subprocess.Popen([PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    out = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        out += piece
    os.close(ours)
    return process.wait(timeout=60), out.decode("utf-8").replace("\r\n", "\n")
