"""Runs MiniStack until the pipe at standard input closes: it must not outlive the test that started it, however that ends."""
import os
import signal
import sys
import threading


def end_with_parent() -> None:
    sys.stdin.buffer.read()
    os.killpg(os.getpgid(0), signal.SIGKILL)


threading.Thread(target=end_with_parent, daemon=True).start()

from ministack.app import main  # noqa: E402

main()
