"""A sweep on a Ray cluster, one share for each task:

    python docs/cluster/ray_sweep.py --shares 64 --out /shared/results -- \
        --scenario mine.toml --best-k --write csv

Whatever follows `--` goes to every `specplan sweep`. All nodes need the program and see the same --out. Ray starts a
share again whose task died or failed; it goes on where it was.
"""

import argparse
import signal
import subprocess
import time

import ray


def price(share, shares, options):
    """Runs one share to its end; a failure is for Ray to try again."""
    command = [options.program, "sweep", *options.flags, "--out", options.out]
    command += ["--shard", f"{share}/{shares}", "--threads", str(options.cpus), "--resume", "--quiet"]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if share == options.kill and first_attempt(options, share):
        time.sleep(options.kill_after)
        running.send_signal(signal.SIGKILL)
    told = running.communicate()[1]
    if running.returncode != 0:
        raise RuntimeError(f"share {share}/{shares} ended with {running.returncode}: {told}")
    return share


def first_attempt(options, share):
    """Whether this is the first try of a share: kept in the result folder, since tasks remember nothing."""
    try:
        with open(f"{options.out}/.killed-{share}", "x"):
            return True
    except FileExistsError:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shares", type=int, required=True, help="into how many shares the sweep is cut")
    parser.add_argument("--out", required=True, help="folder for the results of all shares")
    parser.add_argument("--program", default="specplan")
    parser.add_argument("--cpus", type=int, default=1, help="cores of each share")
    parser.add_argument("--retries", type=int, default=3)
    parser.add_argument("--kill", type=int, help="for trying it out: kill this share once")
    parser.add_argument("--kill-after", type=float, default=0.3, help="seconds")
    parser.add_argument("flags", nargs="*", help="flags of specplan sweep, after --")
    options = parser.parse_args()

    ray.init(ignore_reinit_error=True)
    task = ray.remote(num_cpus=options.cpus, max_retries=options.retries, retry_exceptions=True)(price)
    shares = range(1, options.shares + 1)
    waiting = [task.remote(share, options.shares, options) for share in shares]
    while waiting:
        done, waiting = ray.wait(waiting)
        print(f"share {ray.get(done[0])}/{options.shares} done, {len(waiting)} to go", flush=True)


if __name__ == "__main__":
    main()
