"""How often tests repeat what chance decides: PROCTOR_FULL=1, as .ci/run sets it, means in full."""

import os

FULL = bool(os.environ.get("PROCTOR_FULL"))
