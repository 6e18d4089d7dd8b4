"""Models deployed at Azure: the deployment stands in the path, the version in the query."""

from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import quote, urlsplit

from proctor.core.exchange import Upstream
from proctor.errors import UsageError
from proctor.models.openai import OpenAI

NEWEST = "2024-10-21"
_VERSION = "api-version="


@dataclass(eq=False)
class Azure(OpenAI):
    """A deployment: ``azure:DEPLOYMENT@https://HOST[?api-version=VERSION]``."""

    key_env: str = "AZURE_OPENAI_API_KEY"

    provider: ClassVar[str] = "azure"
    home: ClassVar[str] = ""
    home_env: ClassVar[str] = "AZURE_OPENAI_ENDPOINT"

    def _auth(self, key: str) -> dict[str, str]:
        return {"api-key": key} if key else {}

    def _base(self, url: str) -> str:
        if not url:
            raise UsageError(
                f"where is the deployment {self.model!r}? (fix: write"
                f" azure:{self.model}@https://NAME.openai.azure.com, or set {self.home_env})"
            )
        bare, _, query = url.strip().partition("?")
        parts = urlsplit(bare)
        path = parts.path.rstrip("/").removesuffix("/openai")
        base = super()._base(f"{parts.scheme}://{parts.netloc}{path}/openai")
        if query and not query.startswith(_VERSION):
            raise UsageError(f"{bare}: after '?' only {_VERSION}VERSION may stand")
        self._version = query.removeprefix(_VERSION) or NEWEST
        return base

    async def upstream(self) -> Upstream:
        """Refuse: calls to a deployment have another address than OpenAI's."""
        raise UsageError(f"{self.label}: calls to Azure are not passed on")

    @property
    def _call(self) -> str:
        return f"/deployments/{quote(self.model, safe='')}{self.path}?{_VERSION}{self._version}"
