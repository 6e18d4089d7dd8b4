"""Models of OpenAI, of servers that are compatible with it, and deployments at Azure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import quote, urlsplit

from proctor.core.exchange import CHAT as CHAT_API
from proctor.core.exchange import RESPONSES as RESPONSES_API
from proctor.core.exchange import Reply, Request, Upstream
from proctor.core.suite import Json
from proctor.errors import UsageError
from proctor.models.batch_jobs import OpenAIBatches
from proctor.models.chat_completions import chat_body, learn_shape, read_chat
from proctor.models.endpoints import base_of
from proctor.models.http_model import ELSEWHERE
from proctor.models.refused_fields import LADDER, Refusal
from proctor.models.responses import read_response, responses_body

RESPONSES, CHAT = "responses", "chat"
RESPONSES_PATH = "/responses"
_API = "api"
"""The lesson which of the two is there."""
_ABOUT_API = ("v1/responses", "responses api", "chat/completions", "chat completions")
_ABOUT_MODEL = ("model_not_found", "does not exist", "model `", "model '")


@dataclass(eq=False)
class OpenAI(OpenAIBatches):
    """A model of OpenAI, or of any server that is compatible with it.

    OpenAI's own server is asked by the Responses API, others by chat completions; where a server
    says that it has only the other one, that is remembered. Which it was is part of no key.
    """

    key_env: str = "OPENAI_API_KEY"
    api: str = ""
    """``responses`` or ``chat``; empty finds out what the server has."""

    provider: ClassVar[str] = "openai"
    home: ClassVar[str] = "https://api.openai.com/v1"
    home_env: ClassVar[str] = "OPENAI_BASE_URL"
    path: ClassVar[str] = "/chat/completions"
    default_api: ClassVar[str] = ""
    """The API that is always used, whatever else the server has."""
    ladder: ClassVar[frozenset[str]] = LADDER | {"text.format"}
    schema_fields: ClassVar[frozenset[str]] = frozenset({"response_format", "text.format"})
    unasked: ClassVar[frozenset[str]] = frozenset({"store", "include"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.api not in ("", RESPONSES, CHAT):
            raise UsageError(f"{self.label}: api is {RESPONSES} or {CHAT}, not {self.api!r}")

    def _base(self, url: str) -> str:
        return base_of(url, (self.path, RESPONSES_PATH))

    def _auth(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    async def upstream(self) -> Upstream:
        # Other servers often take Messages as well: what they have shows when they are asked.
        speaks = {CHAT_API, RESPONSES_API} if self._bases == (self.home,) else ()
        return self._upstream(speaks)

    def _by_responses(self, request: Request, learned: Mapping[str, str]) -> bool:
        """Tell whether a request goes to the Responses API.

        It knows no seed and no stop sequences, so that requests with these go to the other one.
        """
        if forced := self.api or self.default_api or learned.get(_API):
            return forced == RESPONSES
        sampling = request.sampling
        return self._bases == (self.home,) and sampling.seed is None and not sampling.stop

    def _call(self, request: Request, learned: Mapping[str, str]) -> str:
        return RESPONSES_PATH if self._by_responses(request, learned) else self.path

    def _moved(self, refusal: Refusal, request: Request, learned: dict[str, str]) -> bool:
        if self.api or self.default_api or _API in learned:
            return False
        by_responses = self._by_responses(request, learned)
        about_model = any(word in refusal.text for word in _ABOUT_MODEL)
        named = any(word in refusal.text for word in _ABOUT_API)
        if about_model and not named:
            return False
        if refusal.status not in ELSEWHERE and not named:
            return False
        learned[_API] = CHAT if by_responses else RESPONSES
        return True

    def _lasting(self, learned: Mapping[str, str]) -> Mapping[str, str]:
        return {_API: learned[_API]} if _API in learned else {}

    def _body(self, request: Request, learned: Mapping[str, str]) -> dict[str, Json]:
        write = responses_body if self._by_responses(request, learned) else chat_body
        body = write(request, learned)
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
        return read_response(payload, rung) if "output" in payload else read_chat(payload, rung)


@dataclass(eq=False)
class OpenAIResponses(OpenAI):
    """A model that is asked by the Responses API alone; the same model as ``openai:NAME``."""

    default_api: ClassVar[str] = RESPONSES


@dataclass(eq=False)
class OpenAIChat(OpenAI):
    """A model that is asked by chat completions alone; the same model as ``openai:NAME``."""

    default_api: ClassVar[str] = CHAT


NEWEST = "2024-10-21"
_VERSION = "api-version="


@dataclass(eq=False)
class Azure(OpenAI):
    """A deployment: ``azure:DEPLOYMENT@https://HOST[?api-version=VERSION]``."""

    key_env: str = "AZURE_OPENAI_API_KEY"

    provider: ClassVar[str] = "azure"
    default_api: ClassVar[str] = CHAT
    takes_batches: ClassVar[bool] = False
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

    def _moved(self, refusal: Refusal, request: Request, learned: dict[str, str]) -> bool:
        return False

    def _call(self, request: Request, learned: Mapping[str, str]) -> str:
        return f"/deployments/{quote(self.model, safe='')}{self.path}?{_VERSION}{self._version}"
