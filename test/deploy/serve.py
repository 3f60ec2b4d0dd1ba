"""Runs MiniStack until the pipe at standard input closes: it must not outlive the test that started it, however that ends."""
import os
import signal
import sys
import threading

from ministack.core import iam_actions

# IAM knows no action for a batch: who may do one may do many (Service Authorization Reference, Amazon SQS). The emulator asks
# for an action of that name, which no policy can give on AWS.
BATCHES = {f"sqs:{action}Batch": f"sqs:{action}" for action in ("SendMessage", "DeleteMessage", "ChangeMessageVisibility")}
extract_iam_action = iam_actions.extract_iam_action


def documented_action(*args, **kwargs):
    action = extract_iam_action(*args, **kwargs)
    return BATCHES.get(action, action)


iam_actions.extract_iam_action = documented_action


def end_with_parent() -> None:
    sys.stdin.buffer.read()
    os.killpg(os.getpgid(0), signal.SIGKILL)


threading.Thread(target=end_with_parent, daemon=True).start()

from ministack.app import main  # noqa: E402

main()
