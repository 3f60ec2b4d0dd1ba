"""The DAGs on Prefect: flows whose nodes are tasks, called directly in a line and mapped in parallel, as its guides show.

Flows run in this process; the server, on PostgreSQL, keeps their states. Several runs at once run in threads.
"""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from prefect import flow, task


@task
def node(number):
    return {"done": True}


@flow
def chain(length):
    for number in range(1, length + 1):
        node(number)


@flow
def fan(width):
    node(1)
    node.map(range(2, width + 2)).result()
    node(width + 2)


def run(dag):
    if dag["kind"] == "chain":
        chain(dag["length"])
    else:
        fan(dag["width"])


print("ready", flush=True)
for line in sys.stdin:
    request = json.loads(line)
    begun = time.perf_counter()
    with ThreadPoolExecutor(request["runs"]) as threads:
        list(threads.map(run, [request["dag"]] * request["runs"]))
    print(json.dumps({"ms": (time.perf_counter() - begun) * 1000}), flush=True)
