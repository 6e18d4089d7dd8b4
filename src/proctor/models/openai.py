"""Models of OpenAI, of servers that are compatible with it, and deployments at Azure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import quote, urlsplit

from proctor.core.exchange import Reply, Request, Upstream
from proctor.core.suite import Json
from proctor.errors import UsageError
from proctor.models.chat_completions import chat_body, learn_shape, read_chat
from proctor.models.http_model import Served
from proctor.models.refused_fields import Refusal


@dataclass(eq=False)
class OpenAI(Served):
    """A model of OpenAI, or of any server that is compatible with it."""

    key_env: str = "OPENAI_API_KEY"

    provider: ClassVar[str] = "openai"
    home: ClassVar[str] = "https://api.openai.com/v1"
    home_env: ClassVar[str] = "OPENAI_BASE_URL"
    path: ClassVar[str] = "/chat/completions"

    def _auth(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    async def upstream(self) -> Upstream:
        destination = self._destination(self._bases[0])
        return Upstream(destination=destination, model=self.model, price=self.price)

    def _body(self, request: Request, learned: Mapping[str, str]) -> dict[str, Json]:
        body = chat_body(request, learned)
        if self.model and self.model != "none":
            body["model"] = self.model
        body |= request.sampling.extra
        body.pop("stream", None)
        return body

    def _learn(
        self, refusal: Refusal, request: Request, body: Mapping[str, Json], learned: dict[str, str]
    ) -> None:
        learn_shape(refusal, request, body, learned)

    def _read(self, payload: Json, rung: str) -> Reply:
        return read_chat(payload, rung)


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

    def _call(self, request: Request, learned: Mapping[str, str]) -> str:
        return f"/deployments/{quote(self.model, safe='')}{self.path}?{_VERSION}{self._version}"
