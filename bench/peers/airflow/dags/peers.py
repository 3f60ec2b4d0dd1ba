"""The DAGs on Airflow: TaskFlow tasks, each a process that the executor starts."""

import time

from airflow.sdk import DAG, Param, task


@task
def node():
    return {"done": True}


def write(log, what, number):
    with open(log, "a") as file:
        file.write(f"{what} {number} {time.time_ns() // 1_000_000}\n")


@task(retries=1, retry_delay=0)
def killed_node(number, params=None):
    write(params["log"], "start", number)
    if number == params["slow_node"]:
        time.sleep(params["slow_ms"] / 1000)
    write(params["log"], "end", number)
    return {"done": True}


def chain(dag_id, length):
    with DAG(dag_id, schedule=None) as dag:
        previous = None
        for number in range(1, length + 1):
            current = node.override(task_id=f"n{number}")()
            if previous is not None:
                previous >> current
            previous = current
    return dag


def fan(dag_id, width):
    with DAG(dag_id, schedule=None) as dag:
        first = node.override(task_id="first")()
        last = node.override(task_id="last")()
        for number in range(1, width + 1):
            first >> node.override(task_id=f"m{number}")() >> last
    return dag


def killed(dag_id, length):
    params = {"log": Param("", type="string"), "slow_node": Param(0), "slow_ms": Param(0)}
    with DAG(dag_id, schedule=None, params=params) as dag:
        previous = None
        for number in range(1, length + 1):
            current = killed_node.override(task_id=f"n{number}")(number)
            if previous is not None:
                previous >> current
            previous = current
    return dag


chain_50 = chain("chain-50", 50)
chain_10 = chain("chain-10", 10)
fan_200 = fan("fan-200", 200)
killed_50 = killed("killed-50", 50)
