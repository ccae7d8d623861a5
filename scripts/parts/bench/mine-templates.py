"""Mines the templates of a log with Drain3 and prints the seconds it took, the lines and the templates."""
import logging
import sys
import time

logging.disable(logging.CRITICAL)
from drain3 import TemplateMiner  # noqa: E402
from drain3.template_miner_config import TemplateMinerConfig  # noqa: E402

with open(sys.argv[1], "r", encoding="utf-8", errors="replace", newline="\n") as log:
    lines = log.read().split("\n")
miner = TemplateMiner(config=TemplateMinerConfig())
started = time.perf_counter()
for line in lines:
    miner.add_log_message(line)
print(time.perf_counter() - started, len(lines), len(miner.drain.clusters))
