"""The notebook API of Arthur Bench, under the name that its users know."""

from proctor.origins.arthur.notebook import *  # noqa: F403
from proctor.origins.arthur.notebook import __all__, __getattr__  # noqa: F401
