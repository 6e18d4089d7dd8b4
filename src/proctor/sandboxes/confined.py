"""Programs that only compute, as children of a warm interpreter; runs inside the sandbox.

Neither the interpreter nor a child has any rights, a place to write to, a network, or the means to
start another program: what a child would have to prepare for others is done here once. A child that
wants more than it may is killed, and its program is run in another way.
"""

import os

import supervise
import zygote


class Confined:
    """What every child needs and none changes."""

    def __init__(self, settings):
        self.single = zygote.Filter(settings["single"])
        with open("/proc/self/statm", "rb") as file:
            self.space = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        """Bytes of addresses that are in use before there is a program."""
        zygote.drop_capabilities()
        zygote.Filter(settings["filter"]).apply()

    def prepare(self):
        """Have no folders to prepare."""
        return ()

    def become_program(self, line):
        """Take in a job, and keep what a program may have; return how it is run, and what."""
        job, out, err, proof, *channel = zygote.take_job(line)
        proof = zygote.take_outputs(out, err, proof)
        job["limits"]["AS"] = self.space + job["memory"]
        supervise.apply_limits(job["limits"])
        self.single.apply()
        arguments = zygote.begin(job, line, proof)
        zygote.close_ours(proof, channel)
        return zygote.Plain.run, arguments
