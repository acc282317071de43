"""Steps of a periodic D3Q19 box by lbmpy, its own kernel compiled for this machine: JSON with the rate.

    python peer_lbmpy.py CELLS STEPS RUNS THREADS
"""

import json
import sys
import time

from lbmpy import LBMConfig, LBStencil, Method, Stencil
from lbmpy.scenarios import create_fully_periodic_flow
import numpy as np
from pystencils import CreateKernelConfig


def main():
    cells, steps, runs, threads = map(int, sys.argv[1:])
    config = LBMConfig(stencil=LBStencil(Stencil.D3Q19), method=Method.SRT, relaxation_rate=1.8, compressible=True)
    start = np.zeros((cells, cells, cells, 3))
    start[..., 0] = 0.02
    kernel = CreateKernelConfig()
    kernel.cpu.openmp.enable = threads > 1
    kernel.cpu.openmp.num_threads = threads
    flow = create_fully_periodic_flow(start, lbm_config=config, config=kernel)
    flow.run(2)
    clock, processor = [], []
    for _ in range(runs):
        begin = time.perf_counter(), time.process_time()
        flow.run(steps)
        end = time.perf_counter(), time.process_time()
        clock.append(end[0] - begin[0])
        processor.append(end[1] - begin[1])
    updates = cells**3 * steps
    print(json.dumps({
        "mlups": updates / min(clock) / 1e6,
        "mlups_processor": updates / min(processor) / 1e6,
    }))


if __name__ == "__main__":
    main()
