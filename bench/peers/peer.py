"""Runs one peer for `inflight bench --peers`: `python peer.py numpy|jax|torch|torch.compile THREADS`.

Requests come as lines of JSON on standard input, and each is answered by one line on standard output:

    {"do": "prepare", "work": NAME, "inputs": [FILE.npy, ...], "read": BOOL, "outputs": FOLDER}
        makes the work's call, makes it once, and writes what it computed to FOLDER/0.npy, FOLDER/1.npy, ...
        -> {"outputs": COUNT}
    {"do": "run", "unmeasured": COUNT, "calls": COUNT}
        -> {"seconds": [SECONDS OF EACH CALL]}
    {"do": "finish"}
        forgets the work and its inputs -> {}

A request that fails is answered by {"error": MESSAGE}. The first line, before any request, is
{"versions": TEXT}, or an error if the peer is not installed. The process ends with its standard input.
"""

import gc
import importlib
import json
import os
import sys
import time

MODULES = {
    "numpy": "numpy_peer",
    "jax": "jax_peer",
    "torch": "torch_peer",
    "torch.compile": "torch_peer",
}


def open_peer(name, threads):
    # Set before the libraries are loaded, which read them once. The parent process sets the processor affinity.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(threads)
    return importlib.import_module(MODULES[name]).Peer(name, threads)


def prepare(peer, request):
    import numpy

    arrays = [numpy.load(path) for path in request["inputs"]]
    call = peer.call(request["work"], arrays, request["read"])
    outputs = peer.to_numpy(call())
    for position, output in enumerate(outputs):
        numpy.save(os.path.join(request["outputs"], f"{position}.npy"), output)
    return call, len(outputs)


def timed(call, unmeasured, calls):
    clock = time.perf_counter
    for _ in range(unmeasured):
        call()
    seconds = []
    for _ in range(calls):
        begun = clock()
        # Drop the result within the timed section: freeing memory is part of a call.
        call()
        seconds.append(clock() - begun)
    return seconds


def serve(peer, answer):
    call = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            match request["do"]:
                case "prepare":
                    call, outputs = prepare(peer, request)
                    answer({"outputs": outputs})
                case "run":
                    answer({"seconds": timed(call, request["unmeasured"], request["calls"])})
                case "finish":
                    call = None
                    peer.finish()
                    gc.collect()
                    answer({})
                case other:
                    answer({"error": f"unknown request {other!r}"})
        except Exception as error:
            answer({"error": f"{type(error).__name__}: {error}"})


def main():
    # Output of the libraries must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(value):
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    name, threads = sys.argv[1], int(sys.argv[2])
    try:
        peer = open_peer(name, threads)
    except Exception as error:
        answer({"error": f"{type(error).__name__}: {error}"})
        return
    answer({"versions": peer.versions()})
    gc.disable()
    serve(peer, answer)


if __name__ == "__main__":
    main()
