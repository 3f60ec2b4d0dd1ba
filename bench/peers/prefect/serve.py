"""The chain that is killed, served as a deployment: each run is a process that the serving one starts."""

import time

from prefect import flow, task


def write(log, what, number):
    with open(log, "a") as file:
        file.write(f"{what} {number} {time.time_ns() // 1_000_000}\n")


@task
def node(number, log, ms):
    write(log, "start", number)
    time.sleep(ms / 1000)
    write(log, "end", number)
    return {"done": True}


@flow(name="killed")
def killed(log: str, length: int, slow_node: int, slow_ms: int):
    for number in range(1, length + 1):
        node(number, log, slow_ms if number == slow_node else 0)


if __name__ == "__main__":
    killed.serve(name="peer")
